/** SLOs over counters, gauges and formulas: counts are exact sums, regardless of the interval of points. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { QueryBatcher } from '../../../queries/batch/query-batcher.ts';
import { readTranslation } from '../../../queries/promql/settings.ts';
import { parseSettings } from '../../../schemas/settings.ts';
import type { SloObjective } from '../../../schemas/slo-slices.ts';
import { updateDaySums } from '../../../sinks/slo-days.ts';
import { SloFields } from '../../../subjects/slos/document.ts';
import { measureSlices } from '../../../subjects/slos/measure.ts';
import { findPointIntervalWarnings } from '../../../subjects/slos/point-intervals.ts';
import { roundCount } from '../../../subjects/slos/slices/counts.ts';
import {
  add,
  compare,
  createFraction,
  type Fraction,
  fractionToNumber,
  subtract,
} from '../../../subjects/slos/slices/fraction.ts';
import { findChangedSlices, type MeasuredSlice } from '../../../subjects/slos/slices/slices.ts';
import { readWindows } from '../../../subjects/slos/slices/window-sums.ts';
import { createReader, epoch, type MetricTables, openMetricTables, type TestPoint } from '../metric-points.ts';
import { type Random, seeded } from '../random.ts';
import { landIn } from '../sink-tables.ts';

const minuteMs = 60_000;
const hours = 4;
const endSeconds = hours * 3600;
const checkMinutes = 9;

let tables: MetricTables;
test.before(async () => {
  tables = await openMetricTables();
});
test.after.always(() => tables?.close());

/** An increase between two points, in thousandths. */
interface Increase {
  readonly since: number;
  readonly at: number;
  readonly grown: number;
}

interface Source {
  readonly points: readonly TestPoint[];
  readonly increases: readonly Increase[];
}

/** Times at random distances in seconds, with equal ones and gaps. The last point is two checks before the end. */
const timesOf = (random: Random, minSeconds: number, maxSeconds: number): number[] => {
  const times: number[] = [];
  for (let at = 1 + random(200); at < endSeconds - 2 * checkMinutes * 60; ) {
    times.push(at);
    at += minSeconds + random(1 + maxSeconds - minSeconds) + (random(8) === 0 ? 0.137 : 0);
  }
  return times;
};

const sources: Readonly<Record<string, (times: readonly number[], grow: () => number) => Source>> = {
  counter: (times, grow) => {
    let value = 1000;
    const increases: Increase[] = [];
    const points = times.map((at, index): TestPoint => {
      const since = times[index - 1];
      const hasRestarted = index % 37 === 36;
      const grown = grow();
      value = hasRestarted ? grown : value + grown;
      if (since !== undefined) increases.push({ since, at, grown: grown * 1000 });
      return { at, value };
    });
    return { points, increases };
  },
  delta: (times, grow) => {
    const increases: Increase[] = [];
    const points = times.flatMap((at, index): TestPoint[] => {
      const since = times[index - 1];
      if (since === undefined) return [];
      const grown = grow();
      increases.push({ since, at, grown: grown * 1000 });
      return [{ at, start: since, value: grown }];
    });
    return { points, increases };
  },
  gauge: (times, grow) => {
    const increases = times.map((at) => ({ since: at, at, grown: grow() * 1000 + 137 }));
    return { points: increases.map(({ at, grown }) => ({ at, value: grown / 1000 })), increases };
  },
};

const sum = (terms: Iterable<Fraction>): Fraction => [...terms].reduce(add, createFraction(0n));
const thousandths = (value: number): Fraction => createFraction(BigInt(value), 1000n);

/** The exact share of a slice in increases: an increase over several slices is spread over its duration. */
const inSlice = (increases: readonly Increase[], minute: number): Fraction =>
  sum(
    increases.flatMap(({ since, at, grown }) => {
      const [start, end] = [minute * 60, minute * 60 + 60];
      if (Math.round((at - since) * 1000) <= 60_000) return at >= start && at < end ? [thousandths(grown)] : [];
      const overlap = Math.min(at, end) - Math.max(since, start);
      if (overlap <= 0) return [];
      const ms = (seconds: number): bigint => BigInt(Math.round(seconds * 1000));
      return [createFraction(BigInt(grown) * ms(overlap), 1000n * ms(at - since))];
    }),
  );

