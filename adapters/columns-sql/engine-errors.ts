/** Maps the engine's error codes to permanent and retriable errors. */
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';

/**
 * Codes of blocks that can never be inserted, whatever the HTTP status: parsing, types, columns, values out of range.
 */
const dataCodes = new Set([
  6, 8, 9, 10, 16, 19, 20, 25, 26, 27, 33, 34, 36, 38, 41, 42, 43, 44, 49, 50, 53, 54, 69, 70, 72, 73, 117, 128, 131,
  190, 261, 321, 349, 407, 436, 441, 472, 636, 691,
]);
/** Codes of reads that exceed their limits */
const tooLargeCodes = new Set([162, 290, 307, 396]);
const tooManyRowsReadCode = 158;
/** Codes of values that do not match the type of their parameter */
const parameterCodes = new Set([6, 26, 27, 38, 41, 53, 69, 70, 72, 321, 376, 457]);
/** Code of a table that merges too slowly, or of a block that is spread over too many partitions */
const tooManyPartsCode = 252;
/** Codes of a server that could not reach another server of its cluster, or lost the connection. */
const shardCodes = new Set([32, 95, 96, 102, 209, 210, 279, 297]);
/**
 * Codes of a server that is temporarily overloaded or shutting down: too many statements, connections or threads, or no
 * system memory. They include an overloaded machine that drops new connections, also on other shards
 * (`min_os_cpu_wait_time_ratio_to_drop_connection`).
 */
const busyCodes = new Set([173, 202, 203, 236, 364, 394, 439, 745, 749, 762, 777, 778]);
/** Codes of a server that rejects the client: user, password, address, permissions, or a read-only setting. */
const rejectionCodes = new Set([164, 192, 193, 194, 195, 497, 516]);
/**
 * Codes of a replica that temporarily rejects inserts that another replica may accept: without Keeper, read-only,
 * shutting down.
 */
const replicaCodes = new Set([225, 236, 242, 319, 999]);
/** Codes of a server without a table or a database */
const missingCodes = new Set([60, 81]);
const unknownColumnCode = 47;
const timeoutCode = 159;
const memoryCode = 241;

/** The first line of the engine's message, without its frame. */
const extractFirstLine = (message: string): string =>
  message
    .replace(/^(?:Code: \d+\. )?(?:DB::Exception: )?/, '')
    .split('\n', 1)[0]
    ?.slice(0, 500) ?? '';

/** A line without the exception class, the code and the server version. */
const extractReason = (line: string): string =>
  (line.split(' (version ', 1)[0] ?? '').replace(/^DB::NetException: /, '').replace(/\.? \([A-Z_]+\)$/, '');

/** Why a server could not reach other servers, each reason once; the engine reports them on separate lines. */
const extractReasons = (message: string): string => {
  const [, connectionLog] = message.split('connection tries failed. Log:');
  const lines = (connectionLog?.split(': While executing', 1)[0] ?? '').split('\n').map(extractFirstLine);
  const reasons = [...new Set(lines.map(extractReason))];
  return reasons.filter((reason) => reason.trim() !== '').join('; ') || extractFirstLine(message);
};

/**
 * Returns an error if a server rejects the client or is temporarily unavailable, so that another server may be tried;
 * undefined for another failure.
 */
export const toRejectionError = (
  server: string,
  code: number | undefined,
  cause: Error,
): UnavailableError | undefined => {
  const reason = extractFirstLine(cause.message);
  if (code !== undefined && replicaCodes.has(code))
    return new UnavailableError(`the ClickHouse server ${server} accepts no requests at the moment: ${reason}`, {
      cause,
    });
  if (code === undefined || !rejectionCodes.has(code)) return undefined;
  const [, otherServer, detail] = /^Received from (\S+)\. (?:DB::Exception: )?(.*)$/.exec(reason) ?? [];
  return new UnavailableError(
    otherServer === undefined
      ? `the ClickHouse server ${server} refuses the user of OIQ_CLICKHOUSE_URL (${reason}): check the password and the rights of that user`
      : `the ClickHouse server ${otherServer} refuses ${server}, which requests its part of a read (${detail}): servers of a cluster need the same users, or a secret in remote_servers`,
    { cause },
  );
};

const describeMissing = (reason: string): string =>
  `a ClickHouse server lacks a table or column (${reason}): run oiq migrate; oiq clickhouse shards shows what each server lacks`;

/** Returns the error of a failed insert. Failures that the block did not cause are retriable. */
export const toInsertError = (table: string, code: number | undefined, cause: Error): Error => {
  const message = `cannot insert into ${table}: ${extractFirstLine(cause.message)}`;
  const hasTooManyPartitions = code === tooManyPartsCode && cause.message.includes('single INSERT block');
  if (hasTooManyPartitions || (code !== undefined && dataCodes.has(code)))
    return new PermanentError('bad-block', message, { cause });
  return new UnavailableError(message, { cause });
};

/** Returns the error of a failed read. */
export const toQueryError = (code: number | undefined, cause: Error): Error => {
  if (code === undefined)
    return new UnavailableError(`cannot read the columns: ${extractFirstLine(cause.message)}`, { cause });
  if (code === tooManyRowsReadCode)
    return new PermanentError(
      'reads-too-much',
      'the query would read more rows than are allowed: narrow its time range, or query a single service',
      { cause },
    );
  if (tooLargeCodes.has(code))
    return new PermanentError('result-too-large', 'the query returns more rows than are allowed: narrow it', { cause });
  if (code === timeoutCode) return new UnavailableError('the query took too long: narrow its time range', { cause });
  if (code === memoryCode)
    return new UnavailableError('the query needs more memory than is free: narrow it', { cause });
  if (shardCodes.has(code)) {
    const reasons = extractReasons(cause.message);
    return new UnavailableError(
      reasons.includes('There is no table')
        ? describeMissing(reasons)
        : `a server of the ClickHouse cluster does not answer: ${reasons}`,
      { cause },
    );
  }
  // The column exists on the queried server, but is missing on another server of the cluster.
  const isMissingRemotely = code === unknownColumnCode && /__table\d+\./.test(cause.message);
  if (missingCodes.has(code) || isMissingRemotely)
    return new UnavailableError(describeMissing(extractFirstLine(cause.message)), { cause });
  if (busyCodes.has(code))
    return new UnavailableError(
      `ClickHouse accepts no more requests at the moment: ${extractFirstLine(cause.message)}`,
      {
        cause,
      },
    );
  if (parameterCodes.has(code)) return new PermanentError('bad-parameter', extractFirstLine(cause.message), { cause });
  return new Error(`the query failed: ${extractFirstLine(cause.message)}`, { cause });
};
