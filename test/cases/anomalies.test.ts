/** Scores of series with known anomalies. */
import test from 'ava';
import { type Point, type Scored, scoreSeries } from '../../subjects/anomalies/scores/scorer.ts';
import { stateBytes } from '../../subjects/anomalies/scores/state.ts';
import { findRecentChange } from '../../subjects/anomalies/scores/summer-time.ts';
import {
  changes,
  day,
  isSwallowed,
  kinds,
  pointsOf,
  seriesOf,
  startMs,
  stepMs,
  week,
  withChange,
} from '../bench/anomaly-series.ts';
import { randomOf } from './random.ts';

const options = { falseAlarmsPerWeek: 0.1 };
const create = (length: number, value: (index: number) => number | null): Point[] =>
  Array.from({ length }, (_, index) => [startMs + index * stepMs, value(index)]);
const begins = (scored: readonly Scored[]): number[] =>
  scored.flatMap(({ isAnomalous }, i) => (isAnomalous && scored[i - 1]?.isAnomalous !== true ? [i] : []));
const noisy = (seed: number): ((index: number) => number) => {
  const random = randomOf(seed);
  return () => 100 + 10 * (random() + random() + random() - 1.5);
};

test('few clean series of ten kinds alarm, most injected spikes are found at once, and most shifts within the hour', (t) => {
  let [alarms, series, spikes, found, shifts, shiftsFound] = [0, 0, 0, 0, 0, 0];
  const [spike] = changes;
  for (const kind of Object.keys(kinds))
    for (const seed of [201, 202]) {
      const clean = seriesOf(kind, seed, 6 * week);
      const training = scoreSeries(pointsOf(clean.values, 0, 4 * week), options);
      alarms += begins(scoreSeries(pointsOf(clean.values, 4 * week, 6 * week), options, training.state).scored).length;
      series++;
      if (spike === undefined) continue;
      const at = 4 * week + 3 * day + 77;
      const { scored } = scoreSeries(
        pointsOf(withChange(clean, spike, at, seed), 4 * week, at + 1),
        options,
        training.state,
      );
      spikes++;
      found += Number(scored.at(-1)?.isAnomalous);
      for (const shift of changes.filter(({ name }) => name.startsWith('shift'))) {
        const values = withChange(clean, shift, at, seed);
        if (isSwallowed(clean, values, shift, at)) continue;
        const seen = scoreSeries(pointsOf(values, 4 * week, at + 12), options, training.state).scored;
        shifts++;
        shiftsFound += Number(seen.slice(-12).some(({ isAnomalous }) => isAnomalous));
      }
    }
  t.log(
    `${alarms} alarms in ${2 * series} weeks, ${found} of ${spikes} spikes and ${shiftsFound} of ${shifts} shifts found`,
  );
  t.true(alarms / (2 * series) <= 0.3, String(alarms));
  t.true(found / spikes >= 0.55, String(found));
  t.true(shiftsFound / shifts >= 0.75, String(shiftsFound));
});

test('points get the same scores in one call as in many with stored state between, independent of later points', (t) => {
  const { values } = seriesOf('requests', 5, 2 * week);
  const points = pointsOf(values, 0, 2 * week);
  const whole = scoreSeries(points, options);
  let state: Uint8Array | undefined;
  const parts = [0, 1, 700, 701, 3000, points.length - 1].flatMap((from, index, all) => {
    const part = scoreSeries(points.slice(from, all[index + 1]), options, state);
    state = Uint8Array.from(part.state);
    return part.scored;
  });
  t.deepEqual(parts, whole.scored as Scored[]);
  t.deepEqual(state, whole.state);
  t.is(whole.state.byteLength, stateBytes);
});

test('an anomaly is an episode: its score is high at its start, and it is anomalous until it ends', (t) => {
  const value = noisy(1);
  const { scored } = scoreSeries(
    create(2000, (i) => value(i) + (i >= 1500 && i < 1524 ? 200 : 0)),
    options,
  );
  t.deepEqual(begins(scored), [1500]);
  t.true((scored[1500]?.score ?? 0) > 0.9999);
  t.is(scored[1500]?.sign, 'up');
  t.true((scored[1500]?.high ?? 1e9) < 200);
  t.true(scored.slice(1501, 1524).every(({ score, isAnomalous }) => isAnomalous && score < 0.1));
  t.false(scored[1650]?.isAnomalous);
});

test('a new level becomes normal within a day', (t) => {
  for (const by of [40, 3000]) {
    const value = noisy(2);
    const { scored } = scoreSeries(
      create(6 * day, (i) => value(i) + (i >= 4 * day ? by : 0)),
      options,
    );
    const found = begins(scored);
    t.true(found.length === 1 && (found[0] ?? 0) >= 4 * day && (found[0] ?? 0) <= 4 * day + 3, `${by}: ${found}`);
    t.false(scored.at(-1)?.isAnomalous, String(by));
    t.true(Math.abs((scored.at(-1)?.expected ?? 0) - 100 - by) < 20, String(by));
  }
});

