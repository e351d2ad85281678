import type { Batch, BusRecord } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { coversOffsetRange, type Table } from '../../schemas/tables/table.ts';
import { usageTable } from '../../schemas/tables/usage.ts';
import { decodeHeaders } from '../../schemas/telemetry-message.ts';

/** Number of rows in a table for each offset of a range. For a row that covers a range, it is 1 for each covered offset. */
export type LandedRows = ReadonlyMap<number, number>;

const dayMs = 86_400_000;

/** Returns the first and last reception time of a range: telemetry messages contain it for their members, the bus records it for values. */
const getReceptionRange = (records: readonly BusRecord[]): { readonly from: number; readonly to: number } => {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const record of records) {
    for (const receivedAtMs of getReceptionTimes(record)) {
      from = Math.min(from, receivedAtMs);
      to = Math.max(to, receivedAtMs);
    }
  }
  return { from, to };
};

const getReceptionTimes = ({ headers, timestampMs }: BusRecord): number[] => {
  if (headers['members'] === undefined) return [timestampMs];
  try {
    return decodeHeaders(headers).members.map(({ receivedAtMs }) => receivedAtMs);
  } catch {
    // The scanner rejects this message, so it has no rows.
    return [];
  }
};

/**
 * Returns whether rows of a range belong to several partitions of the tables: one insert then creates several parts.
 */
export const coversSeveralDays = (records: readonly BusRecord[]): boolean => {
  const { from, to } = getReceptionRange(records);
  return Math.floor(from / dayMs) !== Math.floor(to / dayMs);
};

/** Returns the value of a time column. */
export const toSqlInstant = (milliseconds: number): string =>
  `fromUnixTimestamp64Milli(toInt64(${milliseconds}), 'UTC')`;

/**
 * Counts the landed rows of a range, by the columns that the table declares. Uses one query. If rows contain the
 * reception time, it reads only the days in which the range was received.
 */
export const countLandedRows = async (
  columns: Columns,
  table: Table,
  partition: number,
  {
    topic,
    partition: placementPartition,
    first,
    last,
    records,
  }: Pick<Batch, 'topic' | 'partition' | 'first' | 'last' | 'records'>,
): Promise<LandedRows> => {
  const { from, to } = getReceptionRange(records);
  if (from > to) return new Map();
  const { name, columns: declaredColumns } = table;
  const isByRange = coversOffsetRange(table);
  const endColumn = isByRange ? 'last_offset' : 'offset';
  const conditions = [`partition = ${partition}`, `offset <= ${last}`, `${endColumn} >= ${first}`];
  if ('topic' in declaredColumns) conditions.push(`topic = ${quoteString(topic)}`);
  if ('received_at' in declaredColumns)
    conditions.push(`received_at BETWEEN ${toSqlInstant(Math.floor(from))} AND ${toSqlInstant(Math.ceil(to))}`);
  const rows = await columns.query<{ begin: string; upto: string; count: string }>(
    `SELECT toString(offset) AS begin, toString(${endColumn}) AS upto, toString(count()) AS count FROM ${name}
WHERE ${conditions.join(' AND ')}
GROUP BY offset${isByRange ? ', last_offset' : ''}`,
    {},
    { maxResultRows: 1_000_000, maxExecutionSeconds: 120, shardKey: placementPartition },
  );
  if (!isByRange) return new Map(rows.map(({ begin, count }) => [Number(begin), Number(count)]));
  const hasLanded = (offset: number): boolean =>
    rows.some(({ begin, upto }) => Number(begin) <= offset && offset <= Number(upto));
  return new Map(records.filter(({ offset }) => hasLanded(offset)).map(({ offset }) => [offset, 1]));
};

/**
 * Counts the ledger rows of the messages in a range. They merge by key on one server. After shards were added, a
 * redelivery would land on another server, and both rows would count.
 */
export const countLandedUsage = async (
  columns: Columns,
  { partition: placementPartition, first, last, records }: Pick<Batch, 'partition' | 'first' | 'last' | 'records'>,
  {
    partition,
    signal,
    tenants,
  }: { readonly partition: number; readonly signal: string; readonly tenants: readonly string[] },
): Promise<LandedRows> => {
  const { from, to } = getReceptionRange(records);
  if (from > to) return new Map();
  const rows = await columns.query<{ at: string; count: string }>(
    `SELECT toString(offset) AS at, toString(uniqExact(tenant_id, hour, project_id, key_id, outcome, service)) AS count FROM ${usageTable.name}
WHERE tenant_id IN (${tenants.map(quoteString).join(', ')}) AND hour BETWEEN toStartOfHour(${toSqlInstant(Math.floor(from))}) AND ${toSqlInstant(Math.ceil(to))}
AND signal = ${quoteString(signal)} AND partition = ${partition} AND offset BETWEEN ${first} AND ${last} AND id = ''
GROUP BY offset`,
    {},
    { maxResultRows: 1_000_000, maxExecutionSeconds: 120, shardKey: placementPartition },
  );
  return new Map(rows.map(({ at, count }) => [Number(at), Number(count)]));
};
