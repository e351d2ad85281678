/**
 * Records in the order of their time, from the newest or the oldest on, without reading all that match: the end of the range that is
 * asked for first is read first, and then stretches that grow, until there are enough.
 */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Range } from '../range.ts';
import { type Condition, rangeValues, withinRange } from '../records.ts';
import type { QuerySignal } from '../search/tree.ts';
import { signalTables } from '../signals.ts';

/** Enough for what is common where much arrives. Indexes of time and the sorting key leave few granules of it. */
const firstNs = 60_000_000_000n;
/** Of one service: the sorting key has services by ten minutes, so that a minute of one costs what ten do. */
const firstOfServiceNs = 600_000_000_000n;
/** From one stretch to the next where nothing was found. */
const growth = 20n;
/**
 * The last one is all that is left: what is rare is found by indexes, and a statement costs as much as reading 50,000 rows. So it is
 * sooner where what is left is so many times what had nothing: it can have few rows only.
 */
const mostStretches = 4;
const leftAtOnce = 80n;

export type RowOrder = 'newest' | 'oldest';

/** How many rows are looked for, and how many a stretch had. */
export interface Yield {
  readonly wanted: number;
  readonly found: number;
}

/** How long the next stretch is: by how many rows there were so far, so that it is likely to have the rest. */
const nextSize = (read: bigint, last: bigint, left: bigint, { wanted, found }: Yield): bigint => {
  if (found === 0) return left <= read * leftAtOnce ? left : last * growth;
  const missing = BigInt(Math.max(1, wanted - found));
  const likely = (read * missing * 3n) / (BigInt(found) * 2n);
  return likely > last * 2n ? likely : last * 2n;
};

/**
 * Stretches that together are the range, in order, without a gap and without an overlap, at most four. `next` takes how many rows there
 * were in all stretches so far.
 */
export function* stretchesOf({ from, to }: Range, order: RowOrder, isOfService = false): Generator<Range, void, Yield> {
  const all = to - from + 1n;
  let size = isOfService ? firstOfServiceNs : firstNs;
  let read = 0n;
  for (let count = 1; read < all; count++) {
    const left = all - read;
    const taken = count === mostStretches || size > left ? left : size;
    const stretch: Range =
      order === 'newest'
        ? { from: to - read - taken + 1n, to: to - read }
        : { from: from + read, to: from + read + taken - 1n };
    const soFar = yield stretch;
    read += taken;
    size = nextSize(read, size, all - read, soFar);
  }
}

/** Up to `limit` rows of a range, in order. `read` gives up to so many of a stretch, in order. `isOfService` where all rows are of one service. */
export const inStretches = async <Row>(
  range: Range,
  {
    order,
    limit,
    isOfService,
  }: { readonly order: RowOrder; readonly limit: number; readonly isOfService?: boolean | undefined },
  read: (stretch: Range, limit: number) => Promise<readonly Row[]>,
): Promise<Row[]> => {
  const rows: Row[] = [];
  const stretches = stretchesOf(range, order, isOfService);
  for (let next = stretches.next({ wanted: limit, found: 0 }); next.done !== true; ) {
    rows.push(...(await read(next.value, limit - rows.length)));
    if (rows.length >= limit) break;
    next = stretches.next({ wanted: limit, found: rows.length });
  }
  return rows;
};

/**
 * Up to `limit` rows that satisfy a condition, in order. `selection` is of the table's columns; records of one nanosecond are in the
 * order in which they lie on the bus.
 */
export const rowsInOrder = async <Row>(
  columns: TenantColumns,
  { signal, range, order, limit }: { signal: QuerySignal; range: Range; order: RowOrder; limit: number },
  selection: string,
  condition: Condition,
): Promise<Row[]> => {
  const { table, from = table } = signalTables[signal];
  const way = order === 'newest' ? 'DESC' : 'ASC';
  const by = ['timestamp', 'partition', 'offset', 'ordinal'].map((column) => `${table}.${column} ${way}`).join(', ');
  return inStretches(range, { order, limit }, (stretch, missing) =>
    columns.query<Row>(
      `SELECT ${selection} FROM ${from} WHERE tenant_id = {tenant:String} AND ${withinRange(signal)} AND ${condition.sql}
      ORDER BY ${by} LIMIT ${missing}`,
      { ...condition.parameters, ...rangeValues(stretch) },
      { maxResultRows: missing },
    ),
  );
};
