import type { Batch, BusRecord } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { allTables } from '../../schemas/tables/index.ts';
import { decodeHeaders } from '../../schemas/telemetry-message.ts';

/** Rows that a table holds of each offset of a range. */
export type LandedRows = ReadonlyMap<number, number>;

/** Tables whose rows merge by key: landing one twice changes nothing, so neither tokens nor counts guard them. */
const merging = new Set(
  allTables.filter(({ engine }) => engine !== undefined && engine !== 'MergeTree').map(({ name }) => name),
);

export const isMerging = (table: string): boolean => merging.has(table);

const dayMs = 86_400_000;

/** First and last reception of a range, by its headers. */
const receptionOf = (records: readonly BusRecord[]): { readonly from: number; readonly to: number } => {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const { headers } of records) {
    for (const receivedAtMs of receptions(headers)) {
      from = Math.min(from, receivedAtMs);
      to = Math.max(to, receivedAtMs);
    }
  }
  return { from, to };
};

const receptions = (headers: BusRecord['headers']): number[] => {
  try {
    return decodeHeaders(headers).members.map(({ receivedAtMs }) => receivedAtMs);
  } catch {
    // The scanner refuses such a message: it has no rows.
    return [];
  }
};

/** Whether rows of a range lie in several of the tables' partitions: one insert is then not one part. */
export const spansDays = (records: readonly BusRecord[]): boolean => {
  const { from, to } = receptionOf(records);
  return Math.floor(from / dayMs) !== Math.floor(to / dayMs);
};

/** Counts what has landed of a range. One query; only the days in which the range was received are read. */
export const landedRows = async (
  columns: Columns,
  table: string,
  partition: number,
  { first, last, records }: Pick<Batch, 'first' | 'last' | 'records'>,
): Promise<LandedRows> => {
  const { from, to } = receptionOf(records);
  if (from > to) return new Map();
  const rows = await columns.query<{ at: string; count: string }>(
    `SELECT toString(offset) AS at, toString(count()) AS count FROM ${table}
WHERE partition = ${partition} AND offset BETWEEN ${first} AND ${last}
AND received_at BETWEEN fromUnixTimestamp64Milli(toInt64(${Math.floor(from)}), 'UTC') AND fromUnixTimestamp64Milli(toInt64(${Math.ceil(to)}), 'UTC')
GROUP BY offset`,
    {},
    { maxResultRows: 1_000_000, maxExecutionSeconds: 120 },
  );
  return new Map(rows.map(({ at, count }) => [Number(at), Number(count)]));
};
