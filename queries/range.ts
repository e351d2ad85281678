import { z } from 'zod';
import { cursorParameter } from './cursor.ts';
import { type PlanReader, requireEntitlement } from './entitlement.ts';
import { createValidationError, QueryError } from './errors.ts';
import { type ReadSignal, signalDefinitions } from './signals/index.ts';
import { formatTime, parseTime } from './time.ts';
import { timeParameter } from './time-parameters.ts';

/** Query parameters of every read of telemetry. */
export const rangeParameters = {
  from: timeParameter.optional().describe('Start: ISO 8601, now-15m or epoch milliseconds; default: now-1h'),
  to: timeParameter.optional().describe('End, inclusive, in the format of `from`; default: now'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: cursorParameter,
};

/** Query parameter that selects the records of one service. */
export const serviceParameter = {
  service: z
    .string()
    .max(512)
    .optional()
    .describe('`service.name` of the resource, or `service.namespace/service.name` if it has a namespace'),
};

/** A range including both ends, in nanoseconds since the epoch. */
export interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** Tolerance for a client clock that differs from the server's, when a range is checked against the retention. */
const clockToleranceNs = 60_000_000_000n;
const hourNs = 3_600_000_000_000n;

/** Returns the retention days of a plan. */
export const getRetentionDays = ({ retentionDays }: PlanReader['plan'], signal: ReadSignal): number =>
  signalDefinitions[signal].retentionDays(retentionDays);

/** Returns the range of a request, within the plan's retention of the data source. */
export const parseRetainedRange = (
  { from, to }: { from?: string | undefined; to?: string | undefined },
  { caller, signal, nowMs }: { caller: PlanReader; signal: ReadSignal; nowMs: number },
): Range => {
  const end = to === undefined ? BigInt(Math.trunc(nowMs)) * 1_000_000n : parseTimeNs('to', to, nowMs);
  const start = from === undefined ? end - hourNs : parseTimeNs('from', from, nowMs);
  if (start > end) throw createValidationError('from', 'is after to');
  const range = { from: start, to: end };
  requireRetained(range, { caller, signal, nowMs });
  return range;
};

/** Returns the range of a request; `run` checks it against the plan for each data source. */
export const parseRange = ({ from, to }: { from: string; to: string }, nowMs: number): Range => {
  const range = { from: parseTimeNs('from', from, nowMs), to: parseTimeNs('to', to, nowMs) };
  if (range.from > range.to) throw createValidationError('from', 'is after to');
  return range;
};

/** Matches seconds of the years 2001 to 2286, which as milliseconds would be the first months of 1970. */
const secondsPattern = /^[1-9]\d{9}$/;

const parseTimeNs = (path: string, text: string, nowMs: number): bigint => {
  if (secondsPattern.test(text))
    throw createValidationError(path, `${text} is in 1970, as epoch milliseconds: for seconds write ${text}000`);
  const timeNs = parseTime(text, nowMs);
  if (timeNs === undefined)
    throw createValidationError(path, 'must be ISO-8601, an expression such as now-15m, or epoch milliseconds');
  return timeNs;
};

/** Reader, data source and time of a read. Data whose cursor or id was listed before can be read for another hour. */
interface RangeCheck {
  readonly caller: PlanReader;
  readonly signal: ReadSignal;
  readonly nowMs: number;
  readonly isFromCursor?: boolean;
}

/**
 * Throws `RETENTION_EXCEEDED` if the range begins before the plan's retention, `UPGRADE_REQUIRED` if the plan excludes
 * the data source.
 */
export const requireRetained = ({ from }: Range, { caller, signal, nowMs, isFromCursor = false }: RangeCheck): void => {
  requireEntitlement(caller, signalDefinitions[signal].entitlement);
  const retentionDays = getRetentionDays(caller.plan, signal);
  const retainedFromNs = BigInt(Math.trunc(nowMs)) * 1_000_000n - BigInt(retentionDays) * 24n * hourNs;
  if (from >= retainedFromNs - clockToleranceNs - (isFromCursor ? hourNs : 0n)) return;
  throw new QueryError(
    'RETENTION_EXCEEDED',
    `the plan ${caller.plan.name} retains ${signal} for ${retentionDays} days: nothing before ${formatTime(retainedFromNs)} can be read`,
  );
};

/**
 * Returns why a range of a data source cannot be read, as a text for users; undefined if it can. For results over
 * several data sources.
 */
export const findRangeProblem = (range: Range, options: RangeCheck): string | undefined => {
  try {
    requireRetained(range, options);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
};

/** Parses a time to epoch milliseconds; undefined without a text. */
export const parseMilliseconds = (path: string, text: string | undefined, nowMs: number): number | undefined =>
  text === undefined ? undefined : Number(parseTimeNs(path, text, nowMs) / 1_000_000n);
