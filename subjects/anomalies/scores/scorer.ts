/**
 * Scores how unusual each point of a series is compared with its past: expected value, bounds, and frequency. The
 * scores depend only on the series up to the point, and the same points always have the same scores.
 */
import { compareClocks, compareWithOtherClock, isOtherClockLikelier, recordAlarm, swapClocks } from './clock.ts';
import { adoptNewLevel, beginLevels, learnLevels, moveLevelsTo, scorePredictions, shiftLevels } from './forecaster.ts';
import { isRecurringJump, learnHabit } from './habits.ts';
import { computeOffsets, firstEstimatePoints, type Observation, observe } from './measure.ts';
import { acceptRecords, isRecordAnomaly, markRecordAnomaly, observeRecords, type RecordRates } from './records.ts';
import {
  centerSeason,
  getDeviationAt,
  getSeasonalValue,
  initializeDeviations,
  learnDeviation,
  learnSeason,
} from './season.ts';
import {
  acceptAsNormal,
  computeSizes,
  getBandWidth,
  limitSums,
  type Rarity,
  resetSums,
  type Sign,
  storePeaks,
  updatePeaks,
} from './signs.ts';
import { exactSlots, readSlot, restoreState, type ScorerState, signs, slots } from './state.ts';
import { estimateTail, getOccurrenceRate, packSize } from './tails.ts';

/** A time in milliseconds, and a value or null. */
export type Point = readonly [timeMs: number, value: number | null];

export interface Scored {
  readonly timeMs: number;
  /**
   * Probability that nothing in a week of the series' past is as unusual: near 1 where an anomaly begins or clearly
   * worsens, 0 while it merely continues.
   */
  readonly score: number;
  /** Expected value; `null` if the point has no value, is not later than the previous one, or is the first. */
  readonly expected: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** True from the first point of an anomaly until its end. */
  readonly isAnomalous: boolean;
  /** Rarest sign of an anomalous point. */
  readonly sign: Sign | null;
}

export interface ScoreOptions {
  /** Allowed false alarms per week for this series. */
  readonly falseAlarmsPerWeek: number;
}

const [weekMs, dayMs] = [604_800_000, 86_400_000];
/** Minimum number of points before a point can be anomalous; a day or many more points are required too. */
const minPoints = 120;
const minDayPoints = 600;
/** Signs of one anomaly are correlated: together they raise as many alarms as this number of independent signs. */
const independentSigns = 5;
/** An anomaly ends after this many calm points; after half a day its level counts as normal. */
const calmPoints = 12;
const maxEpisodeMs = dayMs / 2;

/** Scores points in order, continuing from the state of earlier points. */
export const scoreSeries = (
  points: readonly Point[],
  options: ScoreOptions,
  savedState?: Uint8Array,
): { readonly state: Uint8Array; readonly scored: readonly Scored[] } => {
  const state = restoreState(savedState);
  const scored = points.map((point) => scorePoint(state, point, options));
  return { state: state.bytes, scored };
};

/** Returns whether the history of a series is too short for anomalies. */
export const isLearning = (state: Uint8Array): boolean => {
  const { numbers } = restoreState(state);
  return !isTrained(numbers, readSlot(numbers, slots.count));
};

/** Returns the expected number of occurrences per week of a score. */
export const computeWeeklyOccurrences = (score: number): number =>
  -Math.log(Math.max(Number.MIN_VALUE, score)) / independentSigns;

/** Returns the time after its first point until a series with points at each step has been learned. */
export const getLearningTimeMs = (stepMs: number): number =>
  stepMs * Math.max(minPoints, Math.min(minDayPoints, Math.ceil((1.1 * dayMs) / stepMs) + 1));

const clamp = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

const scorePoint = (state: ScorerState, [timeMs, value]: Point, { falseAlarmsPerWeek }: ScoreOptions): Scored => {
  const { exact: x, numbers: n } = state;
  const unscored = { timeMs, score: 0, expected: null, low: null, high: null, sign: null };
  if (value === null || !Number.isFinite(value))
    return { ...unscored, isAnomalous: readSlot(x, exactSlots.episodeMs) !== 0 };
  const count = readSlot(n, slots.count);
  if (count > 0 && timeMs <= readSlot(x, exactSlots.lastMs)) return { ...unscored, isAnomalous: false };
  if (isRepeated(state, timeMs)) return { ...unscored, isAnomalous: readSlot(x, exactSlots.episodeMs) !== 0 };
  const { isResumed } = recordPoint(state, timeMs, value);
  const scaledValue = clamp(value / readSlot(x, exactSlots.unit), 1e30);
  const observation = observe(
    state,
    timeMs,
    scaledValue,
    Number.isInteger(value),
    compareWithOtherClock(state, timeMs),
  );
  if (count === 0 || isResumed) beginLevels(state, observation.season, observation.value, count === 0);
  if (count === 0) return { ...unscored, isAnomalous: false };
  return scoreObservation(state, timeMs, observation, isResumed, falseAlarmsPerWeek);
};

