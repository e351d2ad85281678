/** Forecasts of series with known next values. */
import test from 'ava';
import { type Forecast, type ForecastOptions, forecast, minValues } from '../../queries/forecast/forecast.ts';
import { computeCrossing } from '../../queries/forecast/threshold-crossing.ts';
import { hourlySeries } from '../bench/hourly-series.ts';
import { randomOf } from './random.ts';

const horizon = 48;
const hours: ForecastOptions = { horizon, periods: [24, 168], kind: 'any' };
const create = (length: number, value: (hour: number) => number): number[] =>
  Array.from({ length }, (_, i) => value(i));
const forecastOf = (values: readonly number[], options: Partial<ForecastOptions> = {}): Forecast => {
  const found = forecast(values, { ...hours, ...options });
  if (found === undefined) throw new Error(`${values.length} values are too few`);
  return found;
};
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test('a repeating season continues', (t) => {
  const wave = (hour: number): number => 100 + 50 * Math.sin((2 * Math.PI * hour) / 24) + (hour % 168 < 48 ? 30 : 0);
  for (const [lead, value] of forecastOf(create(1000, wave)).values.entries())
    t.true(Math.abs(value - wave(1000 + lead)) < 1, `${lead}: ${value}`);
});

test('a constant stays constant, and its interval has no width', (t) => {
  const found = forecastOf(create(100, () => 7));
  t.true(found.values.every((value) => Math.abs(value - 7) < 1e-9));
  t.true(found.intervals(0.95).every(([low, high]) => high - low < 1e-9));
});

test('a trend continues for as many steps as its history, then stays flat', (t) => {
  const { values } = forecastOf(
    create(60, (step) => 10 * step),
    { horizon: 600 },
  );
  t.true(Math.abs((values[20] ?? 0) - 800) < 40, String(values[20]));
  t.true(Math.max(...values) <= 10 * 121, String(Math.max(...values)));
});

test('counts never go below zero and ratios stay within 0 and 1, including their intervals', (t) => {
  const random = randomOf(3);
  const falling = create(200, (step) => Math.max(0, 200 - step + 20 * random()));
  const counts = forecastOf(falling, { kind: 'count' });
  const shares = forecastOf(
    create(200, () => 0.9 + 0.1 * random()),
    { kind: 'share' },
  );
  t.true(counts.values.every((value) => value >= 0));
  t.true(counts.intervals(0.95).every(([low]) => low >= 0));
  t.true(shares.intervals(0.99).every(([low, high]) => low >= 0 && high <= 1));
  t.true(
    forecastOf(falling, { horizon: 150 })
      .intervals(0.95)
      .some(([low]) => low < 0),
  );
});

test('for synthetic hourly series, errors are at most 0.8 of a previous-day forecast, and intervals reach their coverage', (t) => {
  let [errors, naive, in80, in95, count] = [0, 0, 0, 0, 0];
  for (let seed = 1000; seed < 1040; seed++) {
    const series = hourlySeries(seed, 700);
    const [past, truth] = [series.slice(0, -horizon), series.slice(-horizon)];
    const found = forecastOf(past, { kind: 'count' });
    const scale = sum(truth) / horizon || 1;
    errors += sum(truth.map((value, lead) => Math.abs(value - (found.values[lead] ?? 0)))) / scale;
    naive += sum(truth.map((value, lead) => Math.abs(value - (past[past.length - 24 + (lead % 24)] ?? 0)))) / scale;
    const [eighty, ninetyFive] = [found.intervals(0.8), found.intervals(0.95)];
    for (const [lead, value] of truth.entries()) {
      const [[low80, high80], [low95, high95]] = [eighty[lead] ?? [1, 0], ninetyFive[lead] ?? [1, 0]];
      in80 += Number(low80 <= value && value <= high80);
      in95 += Number(low95 <= value && value <= high95);
      count++;
    }
  }
  t.log(`errors ${errors / naive}, in 80 %: ${in80 / count}, in 95 %: ${in95 / count}`);
  t.true(errors / naive < 0.8, String(errors / naive));
  t.true(Math.abs(in80 / count - 0.8) < 0.08, String(in80 / count));
  t.true(Math.abs(in95 / count - 0.95) < 0.05, String(in95 / count));
});

test('if every night was exactly 0 the next night is 0, and rare values are not forced to 0', (t) => {
  const random = randomOf(11);
  const sun = (hour: number): number =>
    hour % 24 > 6 && hour % 24 < 18 ? Math.sin((2 * Math.PI * ((hour % 24) - 6)) / 24) : 0;
  const power = create(480, (hour) => 100 * sun(hour) * (0.3 + 0.7 * random()));
  const found = forecastOf(power, { kind: 'count' });
  for (const [lead, value] of found.values.entries())
    if (sun(480 + lead) < 1e-9) t.is(value, 0, String(lead));
    else if (sun(480 + lead) > 0.3) t.true(value > 5, `${lead}: ${value}`);
  t.true(found.intervals(0.95).every(([low, high]) => low === 0 || low < high));
  const rare = forecastOf(
    create(480, () => Number(random() < 0.2)),
    { kind: 'count' },
  );
  t.true(rare.values.filter((value) => value > 0).length > horizon - 6);
});

