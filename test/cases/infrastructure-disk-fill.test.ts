/** When a disk will be full, from synthetic histories with a known end. */
import test from 'ava';
import { forecastFull, type UsagePoint } from '../../subjects/infrastructure/disk-fill.ts';
import { randomOf } from './random.ts';

const hourMs = 3_600_000;
const GiB = 1024 ** 3;
const hours = (days: number, used: (hour: number) => number): UsagePoint[] =>
  Array.from({ length: days * 24 + 1 }, (_, hour) => ({ atMs: hour * hourMs, used: used(hour) }));
const last = (history: readonly UsagePoint[]): number => history.at(-1)?.used ?? 0;
const fillOf = (history: readonly UsagePoint[], ceiling: number | undefined) =>
  forecastFull(history, { ceiling, used: last(history) });

test('a straight line reaches the limit at the calculated time', (t) => {
  // 10 GiB, growing by 2 GiB a day for 7 days: 24 GiB now, 76 GiB left: 38 days.
  const found = fillOf(
    hours(7, (hour) => 10 * GiB + (hour * 2 * GiB) / 24),
    100 * GiB,
  );
  t.true(Math.abs((found.value ?? 0) - 38) < 1e-6, JSON.stringify(found));
  t.true(Math.abs((found.bytesPerDay ?? 0) - 2 * GiB) < 1);
  t.true((found.low ?? 99) <= 38 + 1e-6 && (found.high ?? 0) >= 38 - 1e-6);
});

test('a cleanup in the middle and an hour-long burst do not change the trend', (t) => {
  const grown = (hour: number): number => 20 * GiB + (hour * GiB) / 24;
  const history = hours(10, (hour) => grown(hour) + (hour === 100 ? 30 * GiB : 0));
  const found = fillOf(history, 60 * GiB);
  t.true(Math.abs((found.value ?? 0) - 30) < 0.5, JSON.stringify(found));
});

const reasons: readonly [title: string, history: UsagePoint[], ceiling: number | undefined, reason: RegExp][] = [
  ['no ceiling', hours(7, (hour) => hour * GiB), undefined, /capacity is unknown/],
  ['one day', hours(1, (hour) => hour * GiB), 900 * GiB, /1\.0 days of history with 25 hours are too few/],
  ['no history', [{ atMs: 0, used: 1 }], 900 * GiB, /0\.0 days of history/],
  ['flat', hours(7, () => 5 * GiB), 9 * GiB, /not filling/],
  ['shrinking', hours(7, (hour) => 90 * GiB - hour * GiB * 0.1), 100 * GiB, /not filling: it changes by between -/],
  ['a sawtooth without a trend', hours(7, (hour) => 50 * GiB + (hour % 24) * GiB), 100 * GiB, /not filling steadily/],
  [
    'too slow for its history',
    hours(3, (hour) => 10 * GiB + hour * 1000),
    100 * GiB,
    /more than 30 days away: 3\.0 days/,
  ],
];
for (const [title, history, ceiling, reason] of reasons)
  test(`${title} gives no number of days, and the reason explains why`, (t) => {
    const found = fillOf(history, ceiling);
    t.is(found.value, null, JSON.stringify(found));
    t.regex(found.reason ?? '', reason);
  });

test('a full disk reports zero days until full', (t) => {
  t.is(forecastFull([], { ceiling: 5, used: 5 }).value, 0);
});

test('for 200 noisy histories, at least 80 % of the 90 % intervals contain the true day', (t) => {
  const random = randomOf(7);
  let [held, predictedCount] = [0, 0];
  for (let round = 0; round < 200; round++) {
    let noise = 0;
    const perDay = (1 + random() * 3) * GiB;
    // The deviation of each hour includes 70 % of the previous deviation.
    const history = hours(14, (hour) => {
      noise = 0.7 * noise + (random() + random() + random() - 1.5) * GiB;
      return 40 * GiB + (hour * perDay) / 24 + noise;
    });
    const found = fillOf(history, 200 * GiB);
    if (found.value === null) continue;
    predictedCount++;
    const truth = (200 * GiB - last(history)) / perDay;
    if ((found.low ?? Infinity) <= truth && truth <= (found.high ?? Infinity)) held++;
  }
  t.log(`${held} of ${predictedCount}`);
  t.true(predictedCount > 190 && held / predictedCount >= 0.8, `${held} of ${predictedCount}`);
});