const metric = (name: string, overTime = 'increase') => ({ kind: 'metric', metric: name, overTime });
const promql = (expression: string) => ({ kind: 'promql', expression });
const sloOf = (bad: object, total: object): SloFields =>
  SloFields.parse({ name: 'counted', type: 'ratio', signal: 'metrics', query: { sli: { bad, total } } });

/** Slices after checks like those of the schedule: every nine minutes, the last hour is measured again. */
const measureLikeSchedule = async (slo: SloFields, tenant: string): Promise<MeasuredSlice[]> => {
  const slices = new Map<number, MeasuredSlice>();
  const options = {
    reader: createReader(tables.columns, tenant) as never,
    batcher: new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: 60_000, singleTimeoutMs: 60_000 }),
  };
  for (let minute = checkMinutes; minute <= hours * 60; minute += checkMinutes) {
    const window = { fromMs: epoch + Math.max(0, minute - 60) * minuteMs, toMs: epoch + minute * minuteMs };
    const known = [...slices.values()].filter(([beginMs]) => beginMs >= window.fromMs);
    for (const slice of findChangedSlices(known, await measureSlices(slo, window, options)))
      slices.set(slice[0], slice);
  }
  return [...slices.values()].toSorted(([one], [other]) => one - other);
};

const objective: SloObjective = { targetPct: 99, sliceMs: minuteMs, windowDays: 5, budgeting: 'occurrences' };
let offset = 0;
const storedSums = async (sloId: string, slices: readonly MeasuredSlice[], input = objective) => {
  const measurement = {
    tenantId: 'slices',
    sloId,
    series: 's',
    lookMs: epoch + endSeconds * 1000,
    error: '',
    objective: input,
    slices,
    fromMs: epoch,
    upToMs: epoch + endSeconds * 1000,
    settledUpToMs: epoch,
  };
  const message = { offset: ++offset, value: Buffer.from(JSON.stringify([measurement])), headers: {} };
  await landIn(tables.columns)([message], { sink: 'slo-slices' });
  // The window has six days, so whole days are read from their sums.
  const window = { fromMs: epoch - 10 * 3_600_000, toMs: epoch + (6 * 24 - 10) * 3_600_000 };
  const read = async () =>
    (
      await readWindows({ columns: tables.columns.forTenant('slices') }, [
        { sloId, series: 's', objective: input, windows: [window] },
      ])
    )(0)(window);
  const fromSlices = await read();
  await updateDaySums(tables.columns, Date.now() + 86_400_000);
  return [fromSlices, await read()] as const;
};

const cases: readonly (readonly [title: string, kind: string, minSeconds: number, maxSeconds: number])[] = [
  ['a counter with a point each 60 s', 'counter', 60, 60],
  ['a counter with a point each 75 s', 'counter', 75, 75],
  ['a counter with a point each 300 s', 'counter', 300, 300],
  ['a counter with points 7 to 49 s apart', 'counter', 7, 49],
  ['a counter with points 50 to 137 s apart', 'counter', 50, 137],
  ['a counter with points up to 45 min apart', 'counter', 1, 2700],
  ['deltas over 10 s to 20 min', 'delta', 10, 1200],
  ['fractions of a gauge', 'gauge', 11, 400],
];