test('gaps, late or duplicate points, and points without a value never alarm', (t) => {
  const value = noisy(3);
  const before = create(2000, value);
  const last = before.at(-1)?.[0] ?? 0;
  const after = (ms: number): Point[] => Array.from({ length: 400 }, (_, i) => [last + ms + i * stepMs, value(i)]);
  const cases: Record<string, readonly Point[]> = {
    'a gap of a month': [...before, ...after(30 * 86_400_000)],
    'a gap of an hour': [...before, ...after(3_600_000)],
    replayed: [...before, ...before.slice(-500), ...after(stepMs)],
    'late and large': [...before, [last - 5000, 1e9], ...after(stepMs)],
    twice: before.flatMap((point): Point[] => [point, [point[0], 1e9]]),
    'without a value': [
      ...before,
      [last + 1, null],
      [last + 2, Number.NaN],
      [last + 3, Number.POSITIVE_INFINITY],
      ...after(stepMs),
    ],
  };
  for (const [name, points] of Object.entries(cases))
    t.deepEqual(begins(scoreSeries(points, options).scored), [], name);
});

test('scores are probabilities and bounds are numbers for all values', (t) => {
  const random = randomOf(4);
  const cases: Record<string, readonly Point[]> = {
    three: create(3, (i) => i),
    zeros: create(1000, () => 0),
    constant: create(1000, () => 7),
    huge: create(1000, () => 1e300 * random()),
    tiny: create(1000, () => 1e-300 * random()),
    negative: create(1000, () => -1e300 * random()),
    'of all sizes': create(1000, (i) => 10 ** ((i * 37) % 300)),
    'first zero': create(1000, (i) => (i < 500 ? 0 : 5 + random())),
  };
  for (const [name, points] of Object.entries(cases))
    for (const { score, expected, low, high } of scoreSeries(points, options).scored.slice(1)) {
      t.true(score >= 0 && score <= 1, name);
      t.true(
        [expected, low, high].every((bound) => bound !== null && !Number.isNaN(bound)),
        name,
      );
    }
});

test('a constant series never alarms until it changes', (t) => {
  const { scored } = scoreSeries(
    create(2000, (i) => (i < 1900 ? 4 : 5)),
    options,
  );
  t.deepEqual(begins(scored), [1900]);
});

test('a lower false alarm rate gives wider bounds', (t) => {
  const points = create(2000, noisy(5));
  const high = [0.01, 0.1, 1, 10].map(
    (falseAlarmsPerWeek) => scoreSeries(points, { falseAlarmsPerWeek }).scored.at(-1)?.high ?? 0,
  );
  t.deepEqual(
    high,
    high.toSorted((one, other) => other - one),
  );
  t.is(new Set(high).size, 4);
});

test('drops of a sawtooth series are normal, and a drop of a third of its height is found', (t) => {
  const random = randomOf(6);
  let level = 0;
  const values = create(4 * week, (index) => {
    level = level > 900 + 40 * random() ? 20 * random() : level + 8 * random();
    return 100 + level - (index >= 3.5 * week + 100 && index < 3.5 * week + 130 ? 300 : 0);
  });
  const { scored } = scoreSeries(values, options);
  t.is(
    begins(scored).find((index) => index >= 2.5 * week),
    3.5 * week + 100,
  );
  t.is(scored[3.5 * week + 100]?.sign, 'down');
});

test('a shift in a series with a recurring job is found, and the job does not alarm', (t) => {
  const random = randomOf(7);
  const noise = noisy(8);
  let begin = 0;
  const values = create(5 * week, (index) => {
    if (index % day === 0) begin = 100 + Math.round(6 * random());
    const inDay = index % day;
    const isShifted = index >= 4.5 * week && index < 4.5 * week + 60;
    return noise(index) + (inDay >= begin && inDay < begin + 20 ? 800 : 0) + (isShifted ? 28 : 0);
  });
  const found = begins(scoreSeries(values, options).scored).filter((index) => index >= 3 * week);
  t.is(found.length, 1, String(found));
  t.true((found[0] ?? 0) >= 4.5 * week && (found[0] ?? 0) <= 4.5 * week + 12, String(found));
});

test('time zones worldwide change their offset only on days on which the scorer searches for a change', (t) => {
  const dayMs = 86_400_000;
  for (const zone of [
    ...['America/New_York', 'America/Havana', 'America/Santiago', 'Europe/Berlin', 'Europe/Chisinau', 'Africa/Cairo'],
    ...['Asia/Jerusalem', 'Asia/Beirut', 'Australia/Sydney', 'Pacific/Auckland'],
  ]) {
    const clock = new Intl.DateTimeFormat('en', { timeZone: zone, hour: 'numeric', hourCycle: 'h23' });
    const aheadAt = (ms: number): number => (Number(clock.format(ms)) - new Date(ms).getUTCHours() + 24) % 24;
    let found = 0;
    for (let dayAt = Date.UTC(2024, 0, 1); dayAt < Date.UTC(2026, 0, 1); dayAt += dayMs) {
      const by = (aheadAt(dayAt + dayMs) - aheadAt(dayAt) + 24) % 24;
      if (by === 0) continue;
      found++;
      const change = findRecentChange(dayAt + dayMs);
      t.is(change?.by, by === 1 ? 1 : -1, `${zone}: ${new Date(dayAt).toISOString()}`);
      t.true(change !== undefined && dayAt + dayMs - change.day * dayMs <= 10 * dayMs, zone);
    }
    t.is(found, 4, zone);
    t.is(findRecentChange(Date.UTC(2025, 6, 15)), undefined);
  }
});

