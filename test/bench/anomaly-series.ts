/**
 * Seeded series of a synthetic system: ten kinds with a step of five minutes, and changes that can be planted into
 * each. A kind has the usual deviation at each time, so the size of a planted change is a multiple of the deviation
 * there.
 */
import { randomOf } from '../cases/random.ts';

export const stepMs = 300_000;
/** A Monday. */
export const startMs = Date.UTC(2026, 0, 5);
export const day = 288;
export const week = 7 * day;

export interface Series {
  readonly values: Float64Array;
  /** The usual deviation at each index from the mean of the hour before, including outliers of its own. */
  readonly deviation: Float64Array;
  /** Limits of the values. */
  readonly low: number;
  readonly high: number;
  readonly isWhole: boolean;
}

interface Dice {
  readonly uniform: () => number;
  readonly normal: () => number;
  readonly between: (low: number, high: number) => number;
  readonly poisson: (mean: number) => number;
}

const diceOf = (seed: number): Dice => {
  const uniform = randomOf(seed * 7919 + 13);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const between = (low: number, high: number): number => low + (high - low) * uniform();
  const poisson = (mean: number): number => {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
    let [product, count] = [uniform(), 0];
    const limit = Math.exp(-mean);
    while (product > limit) [product, count] = [product * uniform(), count + 1];
    return count;
  };
  return { uniform, normal, between, poisson };
};

/** Daily and weekly activity of people: 0 at night to 1 by day, less on weekends. */
const people = (dice: Dice): ((index: number) => number) => {
  const [peak, sharp, weekend] = [dice.between(11, 17), dice.between(1, 2), dice.between(0.3, 0.9)];
  return (index) => {
    const hour = (index % day) / 12;
    const wave = (0.5 + 0.5 * Math.cos((2 * Math.PI * (hour - peak)) / 24)) ** sharp;
    return (0.15 + 0.85 * wave) * (Math.floor(index / day) % 7 >= 5 ? weekend : 1);
  };
};

type Kind = (dice: Dice, length: number) => Series;
const unbounded = { low: 0, high: Number.MAX_VALUE, isWhole: false };
const filled = (length: number, value: (index: number) => number): Float64Array =>
  Float64Array.from({ length }, (_, index) => value(index));

const requests: Kind = (dice, length) => {
  const shape = people(dice);
  const [size, noise] = [dice.between(200, 20_000), dice.between(0.03, 0.1)];
  let carried = 0;
  const values = filled(length, (index) => {
    carried = 0.6 * carried + noise * 0.8 * dice.normal();
    return dice.poisson(size * shape(index) * Math.exp(carried));
  });
  const deviation = filled(length, (index) => {
    const mean = size * shape(index);
    return Math.sqrt(mean + (noise * mean) ** 2);
  });
  return { ...unbounded, values, deviation, isWhole: true };
};

const fewErrors: Kind = (dice, length) => {
  const shape = people(dice);
  const size = dice.between(0.3, 6);
  const values = filled(length, (index) => dice.poisson(size * shape(index)));
  return { ...unbounded, values, deviation: filled(length, (i) => Math.sqrt(size * shape(i)) + 0.3), isWhole: true };
};

const errorShare: Kind = (dice, length) => {
  const shape = people(dice);
  const [size, share] = [dice.between(50, 2000), dice.between(0.002, 0.05)];
  const values = filled(length, (index) => {
    const requests = Math.max(1, dice.poisson(size * shape(index)));
    return Math.min(1, dice.poisson(requests * share) / requests);
  });
  const deviation = filled(length, (index) => Math.sqrt(share / (size * shape(index))));
  return { ...unbounded, values, deviation, high: 1 };
};

const latency: Kind = (dice, length) => {
  const shape = people(dice);
  const [base, noise, often] = [dice.between(20, 400), dice.between(0.05, 0.15), dice.between(0.002, 0.01)];
  let burst = 0;
  const values = filled(length, (index) => {
    if (dice.uniform() < often) burst += base * Math.exp(dice.normal() * 0.7);
    burst *= 0.55;
    return base * (1 + 0.4 * shape(index)) * Math.exp(noise * dice.normal()) + burst;
  });
  return { ...unbounded, values, deviation: filled(length, () => 0.7 * base) };
};

const cpu: Kind = (dice, length) => {
  const shape = people(dice);
  const [base, size, noise] = [dice.between(0.05, 0.2), dice.between(0.1, 0.5), dice.between(0.01, 0.04)];
  let carried = 0;
  const values = filled(length, (index) => {
    carried = 0.8 * carried + noise * 0.6 * dice.normal();
    return Math.min(1, Math.max(0.005, base + size * shape(index) + carried));
  });
  return { ...unbounded, values, deviation: filled(length, () => noise), high: 1 };
};

const sawTooth: Kind = (dice, length) => {
  const [low, height, steps, noise] = [
    dice.between(100, 400),
    dice.between(200, 900),
    dice.between(60, 400),
    dice.between(0.003, 0.02),
  ];
  let [level, top] = [low, low + height];
  const values = filled(length, () => {
    level += (height / steps) * dice.between(0.5, 1.5);
    if (level > top) [level, top] = [low * dice.between(0.95, 1.05), low + height * dice.between(0.9, 1.1)];
    return level + noise * height * dice.normal();
  });
  return { ...unbounded, values, deviation: filled(length, () => (noise + 3 / steps) * height) };
};

