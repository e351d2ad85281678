/** State of the scorer for one series: 1,976 bytes that are stored unchanged, with named slots. */

import { anomalySigns } from '../../../schemas/anomalies.ts';

export const hours = 168;
export const quarters = 96;
/** Signs of a series, each with its own history. */
export const signs = anomalySigns;
export const maxPeaks = 9;
/** Number of ways to forecast the next value (`forecaster.ts`). */
export const forecasterCount = 7;

/**
 * Slots of numbers that need full precision or any magnitude: times, the unit of all values, and the rarest rate of an
 * anomaly.
 */
export const exactSlots = { lastMs: 0, unit: 1, episodeMs: 2, episodeRate: 3 } as const;
const exactNumbers = 4;

/** Slots of other single numbers. Values are in units of the series; `levels` and `errors` have one per forecaster. */
export const slots = {
  stepMs: 0,
  count: 1,
  last: 2,
  slope: 3,
  /** Typical deviation of values from the expected value, at any time. */
  spread: 4,
  seasonSpread: 5,
  noisy: 6,
  moving: 7,
  jumpUp: 8,
  jumpDown: 9,
  driftUp: 10,
  driftDown: 11,
  /** Number of calm points since the last anomaly. */
  calm: 12,
  /** Number of points of the epochs whose peaks are stored. */
  nowCount: 13,
  pastCount: 14,
  /** Level over weeks, and the power of the level that scales the deviation. */
  slow: 15,
  growth: 16,
  levels: 17,
  errors: 24,
  /** Jumps up and down: their recent number, the mean logarithm of their sizes, and the spread of sizes. */
  habitUp: 31,
  habitDown: 34,
  sinceJump: 37,
} as const;
const numberCount = 38;

/**
 * Slots of the state of the season's clock: hours ahead of UTC. While another clock is compared: its hours ahead of
 * this one, the first day, the stage, the evidence for it and for how many points the evidence has been sufficient.
 * Then a slow and a fast level relative to the season by the other clock.
 */
export const clockSlots = { ahead: 0, by: 1, day: 2, stage: 3, evidence: 4, sure: 5, slow: 6, fast: 7 } as const;
const clockNumbers = 8;

/**
 * Slots of records over weeks (`records.ts`): the number of points; the current, the longest and the number of pauses;
 * the current burst, its peak and the largest one; the level, its range, and its peaks
 * outside of the range; and 1 if the ongoing anomaly began with a record.
 */
export const recordSlots = {
  count: 0,
  pause: 1,
  longestPause: 2,
  pauses: 3,
  burst: 4,
  burstPeak: 5,
  largestBurst: 6,
  level: 7,
  high: 8,
  low: 9,
  highPeak: 10,
  lowPeak: 11,
  isRecordAnomaly: 12,
} as const;
const recordNumbers = 14;

/** Size of a state. States from versions without clocks or records are shorter; the numbers that they lack are 0. */
export const stateBytes =
  8 * exactNumbers +
  4 * (numberCount + quarters + hours + clockNumbers + recordNumbers) +
  2 * hours +
  (4 * maxPeaks + 3) * signs.length;

export interface ScorerState {
  readonly bytes: Uint8Array;
  readonly exact: Float64Array;
  readonly numbers: Float32Array;
  /** By quarter hour of the day, relative to the level. */
  readonly dayProfile: Float32Array;
  /** By hour of the week, relative to level and day. */
  readonly weekProfile: Float32Array;
  /** Deviation by hour of the week: the base-2 logarithm, in 256ths. */
  readonly hourDeviations: Int16Array;
  /** Peaks of each sign, by epoch: the base-2 logarithm, in 1024ths; smallest first. */
  readonly peaks: readonly (readonly [past: Int16Array, now: Int16Array])[];
  /** Size of each sign while it is high, and the time since it was. */
  readonly high: Int16Array;
  readonly since: Uint8Array;
  readonly clock: Float32Array;
  readonly records: Float32Array;
}

/** Returns the number in a slot. */
export const readSlot = (numbers: Float64Array | Float32Array, slot: number): number => numbers[slot] ?? 0;

const createViews = (bytes: Uint8Array): ScorerState => {
  const { buffer } = bytes;
  let offset = 8 * exactNumbers;
  const reserveBytes = (length: number): number => {
    offset += length;
    return offset - length;
  };
  const single = new Float32Array(buffer, reserveBytes(4 * numberCount), numberCount);
  const dayProfile = new Float32Array(buffer, reserveBytes(4 * quarters), quarters);
  const weekProfile = new Float32Array(buffer, reserveBytes(4 * hours), hours);
  const hourDeviations = new Int16Array(buffer, reserveBytes(2 * hours), hours);
  const createPeakList = (): Int16Array => new Int16Array(buffer, reserveBytes(2 * maxPeaks), maxPeaks);
  const peaks = signs.map((): readonly [Int16Array, Int16Array] => [createPeakList(), createPeakList()]);
  const high = new Int16Array(buffer, reserveBytes(2 * signs.length), signs.length);
  const since = new Uint8Array(buffer, reserveBytes(signs.length), signs.length);
  const clock = new Float32Array(buffer, reserveBytes(4 * clockNumbers), clockNumbers);
  const records = new Float32Array(buffer, reserveBytes(4 * recordNumbers), recordNumbers);
  const exact = new Float64Array(buffer, 0, exactNumbers);
  return { bytes, exact, numbers: single, dayProfile, weekProfile, hourDeviations, peaks, high, since, clock, records };
};

/** Returns the state of a new series, or a copy of a stored one. */
export const restoreState = (stored?: Uint8Array): ScorerState => {
  const bytes = new Uint8Array(stateBytes);
  if (stored !== undefined) bytes.set(stored.subarray(0, stateBytes));
  return createViews(bytes);
};