const intervalCases: readonly (readonly [
  title: string,
  seconds: number,
  slo: SloFields,
  warnings: RegExp | undefined,
])[] = [
  ['a counter each 60 s', 60, sloOf(metric('bad'), metric('all')), undefined],
  [
    'a counter each 300 s',
    300,
    sloOf(metric('bad'), metric('all')),
    /^points of bad come every 5m, slices are 1m: the budget is exact, but alerts see events up to 5m later$/,
  ],
  ['a gauge each 300 s', 300, sloOf(metric('bad', 'sum'), metric('all', 'sum')), undefined],
  [
    'an increase in PromQL each 60 s',
    60,
    sloOf(promql('increase(bad_total[1m])'), promql('increase(all_total[1m])')),
    /^points of bad come every 1m, a range in PromQL is 1m: an increase needs two points in its range/,
  ],
  [
    'an increase in PromQL over several points',
    180,
    sloOf(promql('sum(increase(bad_total[10m]))'), promql('sum(increase(all_total[10m]))')),
    undefined,
  ],
  [
    'a shorter range of PromQL in the same expression',
    180,
    sloOf(promql('increase(bad_total[10m]) + rate(bad_total[5m])'), promql('increase(all_total[5m])')),
    /^points of bad come every 3m, a range in PromQL is 5m/,
  ],
  [
    'a sum over time in PromQL, which needs one point',
    60,
    sloOf(promql('sum_over_time(bad_total[1m])'), promql('count_over_time(all_total[1m])')),
    undefined,
  ],
  [
    'an increase in PromQL each 15 s',
    15,
    sloOf(promql('increase(bad_total[1m])'), promql('increase(all_total[1m])')),
    undefined,
  ],
  ['a gauge in PromQL each 60 s', 60, sloOf(promql('bad_total'), promql('all_total')), undefined],
];

for (const [index, [title, seconds, slo, expected]] of intervalCases.entries())
  test.serial(`a slice that is shorter than the interval of points is a warning: ${title}`, async (t) => {
    const tenant = `interval-${index}`;
    const points = Array.from({ length: 7200 / seconds }, (_, at): TestPoint => ({ at: at * seconds, value: at }));
    const counter = { kind: 'sum', temporality: 2, monotonic: true, points, lastSeen: 7200 } as const;
    await tables.put([
      {
        tenant,
        series: [
          { id: 1, metric: 'all', ...counter },
          { id: 2, metric: 'bad', ...counter },
        ],
      },
    ]);
    const reader = {
      ...createReader(tables.columns, tenant),
      promql: { translation: readTranslation(parseSettings({})) },
    };
    const warnings = await findPointIntervalWarnings(slo, reader as never, epoch + 7_200_000);
    if (expected === undefined) t.deepEqual(warnings, []);
    else t.regex(warnings.toSorted()[1] ?? '', expected);
  });

for (const [index, [title, kind, minSeconds, maxSeconds]] of cases.entries())
  test.serial(`counts of an objective are exact: ${title}`, async (t) => {
    const random = seeded(index + 1);
    const tenant = `exact-${index}`;
    const times = timesOf(random, minSeconds, maxSeconds);
    const total = (sources[kind] as (typeof sources)[string])(times, () => 20 + random(20));
    const bad = (sources[kind] as (typeof sources)[string])(times, () => (random(3) === 0 ? random(9) : 0));
    const temporality = kind === 'gauge' ? 0 : kind === 'delta' ? 1 : 2;
    const series = { kind: kind === 'gauge' ? 'gauge' : 'sum', temporality, monotonic: kind !== 'gauge' } as const;
    await tables.put([
      {
        tenant,
        series: [
          { id: 1, metric: 'all', ...series, points: total.points },
          { id: 2, metric: 'bad', ...series, points: bad.points },
        ],
      },
    ]);
    const overTime = kind === 'gauge' ? 'sum' : 'increase';
    const slices = await measureLikeSchedule(sloOf(metric('bad', overTime), metric('all', overTime)), tenant);
    const expected = Array.from({ length: hours * 60 }, (_, minute) => ({
      minute,
      all: inSlice(total.increases, minute),
      wrong: inSlice(bad.increases, minute),
    })).filter(({ all }) => all.numerator > 0n);
    t.deepEqual(
      slices.map(([beginMs]) => (beginMs - epoch) / minuteMs),
      expected.map(({ minute }) => minute),
    );
    for (const [place, { minute, all, wrong }] of expected.entries()) {
      const [, good = 0, every = 0] = slices[place] ?? [];
      t.true(Math.abs(every - fractionToNumber(all)) < 1e-7, `total of minute ${minute}`);
      t.true(Math.abs(every - good - fractionToNumber(wrong)) < 1e-7, `bad of minute ${minute}`);
    }
    const [all, wrong] = [total, bad].map(({ increases }) => sum(increases.map(({ grown }) => thousandths(grown))));
    for (const sums of await storedSums(tenant, slices)) {
      t.is(compare(sums.total, all as Fraction), 0, `total ${fractionToNumber(sums.total)}`);
      t.is(compare(sums.bad, wrong as Fraction), 0, `bad ${fractionToNumber(sums.bad)}`);
      t.is(compare(sums.good, subtract(all as Fraction, wrong as Fraction)), 0);
      t.is(sums.slicesWithData, slices.length);
    }
  });

