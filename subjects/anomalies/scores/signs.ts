/** Signs of an anomaly in a series: each has a current size and a history of its sizes. */
import { maxPeaks, type ScorerState, signs, slots } from './state.ts';
import { getSizeAtRate, packSize, recordPeak, type Tail, unpackSize } from './tails.ts';

export type Sign = (typeof signs)[number];

/**
 * Added to sizes that are compared by logarithm, so that tails are neither lighter nor much heavier than exponential
 * ones.
 */
const sizeOffset = 3;
/** Size of each sign at rest. */
const restingSizes = [sizeOffset, sizeOffset, sizeOffset, sizeOffset, 2 * sizeOffset, 2 * sizeOffset, 2.6, 1.8];
const weekMs = 604_800_000;
/**
 * Weeks after which peaks restart, because the first ones were learned with little history, and often belong to a start
 * or an outage; afterwards every `maxEpochWeeks`.
 */
const rotations = [1 / 7, 2 / 7, 4 / 7, 9 / 7, 2, 4];
const maxEpochWeeks = 2.5;

const clamp = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));
const addToSum = (numbers: Float32Array, slot: number, amount: number): number => {
  const sum = Math.max(0, (numbers[slot] ?? 0) + amount);
  numbers[slot] = sum;
  return sum;
};

/**
 * A value and its deviation, in units of normal deviation: from the expected value, and from the forecast of a steady
 * level.
 */
export interface Offsets {
  readonly value: number;
  readonly deviation: number;
  readonly deviationFromExpected: number;
  readonly deviationFromSteady: number;
  /** Factor that reduces deviations in sums where values deviate more than elsewhere. */
  readonly roughness: number;
}

/** Returns the size of each sign. */
export const computeSizes = (
  { numbers }: ScorerState,
  { value, deviation: stray, deviationFromExpected, deviationFromSteady, roughness }: Offsets,
): Float64Array => {
  const [jump, drift] = [clamp(deviationFromExpected / roughness, 100), clamp(deviationFromSteady / roughness, 3)];
  const noise = 0.85 * (numbers[slots.noisy] ?? 0) + 0.15 * Math.min(6, Math.abs(deviationFromExpected));
  const movement = Math.min(3, Math.abs(value - (numbers[slots.last] ?? value)) / stray);
  const averageMovement = 0.9 * (numbers[slots.moving] ?? 0) + 0.1 * movement;
  numbers[slots.noisy] = noise;
  numbers[slots.moving] = averageMovement;
  numbers[slots.last] = value;
  return Float64Array.of(
    sizeOffset + deviationFromExpected,
    sizeOffset - deviationFromExpected,
    sizeOffset + addToSum(numbers, slots.jumpUp, jump - 1.5),
    sizeOffset + addToSum(numbers, slots.jumpDown, -jump - 1.5),
    2 * sizeOffset + addToSum(numbers, slots.driftUp, drift - 1.5),
    2 * sizeOffset + addToSum(numbers, slots.driftDown, -drift - 1.5),
    1 + 2 * noise,
    2 / (averageMovement + 0.05),
  );
};

/** Resets the sums of deviations: after a gap, and after an anomaly. */
export const resetSums = ({ numbers }: ScorerState): void => {
  for (const slot of [slots.jumpUp, slots.jumpDown, slots.driftUp, slots.driftDown]) numbers[slot] = 0;
};

/** Limits the sums during an anomaly to 1.5 times the alarm threshold, so that they fall soon after it ends. */
export const limitSums = ({ numbers }: ScorerState, tails: readonly Tail[], rate: number): void => {
  for (const [slot, sign] of [slots.jumpUp, slots.jumpDown, slots.driftUp, slots.driftDown].map(
    (sumSlot, index) => [sumSlot, index + 2] as const,
  )) {
    const tail = tails[sign];
    if (tail !== undefined) numbers[slot] = Math.min(numbers[slot] ?? 0, 1.5 * getSizeAtRate(tail, rate));
  }
};

/** Returns the deviation up or down that has this rate. */
export const getBandWidth = (tail: Tail | undefined, rate: number): number =>
  tail === undefined ? 0 : Math.max(0, Math.min(1e6, getSizeAtRate(tail, rate) - sizeOffset));

const startEpochIfDue = (state: ScorerState): void => {
  const { numbers } = state;
  const toWeeks = (points: number): number => (points * (numbers[slots.stepMs] ?? 0)) / weekMs;
  const [count, now] = [numbers[slots.count] ?? 0, (numbers[slots.nowCount] ?? 0) + 1];
  numbers[slots.nowCount] = now;
  const isDue = rotations.some((weeks) => toWeeks(count) >= weeks && toWeeks(count - 1) < weeks);
  if (!(isDue && now > 120) && toWeeks(now) <= maxEpochWeeks) return;
  storePeaks(state);
  numbers[slots.pastCount] = now;
  numbers[slots.nowCount] = 0;
  for (const [past, present] of state.peaks) {
    past.set(present);
    present.fill(0);
  }
};

/** Stores the current sizes of the signs as peaks, although they have not fallen yet. */
export const storePeaks = (state: ScorerState): void => {
  for (let sign = 0; sign < signs.length; sign++) recordPeak(state, sign, state.high[sign] ?? 0);
};

/** Accepts long-lasting behavior as normal: noise and stillness at once, because nothing else makes them normal. */
export const acceptAsNormal = (state: ScorerState, sizes: Float64Array): void => {
  for (const [sign, size] of sizes.entries())
    for (let times = sign < signs.indexOf('noise') ? 1 : maxPeaks; times > 0; times--)
      recordPeak(state, sign, packSize(size));
};

/** Rarity of a point. */
export interface Rarity {
  readonly sizes: Float64Array;
  /** By sign. */
  readonly tails: readonly Tail[];
  /** By sign, followed by those of records. */
  readonly rates: readonly number[];
  /** Rate of the rarest sign, per week; and the rate below which the point is anomalous. */
  readonly rate: number;
  readonly limit: number;
}

/**
 * Stores the size of each sign as a peak whenever it has fallen by half. During an anomaly, the size counts at most as
 * the largest size that is not anomalous.
 */
export const updatePeaks = (state: ScorerState, { sizes, tails, limit }: Rarity, isAnomalous: boolean): void => {
  startEpochIfDue(state);
  for (const [sign, tail] of tails.entries())
    updatePeak(state, sign, Math.min(sizes[sign] ?? 0, isAnomalous ? getSizeAtRate(tail, limit) : Number.MAX_VALUE));
};

const updatePeak = (state: ScorerState, sign: number, size: number): void => {
  const [packedSize, high] = [packSize(size), state.high[sign] ?? 0];
  const since = (state.since[sign] ?? 0) + 1;
  if (packedSize > high) [state.high[sign], state.since[sign]] = [packedSize, 0];
  else if (size >= ((restingSizes[sign] ?? 1) + unpackSize(high)) / 2) return;
  else if (since < 6) state.since[sign] = since;
  else {
    recordPeak(state, sign, high);
    [state.high[sign], state.since[sign]] = [packedSize, 0];
  }
};