const scoreObservation = (
  state: ScorerState,
  timeMs: number,
  observation: Observation,
  isResumed: boolean,
  falseAlarmsPerWeek: number,
): Scored => {
  const { exact: x, numbers: n } = state;
  const [count, unit] = [readSlot(n, slots.count) - 1, readSlot(x, exactSlots.unit)];
  if (isResumed) resetSums(state);
  const difference = observation.value - observation.expected;
  const isNormal = isResumed || isRecurringJump(state, difference, observation.deviation);
  const records = observeRecords(state, observation, isResumed);
  const rarity = computeRarity(
    state,
    records,
    computeSizes(state, computeOffsets(state, observation, isNormal)),
    falseAlarmsPerWeek,
  );
  const hasEnoughHistory = !isResumed && isTrained(n, count);
  const isReported = shouldReport(state, timeMs, rarity, hasEnoughHistory);
  const isAnomalous = readSlot(x, exactSlots.episodeMs) !== 0;
  if (x[exactSlots.episodeMs] === timeMs) recordAlarm(state);
  const shouldSwapClocks = !isResumed && compareClocks(state, observation);
  learn(state, observation, isAnomalous, isNormal && !isResumed);
  if (!isResumed) learnHabit(state, difference, observation.deviation);
  if (count === minPoints - 1) storePeaks(state);
  if (count > minPoints / 3) updatePeaks(state, rarity, isAnomalous);
  if (shouldSwapClocks) {
    swapClocks(state);
    endAnomaly(state);
  }
  const { rate, tails, limit } = rarity;
  const bound = (sign: number, direction: 1 | -1): number =>
    clamp(
      ((direction > 0 ? observation.maxExpected : observation.minExpected) +
        direction * observation.deviation * getBandWidth(tails[sign], limit)) *
        unit,
      Number.MAX_VALUE,
    );
  return {
    timeMs,
    score: hasEnoughHistory && (isReported || rate >= limit) ? Math.exp(-rate * independentSigns) : 0,
    expected: clamp(observation.expected * unit, Number.MAX_VALUE),
    low: bound(1, -1),
    high: bound(0, 1),
    isAnomalous,
    sign: isAnomalous ? findReportedSign(rarity) : null,
  };
};

/** Returns the rarest sign. A value that is unusual by itself is reported as such, and not as a sum of deviations. */
const findReportedSign = ({ rates, rate, limit }: Rarity): Sign | null => {
  const valueRate = Math.min(rates[0] ?? rate, rates[1] ?? rate);
  return reportedSigns[rates.indexOf(valueRate < limit ? valueRate : rate)] ?? null;
};

const isTrained = (n: Float32Array, count: number): boolean =>
  count >= minPoints && (count >= minDayPoints || count * readSlot(n, slots.stepMs) > 1.1 * dayMs);

/**
 * Factors of the rates of signs whose tails are lighter at first than later: sums of small deviations, where levels
 * differ from day to day, and high values, where spikes have heavy tails.
 */
const rateFactors: Readonly<Record<Sign, number>> = {
  up: 2,
  down: 1,
  jumpUp: 2,
  jumpDown: 1,
  driftUp: 12,
  driftDown: 12,
  noise: 1,
  flat: 1,
};

/** Records, and the signs that they are reported as. */
const recordSigns: readonly (readonly [name: keyof RecordRates, sign: Sign])[] = [
  ['pause', 'flat'],
  ['burst', 'noise'],
  ['levelUp', 'driftUp'],
  ['levelDown', 'driftDown'],
];
const reportedSigns: readonly Sign[] = [...signs, ...recordSigns.map(([, sign]) => sign)];

