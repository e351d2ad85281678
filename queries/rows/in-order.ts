/**
 * Records in the order of their time, from the newest or the oldest on, without reading all that match: the end of the range that is
 * asked for first is read first, and then stretches that grow, until there are enough. A question that was asked a short time ago begins
 * with the stretch that had enough then.
 */
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { asOfOne, type RowOrder, type RowPlace } from '../merge-series.ts';
import type { Range } from '../range.ts';
import { type Condition, choosing, rangeValues, withinRange } from '../records.ts';
import { RowCache } from '../row-cache.ts';
import { type QuerySignal, recordsOf } from '../signals/index.ts';

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
const maxStretches = 4;
const leftAtOnce = 80n;
/** A rest that is so small a part of a stretch is read with it: a range of a minute has both its ends, and so a nanosecond more. */
const restWith = 10n;

/** How many rows are looked for, and how many a stretch had. */
export interface Yield {
  readonly limit: number;
  readonly found: number;
}

/** How many rows a question found in how much time, from the end where its order begins. */
interface Found {
  readonly rows: number;
  readonly readNs: bigint;
  readonly atMs: number;
}

/** What the same question found a short time ago: only where its first stretch ends depends on it. */
export interface Earlier {
  get(): Found | undefined;
  set(found: Found): void;
}

const maxQuestions = 10_000;
/** From when it was learnt on, however often it is used: what was rare may be frequent now, and would be read for too long a time. */
const cacheTtlMs = 60_000;
const questions = new RowCache<Found>(maxQuestions);

/** What is known of a condition's records in an order. Ends of the range, which may be among its parameters, and pages make no difference. */
export const earlierOf = (columns: TenantColumns, order: RowOrder, { sql, parameters }: Condition): Earlier => {
  const cache = questions.of(columns);
  const { from: _from, to: _to, ...given } = parameters;
  const key = JSON.stringify([order, sql, given]);
  return {
    get() {
      const found = cache.get(key);
      return found !== undefined && performance.now() - found.atMs < cacheTtlMs ? found : undefined;
    },
    set(found) {
      cache.set(key, found);
    },
  };
};

/** The first stretch: by what was found earlier, so that it is likely to have all. */
const firstSize = (all: bigint, limit: number, isOfService: boolean, earlier: Found | undefined): bigint => {
  const defaultSize = isOfService ? firstOfServiceNs : firstNs;
  if (earlier === undefined) return defaultSize;
  const { rows, readNs } = earlier;
  if (rows === 0) return all <= readNs * leftAtOnce ? all : readNs;
  const likely = (readNs * BigInt(limit)) / BigInt(rows);
  return likely > defaultSize ? likely : defaultSize;
};

/** How long the next stretch is: by how many rows there were so far, so that it is likely to have the rest. */
const nextSize = (read: bigint, last: bigint, left: bigint, { limit, found }: Yield): bigint => {
  if (found === 0) return left <= read * leftAtOnce ? left : last * growth;
  const missing = BigInt(Math.max(1, limit - found));
  const likely = (read * missing * 3n) / (BigInt(found) * 2n);
  return likely > last * 2n ? likely : last * 2n;
};

/**
 * Stretches that together are the range, in order, without a gap and without an overlap, at most four. `next` takes how many rows there
 * were in all stretches so far.
 */
export function* stretchesOf({ from, to }: Range, order: RowOrder, first = firstNs): Generator<Range, void, Yield> {
  const all = to - from + 1n;
  let size = first;
  let read = 0n;
  for (let count = 1; read < all; count++) {
    const left = all - read;
    const stretchSize = count === maxStretches || left - size <= size / restWith ? left : size;
    const stretch: Range =
      order === 'newest'
        ? { from: to - read - stretchSize + 1n, to: to - read }
        : { from: from + read, to: from + read + stretchSize - 1n };
    const soFar = yield stretch;
    read += stretchSize;
    size = nextSize(read, size, all - read, soFar);
  }
}

/**
 * Up to `limit` rows of a range, in order. `read` gives up to so many of a stretch, in order. `isOfService` where all rows are of one
 * service; `earlier` has what the same question found before, and is told what it finds. With `hasSome`, which costs less than reading,
 * the first stretch is read only where it has rows; one that had some before is read at once.
 */
export const inStretches = async <Row>(
  range: Range,
  {
    order,
    limit,
    isOfService = false,
    earlier,
    hasSome,
  }: {
    readonly order: RowOrder;
    readonly limit: number;
    readonly isOfService?: boolean | undefined;
    readonly earlier?: Earlier | undefined;
    readonly hasSome?: ((stretch: Range) => Promise<boolean>) | undefined;
  },
  read: (stretch: Range, limit: number) => Promise<readonly Row[]>,
): Promise<Row[]> => {
  const rows: Row[] = [];
  const before = earlier?.get();
  const stretches = stretchesOf(range, order, firstSize(range.to - range.from + 1n, limit, isOfService, before));
  const isUncertain = before === undefined || before.rows === 0;
  let readNs = 0n;
  for (let next = stretches.next({ limit: limit, found: 0 }); next.done !== true; ) {
    const { from, to } = next.value;
    const needsProbe = hasSome !== undefined && isUncertain && readNs === 0n;
    if (!needsProbe || (await hasSome(next.value))) rows.push(...(await read(next.value, limit - rows.length)));
    readNs += to - from + 1n;
    if (rows.length >= limit) break;
    next = stretches.next({ limit: limit, found: rows.length });
  }
  if (before === undefined) earlier?.set({ rows: rows.length, readNs, atMs: performance.now() });
  return rows;
};

/**
 * SQL of an order by time, then by place on the bus, in which no two records are equal. Columns are qualified: aliases of their names are
 * texts. The time is not the column itself: of a column and a limit the engine (26.7) makes a filter that it asks in place of the
 * condition, and does not remember which granules have none that satisfy the condition.
 */
export const orderByTime = (table: string, order: RowOrder): string => {
  const places = ['partition', 'offset', 'ordinal'].map((column) => `${table}.${column}`);
  return [`toUnixTimestamp64Nano(${table}.timestamp)`, ...places]
    .map((expression) => `${expression} ${order === 'newest' ? 'DESC' : 'ASC'}`)
    .join(', ');
};

interface Placed {
  readonly place_in_order: readonly [time: string, partition: string, offset: string, ordinal: string];
}
const placeOfRow = ({ place_in_order: [time, partition, offset, ordinal] }: Placed): RowPlace => ({
  time,
  partition,
  offset,
  ordinal,
});

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
  const { table, from = table } = recordsOf(signal);
  const place = ['partition', 'offset', 'ordinal'].map((column) => `toString(${table}.${column})`).join(', ');
  const placed = `[toString(toUnixTimestamp64Nano(${table}.timestamp)), ${place}] AS place_in_order`;
  const earlier = earlierOf(columns, order, condition);
  return inStretches(range, { order, limit, earlier }, async (stretch, missing) => {
    const chosen =
      from === table
        ? choosing(signal, condition.sql, stretch)
        : `WHERE tenant_id = {tenant:String} AND ${withinRange(signal)} AND ${condition.sql}`;
    const rows = await columns.query<Row & Placed>(
      `SELECT ${selection}, ${placed} FROM ${from} ${chosen}
      ORDER BY ${orderByTime(table, order)} LIMIT ${missing}`,
      { ...condition.parameters, ...rangeValues(stretch) },
      { maxResultRows: missing, ofEachServer: from === table },
    );
    return asOfOne(rows, { order, limit: missing, placeOf: placeOfRow });
  });
};
