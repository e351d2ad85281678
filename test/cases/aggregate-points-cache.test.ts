/** Points that are cached by hour equal those of a full read, whatever is inserted or erased in between. */
import test from 'ava';
import { type Point, PointsCache } from '../../queries/aggregate/points-cache.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { randomOf } from './random.ts';

const minuteNs = 60_000_000_000n;
const hourNs = 60n * minuteNs;
const midnight = (1_700_000_000_000_000_000n / (24n * hourNs)) * 24n * hourNs;

/** More bytes than a query must read before its result is cached. */
const largeReadBytes = 1024 ** 3;

/**
 * A table of timestamps with its cache, and the ranges that were read from it. The group of a record is the last digit
 * of its minute, in base `groups`.
 */
const tableOf = ({ bytes = largeReadBytes, groups = 1n }: { bytes?: number; groups?: bigint } = {}) => {
  const table = {
    times: [] as bigint[],
    nowMs: 0,
    read: [] as Range[],
    counted: 0,
    columns: undefined as unknown as TenantColumns,
  };
  const memory = new PointsCache(() => table.nowMs);
  const within = ({ from, to }: Range): bigint[] => table.times.filter((time) => time >= from && time <= to);
  const query = async (_sql: string, { from, to, length }: Record<string, string> = {}) => {
    table.counted++;
    const range = { from: BigInt(from ?? 0), to: BigInt(to ?? 0) };
    const pieces = Map.groupBy(within(range), (time) => time / BigInt(length ?? 1));
    return [...pieces].map(([piece, found]) => ({ piece: String(piece), records: String(found.length) }));
  };
  table.columns = { tenantId: 'acme', source: table, query } as unknown as TenantColumns;
  const points = (range: Range, stepNs: bigint, isOne: (time: bigint) => boolean): Point[] =>
    [...Map.groupBy(within(range).filter(isOne), (time) => `${(time / minuteNs) % groups} ${time / stepNs}`)].map(
      ([key, found]) => {
        const [group = '', step = ''] = key.split(' ');
        return { group, step: BigInt(step), results: [found.length] };
      },
    );
  const readRange = async (range: Range, stepNs: bigint, odd: boolean, columns = table.columns) => {
    table.read = [];
    const isOne = (time: bigint): boolean => time % 2n === (odd ? 1n : 0n);
    const question = { signal: 'logs', range, stepNs, key: `${odd}`, maxGroups: 3 } as const;
    const read = async (part: Range): Promise<Point[]> => {
      table.read.push(part);
      return points(part, stepNs, isOne);
    };
    const cachedPoints = await memory.getPoints(columns, question, read);
    const found = cachedPoints ?? (await read(range));
    if (cachedPoints === undefined) memory.recordCost(columns, question, bytes);
    return { found: inOrder(found), expected: inOrder(points(range, stepNs, isOne)) };
  };
  return Object.assign(table, { readRange });
};

const inOrder = (points: readonly Point[]): Point[] =>
  points.toSorted((one, other) => Number(one.step - other.step) || Number(one.group) - Number(other.group));

const between = (random: () => number, from: bigint, to: bigint): bigint =>
  from + BigInt(Math.floor(random() * Number(to - from)));

for (const [what, steps, erases] of [
  ['records land at any time', [1n, 5n, 7n, 60n, 90n], false],
  ['records land, and those before a full hour are erased', [1n, 5n, 60n], true],
] as const)
  test(`cached points equal those of a full read while ${what}`, async (t) => {
    const random = randomOf(17);
    for (let round = 0; round < 60; round++) {
      const table = tableOf({ groups: BigInt(1 + Math.floor(random() * 4)) });
      const end = midnight + BigInt(2 + Math.floor(random() * 30)) * hourNs;
      let begin = midnight;
      for (let round = 0; round < 40; round++) {
        for (let count = Math.floor(random() * 8); count > 0; count--) table.times.push(between(random, begin, end));
        if (erases && random() < 0.1) {
          begin = (between(random, begin, end) / hourNs) * hourNs;
          table.times = table.times.filter((time) => time >= begin);
        }
        table.nowMs += random() < 0.05 ? 1_000_000 : 1_000;
        const from = between(random, midnight - hourNs, end);
        const range = { from, to: between(random, from, end + hourNs) };
        const step = steps[Math.floor(random() * steps.length)] ?? 1n;
        const { found, expected } = await table.readRange(range, step * minuteNs, random() < 0.5);
        t.deepEqual(found, expected);
      }
    }
  });