/** Returns the rarity of each sign's size, and of the rarest one, in occurrences per week. */
const computeRarity = (
  state: ScorerState,
  records: RecordRates,
  sizes: Float64Array,
  falseAlarmsPerWeek: number,
): Rarity => {
  const n = state.numbers;
  const weeks = Math.max(
    0.05,
    ((readSlot(n, slots.nowCount) + readSlot(n, slots.pastCount)) * readSlot(n, slots.stepMs)) / weekMs,
  );
  const tails = signs.map((sign, index) => {
    const tail = estimateTail(state, index, weeks);
    return { ...tail, rate: rateFactors[sign] * tail.rate };
  });
  const rates = [
    ...tails.map((tail, sign) => getOccurrenceRate(tail, sizes[sign] ?? 0)),
    ...recordSigns.map(([name]) => records[name]),
  ];
  return { sizes, tails, rates, rate: Math.min(...rates), limit: falseAlarmsPerWeek / independentSigns };
};

/** Returns whether an anomaly begins at this point, or has clearly worsened. */
const shouldReport = (state: ScorerState, timeMs: number, rarity: Rarity, hasEnoughHistory: boolean): boolean => {
  if (readSlot(state.exact, exactSlots.episodeMs) !== 0) return continueAnomaly(state, timeMs, rarity);
  if (!hasEnoughHistory || !hasRareRecord(state, rarity)) return false;
  beginAnomaly(state, timeMs, rarity.rate);
  markRecordAnomaly(state, !rarity.rates.slice(0, signs.length).some((rate) => rate < rarity.limit));
  return true;
};

/**
 * Returns whether a rare sign is larger than it has been since it last fell. A sign that stays at its size, as in a
 * series that never changes, is not unusual, however long that lasts.
 */
const hasRareRecord = (state: ScorerState, { sizes, rates, limit }: Rarity): boolean =>
  rates.some(
    (rate, sign) => rate < limit && (sign >= signs.length || packSize(sizes[sign] ?? 0) > (state.high[sign] ?? 0)),
  );

/** Records a point: its time, the step, and the unit of all computations, from the first nonzero value. */
const recordPoint = ({ exact: x, numbers: n }: ScorerState, timeMs: number, value: number): { isResumed: boolean } => {
  const count = readSlot(n, slots.count);
  if (readSlot(x, exactSlots.unit) === 0 || (x[exactSlots.unit] === minUnit && value !== 0))
    x[exactSlots.unit] = Math.max(minUnit, 2 ** Math.floor(Math.log2(Math.abs(value))));
  const gapMs = count === 0 ? 0 : timeMs - readSlot(x, exactSlots.lastMs);
  const isResumed = count > 1 && gapMs > 12 * readSlot(n, slots.stepMs);
  x[exactSlots.lastMs] = timeMs;
  n[slots.count] = count + 1;
  learnStep(n, gapMs);
  return { isResumed };
};

/**
 * Learns the step from a gap: its typical length, because a single short or long gap says nothing about the others. Each
 * gap that is much shorter or longer moves the step a little, so a lasting change is learned within a hundred points.
 */
const learnStep = (n: Float32Array, gapMs: number): void => {
  const stepMs = readSlot(n, slots.stepMs);
  if (gapMs <= 0) return;
  const pace = Math.max(0.02, 1 / (readSlot(n, slots.count) + 1));
  if (stepMs === 0) n[slots.stepMs] = gapMs;
  else if (gapMs < 0.75 * stepMs) n[slots.stepMs] = Math.max(gapMs, stepMs * (1 - pace));
  else if (gapMs > 1.5 * stepMs) n[slots.stepMs] = Math.min(gapMs, stepMs * (1 + pace));
  else n[slots.stepMs] = stepMs + 0.01 * (gapMs - stepMs);
};

/** Returns whether a point follows its predecessor too soon to be another one, and learns the step from the gap. */
const isRepeated = ({ exact: x, numbers: n }: ScorerState, timeMs: number): boolean => {
  const stepMs = readSlot(n, slots.stepMs);
  const gapMs = timeMs - readSlot(x, exactSlots.lastMs);
  if (readSlot(n, slots.count) < 2 || gapMs >= 0.25 * stepMs) return false;
  learnStep(n, gapMs);
  return true;
};

const minUnit = 1e-280;