const jobEach =
  (period: number): Kind =>
  (dice, length) => {
    const [base, size, noise] = [dice.between(10, 100), dice.between(3, 12), dice.between(0.03, 0.1)];
    const [begins, lasts] = [Math.floor(dice.between(0, period)), Math.floor(dice.between(4, 30))];
    const jitter = 3;
    const values = filled(length, () => base * (1 + noise * dice.normal()));
    for (let first = begins; first < length; first += period) {
      const from = first + Math.round(jitter * (2 * dice.uniform() - 1));
      const to = from + lasts + Math.round(dice.between(-2, 2));
      const height = base * size * dice.between(0.85, 1.15);
      for (let index = Math.max(0, from); index < Math.min(length, to); index++)
        values[index] = (values[index] ?? 0) + height * (1 + 0.05 * dice.normal());
    }
    const deviation = filled(length, (index) => {
      const since = (((index - begins + jitter + 1) % period) + period) % period;
      return since <= lasts + 2 * jitter + 4 ? base * size * 0.4 : noise * base;
    });
    return { ...unbounded, values, deviation };
  };

const constant: Kind = (dice, length) => {
  const value = Math.floor(dice.between(1, 40));
  return {
    ...unbounded,
    values: filled(length, () => value),
    deviation: filled(length, () => value / 20),
    isWhole: true,
  };
};

const queue: Kind = (dice, length) => {
  const [centre, noise, back] = [dice.between(50, 500), dice.between(0.02, 0.08), dice.between(0.005, 0.03)];
  let away = 0;
  const values = filled(length, () => {
    away = (1 - back) * away + noise * dice.normal();
    return Math.round(centre * Math.exp(away));
  });
  return { ...unbounded, values, deviation: filled(length, (i) => 2 * noise * (values[i] ?? 0) + 0.3), isWhole: true };
};

export const kinds: Readonly<Record<string, Kind>> = {
  requests,
  fewErrors,
  errorShare,
  latency,
  cpu,
  sawTooth,
  nightlyJob: jobEach(day),
  weeklyBatch: jobEach(week),
  constant,
  queue,
};

export const seriesOf = (kind: string, seed: number, length: number): Series => {
  const make = kinds[kind];
  if (make === undefined) throw new Error(`there is no kind ${kind}`);
  return make(diceOf(seed * 31 + Object.keys(kinds).indexOf(kind)), length);
};

export interface Change {
  readonly name: string;
  /** The number of steps that it lasts. */
  readonly lasts: number;
  readonly planted: (series: Series, at: number, dice: Dice) => (index: number) => number;
}

const around = (series: Series, at: number): number => {
  const near = Array.from(series.deviation.subarray(at, at + 36)).toSorted((one, other) => one - other);
  return near[near.length >> 1] ?? 0;
};
const shifted =
  (deviations: number) =>
  (series: Series, at: number): ((index: number) => number) => {
    const by = deviations * around(series, at);
    return (index) => (series.values[index] ?? 0) + by;
  };

/** Changes that can be planted, in deviations at their start. */
export const changes: readonly Change[] = [
  {
    name: 'spike',
    lasts: 1,
    planted: (series, at) => (index) => (series.values[index] ?? 0) + 8 * (series.deviation[at] ?? 0),
  },
  {
    name: 'dip',
    lasts: 1,
    planted: (series, at) => (index) => (series.values[index] ?? 0) - 8 * (series.deviation[at] ?? 0),
  },
  { name: 'shiftUp', lasts: day, planted: shifted(4) },
  { name: 'shiftDown', lasts: day, planted: shifted(-4) },
  {
    name: 'ramp',
    lasts: day,
    planted: (series, at) => {
      const by = 8 * around(series, at);
      return (index) => (series.values[index] ?? 0) + by * Math.min(1, (index - at) / 72);
    },
  },
  {
    name: 'noise',
    lasts: 72,
    planted: (series, at, dice) => {
      const by = 4 * around(series, at);
      return (index) => (series.values[index] ?? 0) + by * dice.normal();
    },
  },
  {
    name: 'flat',
    lasts: day,
    planted: (series, at) => () => series.values[at - 1] ?? 0,
  },
];

/** The series with a change from `at` on. Values stay within their limits, as in measured series. */
export const withChange = (series: Series, change: Change, at: number, seed: number): Float64Array => {
  const values = series.values.slice();
  const value = change.planted(series, at, diceOf(seed));
  for (let index = at; index < Math.min(values.length, at + change.lasts); index++) {
    const inside = Math.min(series.high, Math.max(series.low, value(index)));
    values[index] = series.isWhole ? Math.round(inside) : inside;
  }
  return values;
};

/** The average size in deviations that a change needs to count as present. */
const minDeviations: Readonly<Record<string, number>> = {
  spike: 7,
  dip: 7,
  shiftUp: 3.5,
  shiftDown: 3.5,
  ramp: 1.5,
  noise: 3,
  flat: 0.7,
};

/** Whether the limits of the values hide a change, or it changes nothing where it was planted. */
export const isSwallowed = (series: Series, values: Float64Array, change: Change, at: number): boolean => {
  const length = Math.min(change.lasts, 36);
  let moved = 0;
  for (let index = at; index < at + length; index++)
    moved += Math.abs((values[index] ?? 0) - (series.values[index] ?? 0));
  return moved / length < (minDeviations[change.name] ?? 0) * (series.deviation[at] ?? 0);
};

/** Values of a range with their times. `last` is exclusive. */
export const pointsOf = (values: Float64Array, first: number, last: number): [number, number][] =>
  Array.from(values.subarray(first, last), (value, index) => [startMs + (first + index) * stepMs, value]);