test('with few values, intervals reach about their coverage, a trend continues, and a limit crossing has a probability', (t) => {
  let [in80, in95, count] = [0, 0, 0];
  for (let seed = 0; seed < 120; seed++) {
    const random = randomOf(7000 + seed);
    const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    let walk = 100;
    const series = create(16, (step) => {
      walk += 5 * normal();
      return [100 + 10 * normal(), walk, 100 + 8 * step + 5 * normal()][seed % 3] ?? 0;
    });
    const length = 3 + (seed % 10);
    const found = forecastOf(series.slice(0, length), { horizon: 3 });
    for (const [lead, value] of series.slice(length, length + 3).entries()) {
      const isCovered = (share: number): boolean => {
        const [low, high] = found.intervals(share)[lead] ?? [1, 0];
        return low <= value && value <= high;
      };
      in80 += Number(isCovered(0.8));
      in95 += Number(isCovered(0.95));
      count++;
    }
  }
  t.log(`in 80 %: ${in80 / count}, in 95 %: ${in95 / count}`);
  t.true(Math.abs(in80 / count - 0.8) < 0.1, String(in80 / count));
  t.true(Math.abs(in95 / count - 0.95) < 0.06, String(in95 / count));
  const line = forecastOf([10, 20, 30, 40, 50], { horizon: 4 });
  t.true(Math.abs((line.values[3] ?? 0) - 90) < 1, String(line.values));
  t.is(computeCrossing(line, { above: 65 }).steps, 2);
  const falling = forecastOf([9, 6, 3], { horizon: 4, kind: 'count' });
  t.true(falling.values.every((value) => value >= 0) && falling.intervals(0.8).every(([low]) => low >= 0));
});

test('too few values give no forecast', (t) => {
  t.is(
    forecast(
      create(minValues - 1, (step) => step),
      hours,
    ),
    undefined,
  );
});

test('values of 1e300, and similarly small values, give finite forecasts', (t) => {
  for (const unit of [1e300, 1e-300, -1e300]) {
    const found = forecastOf(create(300, (step) => unit * (1 + (step % 24) / 24)));
    t.true(found.values.every(Number.isFinite), String(unit));
    t.true(found.intervals(0.95).flat().every(Number.isFinite), String(unit));
  }
});

test('equal values give equal forecasts, bit by bit', (t) => {
  const values = hourlySeries(5, 600);
  t.deepEqual(forecastOf(values).values, forecastOf([...values]).values);
});

test('a noisy trend crosses a limit at the calculated step, between an earlier and a later bound', (t) => {
  const random = randomOf(9);
  const found = forecastOf(
    create(200, (step) => step + 4 * random()),
    { horizon: 100, periods: [] },
  );
  const above = computeCrossing(found, { above: 242 });
  t.true(Math.abs((above.steps ?? 0) - 40) <= 5, JSON.stringify(above));
  t.true((above.low ?? 99) <= (above.steps ?? 0) && (above.steps ?? 0) <= (above.high ?? 0), JSON.stringify(above));
  t.true(above.probability > 0.9);
  t.is(above.reason, null);
});

test('a limit that is unlikely to be crossed has no step, and the reason includes the probability', (t) => {
  const random = randomOf(9);
  const found = forecastOf(create(300, () => 50 + random()));
  const never = computeCrossing(found, { below: 10 });
  t.deepEqual(never, {
    steps: null,
    low: null,
    high: null,
    probability: 0,
    reason: 'it is not likely to be below 10 within 48 steps: the probability is 0 %',
  });
});

/** Two weeks, and two more, of hourly values with a trend, a daily season and noise. */
const makeTrend = (random: () => number, slope: number, amplitude: number): number[] => {
  const [noise, phase] = [0.2 + random(), 6 * random()];
  return Array.from({ length: 672 }, (_, step) => {
    const roughlyNormal = random() + random() + random() + random() - 2;
    return 50 + slope * step + amplitude * Math.sin((2 * Math.PI * step) / 24 + phase) + 1.7 * noise * roughlyNormal;
  });
};

/** Returns whether a value is beyond a limit in the direction of a slope. */
const isCrossed = (value: number, limit: number, slope: number): boolean => (slope > 0 ? value > limit : value < limit);

test('a trend with a season is preserved, and the interval of a crossing contains its actual time', (t) => {
  const random = randomOf(21);
  const results = Array.from({ length: 40 }, (_, series) => {
    const slope = (0.01 + 0.05 * random()) * (series % 2 === 0 ? 1 : -1);
    const amplitude = [0, 2, 5, 8][series % 4] ?? 0;
    const values = makeTrend(random, slope, amplitude);
    const limit = 50 + slope * 336 * (1.3 + 0.5 * random()) + Math.sign(slope) * amplitude;
    const predicted = forecast(values.slice(0, 336), { horizon: 336, periods: [24, 168], kind: 'any' }) as Forecast;
    const { low, high } = computeCrossing(predicted, slope > 0 ? { above: limit } : { below: limit });
    const crossedAt = 1 + values.slice(336).findIndex((value) => isCrossed(value, limit, slope));
    return {
      slopeShare: ((predicted.values[335] ?? 0) - (predicted.values[167] ?? 0)) / 168 / slope,
      isReached: crossedAt > 0,
      isHeld: low !== null && low <= crossedAt && crossedAt <= (high ?? 336),
    };
  });
  const [median = 0] = results
    .map(({ slopeShare }) => slopeShare)
    .toSorted((left, right) => left - right)
    .slice(20);
  t.true(median > 0.9 && median < 1.1, String(median));
  const reached = results.filter(({ isReached }) => isReached);
  t.true(reached.length > 30);
  const held = reached.filter(({ isHeld }) => isHeld);
  t.true(held.length / reached.length >= 0.85, `${held.length} of ${reached.length}`);
});
