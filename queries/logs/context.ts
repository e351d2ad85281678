/** Reads the records around a log record in the same stream: those with the same project, resource and scope. */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Range } from '../range.ts';
import { createCondition } from '../records.ts';
import { type LogPosition, type LogWithPosition, parseLogId } from '../signals/log-record.ts';
import { type LogOrder, readLogPage, readLogs } from './pages.ts';

/** Columns that all records of a stream share, as text. */
interface LogStream {
  readonly project: string;
  readonly service: string;
  readonly resource: string;
  readonly scope: string;
  readonly version: string;
  readonly attributes: string;
}

const streamColumns: Readonly<Record<keyof LogStream, string>> = {
  project: 'project_id',
  service: 'service',
  resource: 'resource_id',
  scope: 'scope_name',
  version: 'scope_version',
  attributes: 'scope_attributes',
};

// ClickHouse rejects numbers beyond the range of their type, so positions are compared as text where possible.
export const positionCondition = `logs.timestamp = fromUnixTimestamp64Nano(toInt64OrZero({time:String}), 'UTC') AND toString(logs.partition) = {partition:String}
  AND toString(logs.offset) = {offset:String} AND toString(logs.ordinal) = {ordinal:String}`;

/** A record and its stream. */
export interface LogWithStream {
  readonly log: LogWithPosition;
  readonly stream: LogStream;
}

/** Returns a record by its id; `undefined` if it does not exist. */
export const readLogWithStream = async (columns: TenantColumns, id: string): Promise<LogWithStream | undefined> => {
  const position = parseLogId(id);
  if (position === undefined) return undefined;
  const [[log], [stream]] = await Promise.all([
    readLogs(columns, positionCondition, { ...position }, 1),
    columns.query<LogStream>(
      `SELECT ${Object.entries(streamColumns)
        .map(([name, column]) => `toString(logs.${column}) AS ${name}`)
        .join(', ')} FROM logs WHERE tenant_id = {tenant:String} AND ${positionCondition} LIMIT 1`,
      { ...position },
    ),
  ]);
  return log === undefined || stream === undefined ? undefined : { log, stream };
};

export interface StreamPage {
  /** In order of distance from the record, or from the end of the previous page. */
  readonly logs: readonly LogWithPosition[];
  /** Start of the next page; `undefined` if the stream begins or ends within the range. */
  readonly nextPosition: LogPosition | undefined;
}

/** Reads records of a stream after a position in an order, within a range. */
export const readStream = async (
  columns: TenantColumns,
  stream: LogStream,
  { range, after, order, limit }: { range: Range; after: LogPosition; order: LogOrder; limit: number },
): Promise<StreamPage> => {
  const conditions = Object.entries(streamColumns).map(([name, column]) =>
    name === 'resource' ? `${column} = {resource:UInt64}` : `logs.${column} = {${name}:String}`,
  );
  const condition = createCondition(conditions.join(' AND '), { ...stream });
  const { found: logs, nextPosition } = await readLogPage(columns, condition, {
    limit: Math.max(1, limit),
    after,
    order,
    range,
  });
  if (limit === 0) return { logs: [], nextPosition: logs.length === 0 ? undefined : after };
  return { logs, nextPosition };
};
