/**
 * Records of a series over weeks: how long nothing moves, how often values are far from the expected ones, and the range
 * of the level. They show what is not visible against forecasts that follow the values: a long silence, a changed rhythm,
 * and a slow slide to a level that the series never had.
 */
import type { Observation } from './measure.ts';
import { readSlot, recordSlots, type ScorerState, slots } from './state.ts';

const [weekMs, dayMs, hourMs] = [604_800_000, 86_400_000, 3_600_000];
/** Minimum number of ended pauses before a longer one can be unusual. */
const minPauses = 8;
/** Number of first points whose deviations are not known well enough for bursts. */
const minBurstPoints = 200;
/** Minimum number of weeks before bursts and levels can be unusual. */
const [minBurstWeeks, minLevelWeeks] = [0.5, 2];
/**
 * A pause or burst becomes rarer by a factor of `e` per this part of the logarithm of its size over the record. For a
 * level, it is the part of the range by which the level leaves the range.
 */
const [pauseExcess, burstExcess, levelExcess] = [0.3, 0.25, 0.1];
/** A value is far from the expected one from this many typical deviations on. */
const farDeviations = 4;
const burstMs = 3 * hourMs;
const levelMs = 4 * hourMs;
/** A single value moves the level by at most this many typical deviations of its pace. */
const maxLevelDeviations = 10;
/** Records are forgotten over this time. */
const forgettingMs = 5 * weekMs;

/** Occurrences per week of a record as large as the current one; infinite without a record. */
export interface RecordRates {
  readonly pause: number;
  readonly burst: number;
  readonly levelUp: number;
  readonly levelDown: number;
}

/** Returns the rates of the current sizes, and learns from the point. */
export const observeRecords = (state: ScorerState, observation: Observation, isResumed: boolean): RecordRates => {
  const { records, numbers } = state;
  const stepMs = readSlot(numbers, slots.stepMs);
  const count = readSlot(records, recordSlots.count) + 1;
  records[recordSlots.count] = count;
  const weeks = Math.max(0.05, (count * stepMs) / weekMs);
  const retention = Math.max(0, 1 - stepMs / forgettingMs);
  const burst = observeBurst(state, observation, { count, stepMs, retention });
  return {
    pause: getPauseRate(observePause(state, observation, isResumed, retention), state, weeks),
    burst:
      weeks < minBurstWeeks
        ? Number.POSITIVE_INFINITY
        : getRateBeyond(burst, readSlot(records, recordSlots.largestBurst), burstExcess, weeks),
    ...observeLevel(state, observation.value, { count, stepMs, retention, weeks }),
  };
};

interface RecordTimes {
  readonly count: number;
  readonly stepMs: number;
  readonly retention: number;
}

const getRateBeyond = (size: number, record: number, excess: number, weeks: number): number =>
  record <= 0 || size <= record ? Number.POSITIVE_INFINITY : Math.exp(-Math.log(size / record) / excess) / weeks;

/** Returns the number of points since the value last moved. */
const observePause = (
  { records, numbers }: ScorerState,
  { value, deviation }: Observation,
  isResumed: boolean,
  retention: number,
): number => {
  const before = readSlot(records, recordSlots.pause);
  const isStill = !isResumed && Math.abs(value - readSlot(numbers, slots.last)) <= 0.02 * deviation;
  const pause = isStill ? before + 1 : 0;
  records[recordSlots.pause] = pause;
  records[recordSlots.longestPause] = retention * readSlot(records, recordSlots.longestPause);
  if (!isStill && before > 2) {
    records[recordSlots.longestPause] = Math.max(before, readSlot(records, recordSlots.longestPause));
    records[recordSlots.pauses] = readSlot(records, recordSlots.pauses) + 1;
  }
  return pause;
};

const getPauseRate = (pause: number, { records }: ScorerState, weeks: number): number =>
  readSlot(records, recordSlots.pauses) < minPauses
    ? Number.POSITIVE_INFINITY
    : getRateBeyond(pause, readSlot(records, recordSlots.longestPause), pauseExcess, weeks);