test('after each daylight saving change, a series that follows local time alarms once or twice', (t) => {
  const hour = 12;
  for (const [name, changeMs, by] of [
    ['forwards', Date.UTC(2026, 2, 29, 1), hour],
    ['back', Date.UTC(2026, 9, 25, 1), -hour],
  ] as const) {
    const learning = 5 * week;
    const random = randomOf(9);
    const noise = noisy(10);
    const jobs = Array.from({ length: 9 * 7 }, () => 100 + Math.round(3 * random()));
    const job = Float64Array.from({ length: 8 * week + day }, (_, index) => {
      const begins = jobs[Math.floor(index / day)] ?? 0;
      return noise(index) + (index % day >= begins && index % day < begins + 15 ? 800 : 0);
    });
    for (const values of [job, seriesOf('requests', 900, 8 * week + day).values]) {
      const beginsAfter = (later: number): number => {
        const points = Array.from(
          { length: 8 * week },
          (_, index): Point => [
            changeMs + (index - learning) * stepMs,
            values[index + (index < learning ? 0 : later)] ?? 0,
          ],
        );
        return begins(scoreSeries(points, options).scored).filter((index) => index >= learning).length;
      };
      t.is(beginsAfter(0), 0, name);
      t.true([1, 2].includes(beginsAfter(by)), name);
    }
  }
});

test('a state stored before time zones and records were supported is continued', (t) => {
  const points = pointsOf(seriesOf('requests', 5, 4 * week).values, 0, 4 * week);
  const { state } = scoreSeries(points.slice(0, 3 * week), options);
  const next = points.slice(3 * week);
  const known = scoreSeries(next, options, state);
  // Such states lack 8 numbers for clocks and 14 for records.
  const older = scoreSeries(next, options, state.subarray(0, stateBytes - 4 * 22)).scored;
  t.deepEqual(begins(older), begins(known.scored));
  t.deepEqual(older.at(-1)?.expected, known.scored.at(-1)?.expected);
});

test('a point that is sent twice changes neither the step nor any later score', (t) => {
  const random = noisy(5);
  const points = create(4_000, (index) => (index === 3_000 ? 900 : random(index)));
  const [time = 0] = points[1_000] ?? [];
  const repeated = points.toSpliced(1_001, 0, [time + 1_000, 100]);
  const [once, twice] = [points, repeated].map((each) => begins(scoreSeries(each, options).scored));
  t.deepEqual(once, [3_000]);
  t.deepEqual(twice, [3_001]);
});

test('a changed step is learned, and points of the new step are scored', (t) => {
  const random = noisy(6);
  const [first, second] = [create(1_500, random), create(3_000, random)];
  const startOfSecond = (first.at(-1)?.[0] ?? 0) + stepMs;
  const faster = second.map(
    ([, value], index): Point => [startOfSecond + (index * stepMs) / 10, index === 2_900 ? 900 : value],
  );
  const { scored } = scoreSeries([...first, ...faster], options);
  t.true(begins(scored).some((index) => scored[index]?.timeMs === faster[2_900]?.[0]));
});

test('a series that never changes is never unusual, however many false alarms are allowed', (t) => {
  for (const value of [0, 5])
    for (const falseAlarmsPerWeek of [2, 20])
      t.deepEqual(
        begins(
          scoreSeries(
            create(6 * week, () => value),
            { falseAlarmsPerWeek },
          ).scored,
        ),
        [],
      );
});

/** Activity for some hours, then a pause of up to five hours. */
const withPauses = (seed: number): ((index: number) => number) => {
  const random = randomOf(seed);
  let [isActive, left] = [true, 0];
  return () => {
    if (left-- <= 0) [isActive, left] = [!isActive, 12 + Math.floor(random() * 48)];
    return isActive ? 5 + 2 * random() : 0;
  };
};

test('a silence that is several times as long as any pause is found, and pauses are not', (t) => {
  const value = withPauses(7);
  const silenceStart = 2 * week;
  const points = create(silenceStart + 2 * day, (index) => (index < silenceStart ? value(index) : 0));
  const { scored } = scoreSeries(points, options);
  const found = begins(scored).filter((index) => scored[index]?.sign === 'flat');
  t.is(found.length, 1);
  t.true((found[0] ?? 0) > silenceStart);
});

test('a slow slide to a level that the series never had is found', (t) => {
  const random = randomOf(8);
  let level = 0;
  const slideStart = 3 * week;
  const points = create(slideStart + day, (index) => {
    level += -0.002 * level + 0.3 * (random() - 0.5);
    return 100 + level + 0.05 * random() + Math.max(0, index - slideStart) * 0.08;
  });
  t.true(begins(scoreSeries(points, options).scored).some((index) => index > slideStart));
});