/** Continues an anomaly with a point, or ends it. Returns whether it has clearly worsened. */
const continueAnomaly = (state: ScorerState, timeMs: number, { sizes, tails, rates, rate, limit }: Rarity): boolean => {
  const { exact: x, numbers: n } = state;
  const durationMs = timeMs - readSlot(x, exactSlots.episodeMs);
  limitSums(state, tails, limit);
  // Records fade for hours, so they only extend an anomaly that began with a record.
  const signRate = isRecordAnomaly(state) ? rate : Math.min(...rates.slice(0, signs.length));
  n[slots.calm] = signRate > 8 * limit ? readSlot(n, slots.calm) + 1 : 0;
  if (durationMs > Math.max(maxEpisodeMs, 48 * readSlot(n, slots.stepMs))) {
    acceptAsNormal(state, sizes);
    n[slots.slow] = readSlot(n, slots.slow) + adoptNewLevel(state);
    endAnomaly(state);
    return false;
  }
  if (readSlot(n, slots.calm) >= calmPoints) endAnomaly(state);
  // Sums grow while an anomaly lasts: it is worse only if the value itself is rarer.
  const valueRate = Math.min(rates[0] ?? rate, rates[1] ?? rate);
  const isWorse = valueRate < readSlot(x, exactSlots.episodeRate) / 1000;
  x[exactSlots.episodeRate] = Math.min(valueRate, readSlot(x, exactSlots.episodeRate));
  return isWorse;
};

const beginAnomaly = ({ exact, numbers }: ScorerState, timeMs: number, rate: number): void => {
  exact[exactSlots.episodeMs] = timeMs;
  exact[exactSlots.episodeRate] = rate;
  numbers[slots.calm] = 0;
};

const endAnomaly = (state: ScorerState): void => {
  state.exact[exactSlots.episodeMs] = 0;
  acceptRecords(state);
  resetSums(state);
};

/**
 * Learns from a point. Levels follow every point. Normal behavior is learned from anomalous points only in the second
 * and third week.
 */
const learn = (state: ScorerState, observation: Observation, isAnomalous: boolean, isHabitual: boolean): void => {
  const n = state.numbers;
  const { value, season, expected, deviation: stray } = observation;
  const count = readSlot(n, slots.count);
  const pointsPerDay = Math.max(20, Math.min(2000, dayMs / (n[slots.stepMs] || 60_000)));
  const pace = Math.max(1 / pointsPerDay, 1 / (count + 1));
  if (!(isAnomalous || isHabitual)) scorePredictions(state, season, value, stray, pace);
  if (isHabitual) moveLevelsTo(state, season, value);
  else learnLevels(state, season, value, stray, Math.max(readSlot(n, slots.spread), 1e-4 * Math.abs(expected), 1e-12));
  const [days, previousDays] = [count / pointsPerDay, (count - 1) / pointsPerDay];
  if ((isAnomalous && (days < 7 || days >= 21)) || isOtherClockLikelier(state)) return;
  if (!isHabitual) learnDeviations(state, observation, pace, count > pointsPerDay);
  if (Math.floor(days / 7) > Math.floor(previousDays / 7)) {
    const shift = centerSeason(state);
    n[slots.slow] = readSlot(n, slots.slow) + shift;
    shiftLevels(state, shift);
  }
  const seasonError = value - getSeasonalValue(state, observation.position) - readSlot(n, slots.slow);
  const seasonSpread = readSlot(n, slots.seasonSpread);
  n[slots.seasonSpread] = seasonSpread + pace * (Math.abs(seasonError) - seasonSpread);
  n[slots.slow] = readSlot(n, slots.slow) + Math.max(1 / (7 * pointsPerDay), 1 / (count + 1)) * seasonError;
  const limit = days < 2 ? Number.MAX_VALUE : 4 * Math.max(seasonSpread, getDeviationAt(state, observation.position));
  learnSeason(state, observation.position, clamp(seasonError, limit));
};

/** Learns the deviation: overall, at this hour of the week, and by level. */
const learnDeviations = (
  state: ScorerState,
  observation: Observation,
  pace: number,
  hasDayOfHistory: boolean,
): void => {
  const n = state.numbers;
  const { position, expected, deviation: stray, edgeDeviation, growthFactor, levelShift } = observation;
  const [count, spread, absoluteError] = [
    readSlot(n, slots.count),
    readSlot(n, slots.spread),
    Math.abs(observation.value - expected),
  ];
  n[slots.spread] =
    spread + pace * (Math.min(absoluteError, count < 40 ? Number.MAX_VALUE : 3 * spread + 1e-12) - spread);
  if (count === firstEstimatePoints + 1) initializeDeviations(state, 1.25 * readSlot(n, slots.spread));
  if (count <= firstEstimatePoints + 1) return;
  learnDeviation(
    state,
    position,
    Math.min(
      12,
      absoluteError / Math.hypot(getDeviationAt(state, position) * growthFactor, edgeDeviation, 1e-12) / 0.8,
    ),
  );
  const growthGain = clamp(absoluteError / stray / 0.8 - 1, 2) * levelShift;
  if (hasDayOfHistory) n[slots.growth] = Math.max(0, Math.min(1, readSlot(n, slots.growth) + 0.005 * growthGain));
};
