/** Reads the records around a record in the same stream: with its project, resource and scope. */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Range } from '../range.ts';
import { plainCondition } from '../records.ts';
import { type FoundLog, type LogPosition, logPositionOf } from '../signals/log-record.ts';
import { type LogOrder, readLogs, readPage } from './pages.ts';

/** Common columns of a stream's records, as text. */
interface Stream {
  readonly project: string;
  readonly service: string;
  readonly resource: string;
  readonly scope: string;
  readonly version: string;
  readonly attributes: string;
}

const streamColumns: Readonly<Record<keyof Stream, string>> = {
  project: 'project_id',
  service: 'service',
  resource: 'resource_id',
  scope: 'scope_name',
  version: 'scope_version',
  attributes: 'scope_attributes',
};

// The engine rejects numbers beyond the range of their type, so they are compared as text where possible.
export const atPosition = `logs.timestamp = fromUnixTimestamp64Nano(toInt64OrZero({time:String}), 'UTC') AND toString(logs.partition) = {partition:String}
  AND toString(logs.offset) = {offset:String} AND toString(logs.ordinal) = {ordinal:String}`;

/** A record and its stream. */
export interface StreamRecord {
  readonly found: FoundLog;
  readonly stream: Stream;
}

/** Returns a record by its id; `undefined` if it does not exist. */
export const streamRecord = async (columns: TenantColumns, id: string): Promise<StreamRecord | undefined> => {
  const position = logPositionOf(id);
  if (position === undefined) return undefined;
  const [[found], [stream]] = await Promise.all([
    readLogs(columns, atPosition, { ...position }, 1),
    columns.query<Stream>(
      `SELECT ${Object.entries(streamColumns)
        .map(([name, column]) => `toString(logs.${column}) AS ${name}`)
        .join(', ')} FROM logs WHERE tenant_id = {tenant:String} AND ${atPosition} LIMIT 1`,
      { ...position },
    ),
  ]);
  return found === undefined || stream === undefined ? undefined : { found, stream };
};

export interface Side {
  /** In order of distance from the record, or from the end of the previous page. */
  readonly found: readonly FoundLog[];
  /** Start of the next page; `undefined` if the stream begins or ends within the range. */
  readonly more: LogPosition | undefined;
}

/** Reads records of a stream after a position in an order, within a range. */
export const readStream = async (
  columns: TenantColumns,
  stream: Stream,
  { range, after, order, limit }: { range: Range; after: LogPosition; order: LogOrder; limit: number },
): Promise<Side> => {
  const conditions = Object.entries(streamColumns).map(([name, column]) =>
    name === 'resource' ? `${column} = {resource:UInt64}` : `logs.${column} = {${name}:String}`,
  );
  const condition = plainCondition(conditions.join(' AND '), { ...stream });
  const { found, more } = await readPage(columns, condition, {
    limit: Math.max(1, limit),
    after,
    order,
    range,
  });
  if (limit === 0) return { found: [], more: found.length === 0 ? undefined : after };
  return { found, more };
};