/** Returns the share of recent values that are far from the expected ones. A burst is a record once it has halved. */
const observeBurst = (
  { records, numbers }: ScorerState,
  { value, expected }: Observation,
  { count, stepMs, retention }: RecordTimes,
): number => {
  if (count < minBurstPoints) return 0;
  const points = Math.max(20, Math.min(200, burstMs / stepMs));
  const isFar = Math.abs(value - expected) > farDeviations * readSlot(numbers, slots.spread);
  const before = readSlot(records, recordSlots.burst);
  const burst = before + (Number(isFar) - before) / points;
  const peak = Math.max(burst, readSlot(records, recordSlots.burstPeak));
  const largest = Math.max(1.5 / points, retention * readSlot(records, recordSlots.largestBurst));
  const hasEnded = burst < 0.5 * peak;
  records[recordSlots.burst] = burst;
  records[recordSlots.burstPeak] = hasEnded ? burst : peak;
  records[recordSlots.largestBurst] = hasEnded ? Math.max(largest, peak) : largest;
  return burst;
};

/**
 * Returns the rates of a level above and below the range. While the level is outside, the range follows it within a day,
 * so a steady growth is never far from it. When the level returns, the range extends to its peak.
 */
const observeLevel = (
  { records, numbers }: ScorerState,
  value: number,
  { count, stepMs, retention, weeks }: RecordTimes & { readonly weeks: number },
): Pick<RecordRates, 'levelUp' | 'levelDown'> => {
  const spread = readSlot(numbers, slots.spread);
  if (count === 1) for (const slot of levelSlots) records[slot] = value;
  const before = readSlot(records, recordSlots.level);
  const maxStep = maxLevelDeviations * spread;
  const level = before + Math.min(1 / 6, stepMs / levelMs) * Math.max(-maxStep, Math.min(maxStep, value - before));
  const high = readSlot(records, recordSlots.high);
  const low = readSlot(records, recordSlots.low);
  const pace = weeks < 0.5 ? 1 : Math.min(1, stepMs / dayMs);
  const highPeak = Math.max(level, readSlot(records, recordSlots.highPeak));
  const lowPeak = Math.min(level, readSlot(records, recordSlots.lowPeak));
  const [isAbove, isBelow] = [level > high, level < low];
  const shrinkage = 1 - retention;
  records[recordSlots.level] = level;
  records[recordSlots.high] = isAbove
    ? high + pace * (level - high)
    : Math.max(high, highPeak) - shrinkage * (high - level);
  records[recordSlots.low] = isBelow ? low + pace * (level - low) : Math.min(low, lowPeak) + shrinkage * (level - low);
  records[recordSlots.highPeak] = isAbove ? highPeak : level;
  records[recordSlots.lowPeak] = isBelow ? lowPeak : level;
  const range = Math.max(high - low, 6 * spread, 1e-12);
  const getRate = (distance: number): number =>
    weeks < minLevelWeeks || distance <= 0
      ? Number.POSITIVE_INFINITY
      : Math.exp(-distance / range / levelExcess) / weeks;
  return { levelUp: getRate(level - high), levelDown: getRate(low - level) };
};
const levelSlots = [
  recordSlots.level,
  recordSlots.high,
  recordSlots.low,
  recordSlots.highPeak,
  recordSlots.lowPeak,
] as const;

/** Marks whether the anomaly that begins has no other sign than a record. */
export const markRecordAnomaly = ({ records }: ScorerState, isRecord: boolean): void => {
  records[recordSlots.isRecordAnomaly] = Number(isRecord);
};

export const isRecordAnomaly = ({ records }: ScorerState): boolean =>
  readSlot(records, recordSlots.isRecordAnomaly) === 1;

/** Accepts long-lasting behavior as normal. */
export const acceptRecords = ({ records }: ScorerState): void => {
  const raise = (record: number, size: number): void => {
    records[record] = Math.max(readSlot(records, record), readSlot(records, size));
  };
  raise(recordSlots.longestPause, recordSlots.pause);
  raise(recordSlots.largestBurst, recordSlots.burst);
  raise(recordSlots.high, recordSlots.level);
  records[recordSlots.low] = Math.min(readSlot(records, recordSlots.low), readSlot(records, recordSlots.level));
};
