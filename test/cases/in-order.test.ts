/** Intervals in which long ranges are read in order: together they cover the range, and reading stops early. */
import test from 'ava';
import { mergeServerRows, type RowOrder } from '../../queries/merge-series.ts';
import { type PreviousReadCache, readGrowingRanges } from '../../queries/rows/in-order.ts';
import { compareTraceOrder } from '../../queries/traces/trace-facts.ts';
import { randomOf } from './random.ts';

const second = 1_000_000_000n;
const orders = ['newest', 'oldest'] as const;
const middle = 1_700_000_000n * second;

/** Reads times in a range in the order of the tables, and records the intervals. */
const read = async (
  times: readonly bigint[],
  from: bigint,
  to: bigint,
  order: RowOrder,
  limit: number,
  isOfService = false,
  previousReadCache?: PreviousReadCache,
) => {
  const sorted = times.toSorted((one, other) => Number(order === 'newest' ? other - one : one - other));
  const stretches: { from: bigint; to: bigint }[] = [];
  const rows = await readGrowingRanges(
    { from, to },
    { order, limit, isOfService, previousReadCache },
    async (stretch, missing) => {
      stretches.push(stretch);
      return sorted.filter((time) => time >= stretch.from && time <= stretch.to).slice(0, missing);
    },
  );
  return { rows, stretches, all: sorted.filter((time) => time >= from && time <= to) };
};

/** The boundaries of intervals in ascending order: the end of each, incremented by one, with the start of the next. */
const joints = (stretches: readonly { from: bigint; to: bigint }[], order: RowOrder): bigint[][] => {
  const ascending = order === 'newest' ? stretches.toReversed() : stretches;
  return ascending.slice(1).map(({ from }, index) => [(ascending[index]?.to ?? 0n) + 1n, from]);
};

const someTimes = (random: () => number, width: number): bigint[] =>
  Array.from({ length: Math.floor(random() * 200) }, () => {
    const near = random() < 0.5 ? random() ** 8 : random();
    return middle + BigInt(Math.floor(near * width));
  });

for (const order of orders)
  test(`${order}: a read in at most four gapless intervals equals a single read`, async (t) => {
    const random = randomOf(3);
    for (let round = 0; round < 300; round++) {
      const width = Math.floor(10 ** (random() * 15));
      const end = middle + BigInt(width);
      const limit = 1 + Math.floor(random() * 120);
      const { rows, stretches, all } = await read(someTimes(random, width), middle, end, order, limit);
      t.deepEqual(rows, all.slice(0, limit));
      t.true(stretches.length <= 4);
      for (const [one, other] of joints(stretches, order)) t.is(one, other);
      const length = stretches.reduce((sum, { from, to }) => sum + (to - from + 1n), 0n);
      t.true(rows.length === limit || length === end - middle + 1n, 'all of the range unless there were enough');
    }
  });

for (const order of orders)
  test(`${order}: merged rows of several servers equal those of one server`, (t) => {
    const random = randomOf(5);
    const below = (max: number): string => String(Math.floor(random() * max));
    for (let round = 0; round < 100; round++) {
      // Few distinct times and positions, with different numbers of digits, some before 1970.
      const all = Array.from({ length: Math.floor(random() * 60) }, (_, ordinal) => ({
        time: String(Math.floor(random() * 24) - 12),
        partition: below(12),
        offset: below(3),
        ordinal: String(ordinal),
      }));
      const sorted = all.toSorted((one, other) => {
        const differences = (['time', 'partition', 'offset', 'ordinal'] as const).map(
          (part) => Number(one[part]) - Number(other[part]),
        );
        return (order === 'newest' ? -1 : 1) * (differences.find((difference) => difference !== 0) ?? 0);
      });
      const limit = 1 + Math.floor(random() * 20);
      const servers = 1 + Math.floor(random() * 3);
      const serverOf = new Map(sorted.map((row) => [row, Math.floor(random() * servers)]));
      const responses = Array.from({ length: servers }, (_, server) =>
        sorted.filter((row) => serverOf.get(row) === server).slice(0, limit),
      );
      t.deepEqual(
        mergeServerRows(responses.flat(), { order, limit, getPosition: (row) => row }),
        sorted.slice(0, limit),
      );
    }
  });

test('spans of a trace from several servers have the order of a single server', (t) => {
  const random = randomOf(7);
  const below = (max: number): number => Math.floor(random() * max);
  const spans = Array.from({ length: 400 }, () => {
    const [start, lasted, span] = [below(12) - 6, below(12), below(3)];
    const places = [below(12), below(12), below(1_000)];
    const numbers = [start, -lasted, span, ...places];
    return { numbers, start: `${start}`, lasted: `${lasted}`, span: `0${span}`, at: places.join('-') };
  });
  const sorted = spans.toSorted(
    (one, other) => one.numbers.map((n, index) => n - (other.numbers[index] ?? 0)).find((n) => n !== 0) ?? 0,
  );
  t.deepEqual(spans.toSorted(compareTraceOrder), sorted);
});

const hours = 24n * 3_600n * second;
/**
 * Rows at a fixed distance in seconds over a day: the number of intervals read, and their maximum total duration in
 * minutes.
 */
