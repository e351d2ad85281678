/** What the scorer keeps of one series: 1,920 bytes that can be stored as they are, with names for their places. */

import { anomalySigns } from '../../schemas/anomalies.ts';

export const hours = 168;
export const quarters = 96;
/** What is watched of a series, each with a past of its own. */
export const signs = anomalySigns;
export const maxPeaks = 9;
/** Ways to foresee the next value (`foresight.ts`). */
export const forecasterCount = 7;

/** Places of numbers that need all their digits or any size: times, the unit of all values, and the rarest that an anomaly was. */
export const exactly = { lastMs: 0, unit: 1, episodeMs: 2, episodeRate: 3 } as const;
const exactNumbers = 4;

/** Places of other single numbers. Values are in units of the series; `levels` and `errors` have one for each foresight. */
export const at = {
  stepMs: 0,
  count: 1,
  last: 2,
  slope: 3,
  /** How far values usually are from what was expected, at any time. */
  spread: 4,
  seasonSpread: 5,
  noisy: 6,
  moving: 7,
  jumpUp: 8,
  jumpDown: 9,
  driftUp: 10,
  driftDown: 11,
  /** How many points have been calm since an anomaly was. */
  calm: 12,
  /** Points of the epochs whose peaks are kept. */
  nowCount: 13,
  pastCount: 14,
  /** The level of weeks, and the power of the level by which values stray. */
  slow: 15,
  growth: 16,
  levels: 17,
  errors: 24,
  /** Jumps up and down: how many came lately, the mean logarithm of their sizes, and how far sizes lie apart. */
  habitUp: 31,
  habitDown: 34,
  sinceJump: 37,
} as const;
const numbers = 38;

/**
 * Places of what is known of the clock that the season goes by: hours that it is ahead of UTC. While it is compared with another one:
 * hours that this is ahead of it, since which day, what has come of it, by how much it is likelier and for how many points that has
 * been clear, and a slow and a fast level beside the season by the other clock.
 */
export const clockAt = { ahead: 0, by: 1, day: 2, stage: 3, evidence: 4, sure: 5, slow: 6, fast: 7 } as const;
const clockNumbers = 8;

/** A state that was stored before clocks were known ends before their numbers, which are 0 then. */
export const stateBytes =
  8 * exactNumbers + 4 * (numbers + quarters + hours + clockNumbers) + 2 * hours + (4 * maxPeaks + 3) * signs.length;

export interface ScorerState {
  readonly bytes: Uint8Array;
  readonly exact: Float64Array;
  readonly numbers: Float32Array;
  /** By quarter of an hour of the day, beside the level. */
  readonly ofDay: Float32Array;
  /** By hour of the week, beside level and day. */
  readonly ofWeek: Float32Array;
  /** How far values stray by hour of the week: the logarithm to base two, in 256ths. */
  readonly strays: Int16Array;
  /** The largest that each sign had, by epoch: the logarithm to base two, in 1024ths; the smallest first. */
  readonly peaks: readonly (readonly [past: Int16Array, now: Int16Array])[];
  /** What each sign is at while it is high, and for how long it has not been. */
  readonly high: Int16Array;
  readonly since: Uint8Array;
  readonly clock: Float32Array;
}

/** The number at a place. */
export const numberAt = (numbers: Float64Array | Float32Array, place: number): number => numbers[place] ?? 0;

const over = (bytes: Uint8Array): ScorerState => {
  const { buffer } = bytes;
  let from = 8 * exactNumbers;
  const reserve = (length: number): number => {
    from += length;
    return from - length;
  };
  const single = new Float32Array(buffer, reserve(4 * numbers), numbers);
  const ofDay = new Float32Array(buffer, reserve(4 * quarters), quarters);
  const ofWeek = new Float32Array(buffer, reserve(4 * hours), hours);
  const strays = new Int16Array(buffer, reserve(2 * hours), hours);
  const list = (): Int16Array => new Int16Array(buffer, reserve(2 * maxPeaks), maxPeaks);
  const peaks = signs.map((): readonly [Int16Array, Int16Array] => [list(), list()]);
  const high = new Int16Array(buffer, reserve(2 * signs.length), signs.length);
  const since = new Uint8Array(buffer, reserve(signs.length), signs.length);
  const clock = new Float32Array(buffer, reserve(4 * clockNumbers), clockNumbers);
  const exact = new Float64Array(buffer, 0, exactNumbers);
  return { bytes, exact, numbers: single, ofDay, ofWeek, strays, peaks, high, since, clock };
};

/** The state of a series of which nothing is known, or a copy of one that was stored. */
export const stateOf = (stored?: Uint8Array): ScorerState => {
  const bytes = new Uint8Array(stateBytes);
  if (stored !== undefined) bytes.set(stored.subarray(0, stateBytes));
  return over(bytes);
};
