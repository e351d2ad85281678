/** Values of series over a range and by step, compared with values calculated by hand. */
import test from 'ava';
import { findPresentMetrics } from '../../queries/metrics/present.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { readCells } from '../../subjects/infrastructure/cells.ts';
import { agentOf, type Metric, type Points } from '../end-to-end/infrastructure-senders.ts';
import { openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
const minuteMs = 60_000;
const startMs = Math.floor((Date.now() - 3_600_000) / (10 * minuteMs)) * 10 * minuteMs;
const at = (minute: number): number => startMs + minute * minuteMs;
const everyMinute = (labels: Points['labels'], ...values: readonly number[]): Points => ({
  ...(labels === undefined ? {} : { labels }),
  values: values.map((value, minute) => [at(minute), value] as const),
});
const metric = (name: string, kind: Metric['kind'], ...points: readonly Points[]): Metric => ({ name, kind, points });

const createReader = (tenantId: string): TenantReader => ({
  plan: { name: 'all', entitlements: ['metrics'] } as unknown as TenantReader['plan'],
  columns: tables.columns.forTenant(tenantId),
  nowMs: Date.now(),
});
const read = async (tenantId: string, more: object = {}) =>
  readCells(createReader(tenantId), {
    metrics: ['bytes', 'grown', 'level'],
    counters: ['bytes', 'grown'],
    labels: ['device', 'state'],
    range: { from: BigInt(at(0)) * 1_000_000n, to: BigInt(at(9)) * 1_000_000n },
    ...more,
  });
const shown = (found: Awaited<ReturnType<typeof read>>) =>
  found.cells.map(({ metric: name, resource, labels, series, value: level, rate, increase, peak, atMs, bucketMs }) => [
    `${name} ${resource['host.name']} ${Object.entries(labels).flat().join(' ')}`.trim(),
    ...[
      series,
      level,
      rate,
      increase,
      peak,
      (atMs - startMs) / minuteMs,
      bucketMs === 0 ? undefined : (bucketMs - startMs) / minuteMs,
    ],
  ]);

test.before(async () => {
  tables = await openTables();
  const a = agentOf(tables.columns, 'a');
  await a.metrics(
    { 'host.name': 'one' },
    [
      metric(
        'bytes',
        'counter',
        // The counter is reset after 160: increases of 60, then 20, then 30.
        everyMinute({ device: 'sda', core: '0' }, 100, 160, 20, 50),
        everyMinute({ device: 'sda', core: '1' }, 0, 6, 12, 18),
        everyMinute({ device: 'sdb' }, 7),
      ),
      metric('grown', 'delta', everyMinute({}, 5, 6, 7)),
      metric(
        'level',
        'amount',
        everyMinute({ state: 'used', pod: 'x' }, 10, 40, 20, 20),
        // The series ended three minutes before the other series with the same labels, which replaced it.
        everyMinute({ state: 'used', pod: 'y' }, 1000),
        everyMinute({ device: 'sdb', state: 'free' }, 1, 2),
      ),
    ],
    at(4),
  );
  await agentOf(tables.columns, 'b').metrics(
    { 'host.name': 'of-b' },
    [metric('level', 'amount', everyMinute({}, 99))],
    at(4),
  );
});
test.after.always(() => tables?.close());

const wholeRange = [
  // 110 and 18 in three minutes each.
  ['bytes one device sda', 2, 68, 128 / 180, 128, 178, 3, undefined],
  ['bytes one device sdb', 1, 7, undefined, 0, 7, 0, undefined],
  // The first point has no increase within the range.
  ['grown one', 1, 7, 13 / 120, 13, 7, 2, undefined],
  ['level one state used', 1, 20, undefined, 0, 40, 3, undefined],
  ['level one device sdb state free', 1, 2, undefined, 0, 2, 1, undefined],
];

test('series that differ in other labels are summed with their resets, and replaced series are excluded', async (t) => {
  const found = shown(await read('a'));
  t.deepEqual(
    found.map((cell) => cell.with(3, undefined)),
    wholeRange.map((cell) => cell.with(3, undefined)),
  );
  for (const [index, cell] of found.entries())
    t.true(cell[3] === wholeRange[index]?.[3] || Math.abs(Number(cell[3]) - Number(wholeRange[index]?.[3])) < 1e-12);
});

test('results by step are means, and an increase belongs to the step of its later point', async (t) => {
  const found = shown(await read('a', { metrics: ['bytes', 'level'], stepMs: 2 * minuteMs }));
  const ofDisk = found.filter(([name]) => name === 'bytes one device sda');
  t.deepEqual(
    ofDisk.map(([, series, level, , increase, peak]) => [series, level, increase, peak]),
    [
      [2, 130 + 3, 60 + 6, 160 + 6],
      [2, 35 + 15, 20 + 6 + 30 + 6, 50 + 18],
    ],
  );
  t.deepEqual(
    ofDisk.map((cell) => cell.at(-1)),
    [0, 2],
  );
  const used = found.filter(([name]) => name === 'level one state used');
  t.deepEqual(
    used.map(([, series, level]) => [series, level]),
    [
      [2, 25 + 1000],
      [1, 20],
    ],
  );
});

test('cached series are separate for each organization, and include newer series', async (t) => {
  await read('a');
  t.deepEqual(
    shown(await read('b')).map(([name, , level]) => [name, level]),
    [['level of-b', 99]],
  );
  await agentOf(tables.columns, 'b', { projectId: 'other' }).metrics(
    { 'host.name': 'later' },
    [metric('level', 'amount', everyMinute({ state: 'free' }, 3))],
    at(5),
  );
  const both = shown(await read('b')).map(([name, , level]) => `${name} ${level}`);
  t.deepEqual(both.toSorted(), ['level later state free 3', 'level of-b 99']);
  const ofOne = shown(await read('b', { projectId: 'other' })).map(([name, , level]) => [name, level]);
  t.deepEqual(ofOne, [['level later state free', 3]]);
});

test('only series selected by a condition are read', async (t) => {
  const series = { sql: "series.attributes['pod'] = {pod:String}", parameters: { pod: 'y' } };
  t.deepEqual(
    shown(await read('a', { series })).map(([name, , level]) => [name, level]),
    [['level one state used', 1000]],
  );
  const none = { sql: 'false', parameters: {} };
  t.deepEqual(await read('a', { series: none }), { cells: [], isTruncated: false });
});

test('a metric is present while its series can have points: series rows are written once an hour', async (t) => {
  const since = async (ms: number): Promise<string[]> => [
    ...(await findPresentMetrics(createReader('a'), ['level', 'nothing'], {
      from: BigInt(at(0) + ms) * 1_000_000n,
      to: BigInt(at(120)) * 1_000_000n,
    })),
  ];
  t.deepEqual(await since(50 * minuteMs), ['level']);
  t.deepEqual(await since(70 * minuteMs), []);
});