test.serial('counts of a formula over counters with rare points are exact', async (t) => {
  const random = seeded(99);
  const tenant = 'exact-formula';
  const [good, bad] = [20, 1].map((least) =>
    (sources['counter'] as (typeof sources)[string])(timesOf(random, 90, 400), () => least + random(9)),
  ) as [Source, Source];
  await tables.put([
    {
      tenant,
      series: [
        { id: 1, metric: 'good', kind: 'sum', temporality: 2, monotonic: true, points: good.points },
        { id: 2, metric: 'bad', kind: 'sum', temporality: 2, monotonic: true, points: bad.points },
      ],
    },
  ]);
  const total = { kind: 'formula', expression: 'a + b', queries: { a: metric('good'), b: metric('bad') } };
  const slices = await measureLikeSchedule(sloOf(metric('bad'), total), tenant);
  const expected = Array.from({ length: hours * 60 }, (_, minute) =>
    [good, bad].map(({ increases }) => inSlice(increases, minute)),
  ).filter(([one, other]) => one?.numerator !== 0n && other?.numerator !== 0n);
  for (const sums of await storedSums(tenant, slices)) {
    t.true(
      Math.abs(fractionToNumber(sums.good) - fractionToNumber(sum(expected.map(([one]) => one as Fraction)))) < 1e-6,
    );
    t.true(
      Math.abs(fractionToNumber(sums.bad) - fractionToNumber(sum(expected.map(([, one]) => one as Fraction)))) < 1e-6,
    );
  }
});

test.serial('slices with fractions count in each budgeting method', async (t) => {
  const slices: MeasuredSlice[] = [
    [epoch, 0.75, 1.5],
    [epoch + minuteMs, 0.1, 0.3],
    [epoch + 2 * minuteMs, 0.000000001, 0.000000001],
    [epoch + 3 * minuteMs, 3, 4],
  ];
  const expected = {
    occurrences: [3.850000001, 5.800000001],
    timeslices: [3, 4],
    'ratio-timeslices': [31 / 12, 4],
  } as const;
  for (const [budgeting, [good, total]] of Object.entries(expected))
    for (const sums of await storedSums(`fractions-${budgeting}`, slices, {
      ...objective,
      budgeting: budgeting as keyof typeof expected,
      ...(budgeting === 'timeslices' && { sliceTarget: 0.5 }),
    }))
      t.deepEqual([fractionToNumber(sums.good), fractionToNumber(sums.total)], [good, total], budgeting);
});

test('a count is a decimal without the error of its binary calculation', (t) => {
  for (const [value, rounded] of [
    [0.1 + 0.2, 0.3],
    [1 / 3, 0.333333333],
    [12_345_678 + 0.1 + 0.02, 12_345_678.12],
    [9_007_199_254_740_991, 9_007_199_254_740_991],
    [4e-10, 0],
  ] as const)
    t.is(roundCount(value), rounded);
});