const densities: readonly (readonly [everySeconds: number, stretches: number, maxMinutes: number])[] = [
  [0.5, 1, 1],
  [3, 2, 12],
  [50, 2, 180],
  [600, 3, 1_440],
];
for (const [every, count, minutes] of densities)
  test(`a hundred rows, one each ${every} s of a day, take ${count} intervals`, async (t) => {
    const times = Array.from(
      { length: Math.floor(86_400 / every) },
      (_, index) => middle + BigInt(Math.floor(index * every * 1e9)),
    );
    const { rows, stretches } = await read(times, middle, middle + hours, 'newest', 100);
    t.is(rows.length, 100);
    t.is(stretches.length, count);
    t.true(middle + hours - (stretches.at(-1)?.from ?? 0n) <= BigInt(minutes) * 60n * second);
  });

test('a search without matches takes three statements for a day, and two for an hour', async (t) => {
  t.is((await read([], middle, middle + hours, 'newest', 100)).stretches.length, 3);
  t.is((await read([], middle, middle + hours / 24n, 'oldest', 100)).stretches.length, 2);
});

for (const order of orders)
  test(`${order}: a range slightly longer than an interval is read at once`, async (t) => {
    const minute = middle + 60n * second;
    const times = [middle, minute - 1n, minute, minute + second];
    const { rows, stretches, all } = await read(times, middle, minute, order, 100);
    t.is(stretches.length, 1);
    t.deepEqual(rows, all);
    t.is((await read(times, middle, minute + 7n * second, order, 100)).stretches.length, 2);
  });

test('a first interval without rows is not read, unless the query found rows before', async (t) => {
  const day = { from: middle, to: middle + hours };
  const stretchesRead = async (previousReadCache: PreviousReadCache, rowsOf: (from: bigint) => string[]) => {
    const requestedFrom: bigint[] = [];
    const checkedFrom: bigint[] = [];
    const rows = await readGrowingRanges(
      day,
      {
        order: 'newest',
        limit: 1,
        previousReadCache,
        async hasRows({ from }) {
          checkedFrom.push(from);
          return rowsOf(from).length > 0;
        },
      },
      async ({ from }) => {
        requestedFrom.push(from);
        return rowsOf(from);
      },
    );
    return [checkedFrom.length, requestedFrom.length, rows.length];
  };
  const rare = memory();
  t.deepEqual(await stretchesRead(rare, (from) => (from === middle ? ['row'] : [])), [1, 2, 1]);
  const frequent = memory();
  t.deepEqual(await stretchesRead(frequent, () => ['row']), [1, 1, 1]);
  t.deepEqual(await stretchesRead(frequent, () => ['row']), [0, 1, 1], 'it is likely to be there again');
  const nowhere = memory();
  t.deepEqual(await stretchesRead(nowhere, () => []), [1, 2, 0]);
  t.deepEqual(await stretchesRead(nowhere, () => []), [1, 0, 0], 'it is likely to be nowhere again');
});

test('the first interval for one service is ten minutes long', async (t) => {
  const times = Array.from({ length: 1_000 }, (_, index) => middle + BigInt(index) * 3n * second);
  const { rows, stretches } = await read(times, middle, middle + hours, 'oldest', 100, true);
  t.is(rows.length, 100);
  t.deepEqual(stretches, [{ from: middle, to: middle + 600n * second - 1n }]);
});

/** A cache of what a query found before. */
const memory = (): PreviousReadCache => {
  let cached: ReturnType<PreviousReadCache['get']>;
  return {
    get: () => cached,
    set(found) {
      cached = found;
    },
  };
};

const repeated: readonly (readonly [title: string, everySeconds: number, first: number, again: number])[] = [
  ['a value that never occurs', Number.POSITIVE_INFINITY, 3, 1],
  ['a rare value', 40_000, 3, 1],
  ['what needed two stretches', 50, 2, 1],
  ['a frequent value', 0.5, 1, 1],
];
for (const [title, every, first, again] of repeated)
  test(`${title} takes ${first} statements, and ${again} when repeated`, async (t) => {
    const times = Array.from(
      { length: Math.floor(86_400 / every) },
      (_, index) => middle + BigInt(Math.floor(index * every * 1e9)),
    );
    const earlier = memory();
    const lengths: bigint[] = [];
    for (const count of [first, again, again]) {
      const { rows, stretches, all } = await read(times, middle, middle + hours, 'newest', 100, false, earlier);
      t.deepEqual(rows, all.slice(0, 100));
      t.is(stretches.length, count);
      lengths.push(stretches.reduce((sum, { from, to }) => sum + (to - from + 1n), 0n));
    }
    t.is(lengths[2], lengths[1], 'repeated reads do not grow');
  });

test('results reflect the current data, whatever is remembered of earlier reads', async (t) => {
  const random = randomOf(5);
  for (let round = 0; round < 300; round++) {
    const width = Math.floor(10 ** (random() * 15));
    const end = middle + BigInt(width);
    const order = orders[round % 2] as RowOrder;
    const earlier = memory();
    earlier.set({
      rows: Math.floor(random() * 120),
      readNs: 1n + BigInt(Math.floor(10 ** (random() * 15))),
      atMs: performance.now(),
    });
    const limit = 1 + Math.floor(random() * 120);
    const { rows, stretches, all } = await read(someTimes(random, width), middle, end, order, limit, false, earlier);
    t.deepEqual(rows, all.slice(0, limit));
    t.true(stretches.length <= 4);
  }
});
