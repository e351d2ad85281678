/**
 * Records in the order of their time, from the newest or the oldest on, without reading all that match: the end of the range that is
 * asked for first is read first, and then stretches that grow, until there are enough.
 */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Range } from '../range.ts';
import { type Condition, rangeValues, withinRange } from '../records.ts';
import type { SearchSignal } from '../search/tree.ts';
import { signalTables } from '../signals.ts';

/** As the sorting keys of the tables round time. */
const bucketNs = 600_000_000_000n;
const growth = 4n;

export type RowOrder = 'newest' | 'oldest';

/** Stretches that together are the range, in order, without a gap and without an overlap. */
export function* stretchesOf({ from, to }: Range, order: RowOrder): Generator<Range> {
  let size = bucketNs;
  const bucketBegin = (point: bigint): bigint => point - (((point % bucketNs) + bucketNs) % bucketNs);
  if (order === 'newest')
    for (let end = to; end >= from; size *= growth) {
      const begin = bucketBegin(end) - (size - bucketNs);
      yield { from: begin < from ? from : begin, to: end };
      end = begin - 1n;
    }
  else
    for (let begin = from; begin <= to; size *= growth) {
      const end = bucketBegin(begin) + size - 1n;
      yield { from: begin, to: end > to ? to : end };
      begin = end + 1n;
    }
}

/**
 * Up to `limit` rows that satisfy a condition, in order. `selection` is of the table's columns; records of one nanosecond are in the
 * order in which they lie on the bus.
 */
export const rowsInOrder = async <Row>(
  columns: TenantColumns,
  { signal, range, order, limit }: { signal: SearchSignal; range: Range; order: RowOrder; limit: number },
  selection: string,
  condition: Condition,
): Promise<Row[]> => {
  const { table } = signalTables[signal];
  const way = order === 'newest' ? 'DESC' : 'ASC';
  const by = ['timestamp', 'partition', 'offset', 'ordinal'].map((column) => `${table}.${column} ${way}`).join(', ');
  const rows: Row[] = [];
  for (const stretch of stretchesOf(range, order)) {
    const missing = limit - rows.length;
    const found = await columns.query<Row>(
      `SELECT ${selection} FROM ${table} WHERE tenant_id = {tenant:String} AND ${withinRange(signal)} AND ${condition.sql}
      ORDER BY ${by} LIMIT ${missing}`,
      { ...condition.parameters, ...rangeValues(stretch) },
      { maxResultRows: missing },
    );
    rows.push(...found);
    if (rows.length >= limit) break;
  }
  return rows;
};
