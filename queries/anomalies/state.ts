/** What the scorer keeps of one series: 2,048 bytes that can be stored as they are, with names for their places. */

import { anomalySigns } from '../../schemas/anomalies.ts';

export const stateBytes = 2048;
export const hours = 168;
export const quarters = 96;
/** What is watched of a series, each with a past of its own. */
export const signs = anomalySigns;
export const peaksKept = 9;
/** Ways to foresee the next value (`foresight.ts`). */
export const foresights = 7;

/** Places of single numbers. Values are in units of the series; `levels` and `errors` have one for each foresight. */
export const at = {
  lastMs: 0,
  stepMs: 1,
  unit: 2,
  count: 3,
  last: 4,
  slope: 5,
  /** How far values usually are from what was expected, at any time. */
  spread: 6,
  seasonSpread: 7,
  noisy: 8,
  moving: 9,
  jumpUp: 10,
  jumpDown: 11,
  driftUp: 12,
  driftDown: 13,
  /** When the anomaly began that lasts, or 0; the rarest that it was; how many points have been calm since. */
  episodeMs: 14,
  episodeRate: 15,
  calm: 16,
  /** Points of the epochs whose peaks are kept. */
  nowCount: 17,
  pastCount: 18,
  /** The level of weeks, and the power of the level by which values stray. */
  slow: 19,
  growth: 20,
  levels: 21,
  errors: 28,
} as const;
const numbers = 35;

export interface ScorerState {
  readonly bytes: Uint8Array;
  readonly numbers: Float64Array;
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
}

/** The number at a place. */
export const kept = (numbers: Float64Array, place: number): number => numbers[place] ?? 0;

const over = (bytes: Uint8Array): ScorerState => {
  const { buffer } = bytes;
  let from = 8 * numbers;
  const taken = (length: number): number => {
    from += length;
    return from - length;
  };
  const ofDay = new Float32Array(buffer, taken(4 * quarters), quarters);
  const ofWeek = new Float32Array(buffer, taken(4 * hours), hours);
  const strays = new Int16Array(buffer, taken(2 * hours), hours);
  const list = (): Int16Array => new Int16Array(buffer, taken(2 * peaksKept), peaksKept);
  const peaks = signs.map((): readonly [Int16Array, Int16Array] => [list(), list()]);
  const high = new Int16Array(buffer, taken(2 * signs.length), signs.length);
  const since = new Uint8Array(buffer, taken(signs.length), signs.length);
  return { bytes, numbers: new Float64Array(buffer, 0, numbers), ofDay, ofWeek, strays, peaks, high, since };
};

/** The state of a series of which nothing is known, or a copy of one that was stored. */
export const stateOf = (stored?: Uint8Array): ScorerState => {
  const bytes = new Uint8Array(stateBytes);
  if (stored !== undefined) bytes.set(stored.subarray(0, stateBytes));
  return over(bytes);
};