const day: Range = { from: midnight + 90n * minuteNs, to: midnight + 24n * hourNs + 10n * minuteNs };

/** Queries a day twice: the first query shows that it reads much data, the second fills the cache. */
const cachedDay = async (options: Parameters<typeof tableOf>[0] = {}) => {
  const table = tableOf(options);
  for (let time = midnight; time < day.to; time += minuteNs) table.times.push(time);
  for (let time = 0; time < 2; time++) await table.readRange(day, minuteNs, false);
  return table;
};

test('the third read covers only the partial hours at both ends', async (t) => {
  const table = await cachedDay();
  await table.readRange(day, minuteNs, false);
  t.deepEqual(table.read, [
    { from: day.from, to: midnight + 2n * hourNs - 1n },
    { from: midnight + 24n * hourNs, to: day.to },
  ]);
});

test('only an hour with a late record is read again', async (t) => {
  const table = await cachedDay();
  table.times.push(midnight + 7n * hourNs + 2n);
  const { found, expected } = await table.readRange(
    { from: midnight + 2n * hourNs, to: midnight + 12n * hourNs - 1n },
    minuteNs,
    false,
  );
  t.deepEqual(found, expected);
  t.deepEqual(table.read, [{ from: midnight + 7n * hourNs, to: midnight + 8n * hourNs - 1n }]);
});

test('a range that moved forward reads only the new hours', async (t) => {
  const table = await cachedDay();
  await table.readRange({ from: day.from + hourNs, to: day.to + hourNs }, minuteNs, false);
  t.deepEqual(table.read, [
    { from: day.from + hourNs, to: midnight + 3n * hourNs - 1n },
    { from: midnight + 24n * hourNs, to: day.to + hourNs },
  ]);
});

test('a different query, step or tenant gets nothing from the cache', async (t) => {
  const table = await cachedDay();
  for (const [step, odd, tenantId] of [
    [minuteNs, true, 'acme'],
    [minuteNs, false, 'other'],
  ] as const) {
    await table.readRange(day, step, odd, { ...table.columns, tenantId });
    t.deepEqual(table.read, [day]);
  }
  await table.readRange(day, 5n * minuteNs, false);
  t.deepEqual(table.read, [day]);
});

test('after 15 minutes all hours are read again', async (t) => {
  const table = await cachedDay();
  table.nowMs += 900_000;
  await table.readRange(day, minuteNs, false);
  t.deepEqual(table.read, [day]);
});

test('a query that reads little, a range under three hours and an uncached handle take one statement', async (t) => {
  const little = await cachedDay({ bytes: 10_000 });
  await little.readRange(day, minuteNs, false);
  t.deepEqual([little.read, little.counted], [[day], 0]);
  const table = await cachedDay();
  const short = { from: midnight + hourNs, to: midnight + 3n * hourNs };
  const { source: _source, ...sourceless } = table.columns;
  for (const [range, columns] of [
    [short, table.columns],
    [day, sourceless],
  ] as const) {
    const before = table.counted;
    await table.readRange(range, minuteNs, false, columns);
    t.deepEqual([table.read, table.counted], [[range], before]);
  }
});

for (const [what, options] of [
  [
    'a question that reads not much more than a count of all records does',
    { bytes: 64 * 1024 * 1024, records: 4_000_000 },
  ],
  ['a question with more groups than it may have', { groups: 4n }],
] as const)
  test(`${what} bypasses the cache from then on`, async (t) => {
    const { records, ...rest } = { records: 0, ...options };
    const table = tableOf(rest);
    for (let time = midnight; time < day.to; time += minuteNs) table.times.push(time);
    const { query } = table.columns;
    const counts = async (...queryArgs: Parameters<typeof query>) =>
      (await query<{ records: string }>(...queryArgs)).map((row) => ({
        ...row,
        records: String(Number(row.records) + records),
      }));
    const columns = { ...table.columns, query: counts } as unknown as TenantColumns;
    for (let time = 0; time < 4; time++) {
      const { found, expected } = await table.readRange(day, minuteNs, false, columns);
      t.deepEqual(found, expected);
    }
    t.is(table.counted, 1);
    t.deepEqual(table.read, [day]);
  });

test('if many non-adjacent hours have changed, the whole range is read at once', async (t) => {
  const table = await cachedDay();
  for (let hour = 3n; hour < 20n; hour += 3n) table.times.push(midnight + hour * hourNs + 2n);
  const { found, expected } = await table.readRange(day, minuteNs, false);
  t.deepEqual(found, expected);
  t.deepEqual(table.read, [day]);
});
