/**
 * Scores how unusual each point of a series is by the past of that series: expected value, bounds, and frequency. No
 * input or output, no dependence on later points, and equal scores for equal points.
 */
import { compareClocks, isOtherLikelier, moveClock, noteAlarm, otherClock } from './clock.ts';
import { adoptNewLevel, beginLevels, followJump, learnLevels, raiseLevels, scorePredictions } from './forecaster.ts';
import { isRecurringJump, learnHabit } from './habits.ts';
import { firstGuess, observe, offOf, type Seen } from './measure.ts';
import { centreSeason, deviationAt, learnSeason, learnStray, seasonOf, strayEverywhere } from './season.ts';
import {
  acceptAsNormal,
  bandOf,
  boundSums,
  forgetSums,
  type Rarity,
  type Sign,
  sizesOf,
  storePeaks,
  updatePeaks,
} from './signs.ts';
import { at, exactly, numberAt, type ScorerState, signs, stateOf } from './state.ts';
import { rateOf, tailOf } from './tails.ts';

/** A time in milliseconds, and a value or null. */
export type Point = readonly [timeMs: number, value: number | null];

export interface Scored {
  readonly timeMs: number;
  /**
   * Probability that a week of the series' past has nothing as unusual: near 1 where an anomaly begins or clearly
   * worsens, 0 while it merely lasts.
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
/** Signs of one anomaly are correlated: all of them alarm about as often as this number of independent ones. */
const independentSigns = 5;
/** An anomaly ends after this many calm points; after half a day its level counts as normal. */
const calmPoints = 12;
const maxEpisodeMs = dayMs / 2;

/** Scores points in order, continuing from the state of earlier points. */
export const scoreSeries = (
  points: readonly Point[],
  options: ScoreOptions,
  before?: Uint8Array,
): { readonly state: Uint8Array; readonly scored: readonly Scored[] } => {
  const state = stateOf(before);
  const scored = points.map((point) => score(state, point, options));
  return { state: state.bytes, scored };
};

/** Returns whether the history of a series is too short for anomalies. */
export const isLearning = (state: Uint8Array): boolean => {
  const { numbers } = stateOf(state);
  return !isTrained(numbers, numberAt(numbers, at.count));
};

/** Returns the expected number of occurrences per week of a score. */
export const timesAWeek = (score: number): number => -Math.log(Math.max(Number.MIN_VALUE, score)) / independentSigns;

/** Returns the time after its first point until a series with points at each step has been learned. */
export const learningTimeMs = (stepMs: number): number =>
  stepMs * Math.max(minPoints, Math.min(minDayPoints, Math.ceil((1.1 * dayMs) / stepMs) + 1));

const clip = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

const score = (state: ScorerState, [timeMs, value]: Point, { falseAlarmsPerWeek }: ScoreOptions): Scored => {
  const { exact: x, numbers: n } = state;
  const nothing = { timeMs, score: 0, expected: null, low: null, high: null, sign: null };
  if (value === null || !Number.isFinite(value))
    return { ...nothing, isAnomalous: numberAt(x, exactly.episodeMs) !== 0 };
  const count = numberAt(n, at.count);
  if (count > 0 && timeMs <= numberAt(x, exactly.lastMs)) return { ...nothing, isAnomalous: false };
  const { isResumed } = arrive(state, timeMs, value);
  const inUnits = clip(value / numberAt(x, exactly.unit), 1e30);
  const seen = observe(state, timeMs, inUnits, Number.isInteger(value), otherClock(state, timeMs));
  if (count === 0 || isResumed) beginLevels(state, seen.season, seen.value, count === 0);
  if (count === 0) return { ...nothing, isAnomalous: false };
  return scoreSeen(state, timeMs, seen, isResumed, falseAlarmsPerWeek);
};

const scoreSeen = (
  state: ScorerState,
  timeMs: number,
  seen: Seen,
  isResumed: boolean,
  falseAlarmsPerWeek: number,
): Scored => {
  const { exact: x, numbers: n } = state;
  const [count, unit] = [numberAt(n, at.count) - 1, numberAt(x, exactly.unit)];
  if (isResumed) forgetSums(state);
  const by = seen.value - seen.expected;
  const isNormal = isResumed || isRecurringJump(state, by, seen.deviation);
  const rarity = rarityOf(state, sizesOf(state, offOf(state, seen, isNormal)), falseAlarmsPerWeek);
  const hasEnoughHistory = !isResumed && isTrained(n, count);
  const isReported = shouldReport(state, timeMs, rarity, hasEnoughHistory);
  const isAnomalous = numberAt(x, exactly.episodeMs) !== 0;
  if (x[exactly.episodeMs] === timeMs) noteAlarm(state);
  const isOther = !isResumed && compareClocks(state, seen);
  learn(state, seen, isAnomalous, isNormal && !isResumed);
  if (!isResumed) learnHabit(state, by, seen.deviation);
  if (count === minPoints - 1) storePeaks(state);
  if (count > minPoints / 3) updatePeaks(state, rarity, isAnomalous);
  if (isOther) {
    moveClock(state);
    end(state);
  }
  const { rate, rates, tails, limit } = rarity;
  const bound = (sign: number, strays: 1 | -1): number =>
    clip(
      ((strays > 0 ? seen.maxExpected : seen.minExpected) + strays * seen.deviation * bandOf(tails[sign], limit)) *
        unit,
      Number.MAX_VALUE,
    );
  return {
    timeMs,
    score: hasEnoughHistory && (isReported || rate >= limit) ? Math.exp(-rate * independentSigns) : 0,
    expected: clip(seen.expected * unit, Number.MAX_VALUE),
    low: bound(1, -1),
    high: bound(0, 1),
    isAnomalous,
    sign: isAnomalous ? (signs[rates.indexOf(rate)] ?? null) : null,
  };
};

const isTrained = (n: Float32Array, count: number): boolean =>
  count >= minPoints && (count >= minDayPoints || count * numberAt(n, at.stepMs) > 1.1 * dayMs);

/** Returns the rarity of each sign's size, and of the rarest one, in occurrences per week. */
const rarityOf = (state: ScorerState, sizes: Float64Array, falseAlarmsPerWeek: number): Rarity => {
  const n = state.numbers;
  const weeks = Math.max(
    0.05,
    ((numberAt(n, at.nowCount) + numberAt(n, at.pastCount)) * numberAt(n, at.stepMs)) / weekMs,
  );
  const tails = signs.map((_, sign) => tailOf(state, sign, weeks));
  const rates = tails.map((tail, sign) => rateOf(tail, sizes[sign] ?? 0));
  return { sizes, tails, rates, rate: Math.min(...rates), limit: falseAlarmsPerWeek / independentSigns };
};

/** Returns whether an anomaly begins at this point, or has clearly worsened. */
const shouldReport = (state: ScorerState, timeMs: number, rarity: Rarity, hasEnoughHistory: boolean): boolean => {
  if (numberAt(state.exact, exactly.episodeMs) !== 0) return follow(state, timeMs, rarity);
  if (!hasEnoughHistory || rarity.rate >= rarity.limit) return false;
  begin(state, timeMs, rarity.rate);
  return true;
};

/** Records a point: its time, the step, and the unit of all computations, from the first nonzero value. */
const arrive = ({ exact: x, numbers: n }: ScorerState, timeMs: number, value: number): { isResumed: boolean } => {
  const count = numberAt(n, at.count);
  if (numberAt(x, exactly.unit) === 0 || (x[exactly.unit] === smallest && value !== 0))
    x[exactly.unit] = Math.max(smallest, 2 ** Math.floor(Math.log2(Math.abs(value))));
  const gapMs = count === 0 ? 0 : timeMs - numberAt(x, exactly.lastMs);
  const known = numberAt(n, at.stepMs);
  x[exactly.lastMs] = timeMs;
  n[at.count] = count + 1;
  const isResumed = count > 1 && gapMs > 12 * known;
  if (gapMs > 0 && !isResumed)
    n[at.stepMs] = known === 0 || gapMs < 0.75 * known ? gapMs : known + 0.01 * (gapMs - known);
  return { isResumed };
};
const smallest = 1e-280;

/** Starts, worsens or ends an anomaly. Returns whether it begins now or has clearly worsened. */
const follow = (state: ScorerState, timeMs: number, { sizes, tails, rates, rate, limit }: Rarity): boolean => {
  const { exact: x, numbers: n } = state;
  const lastsMs = timeMs - numberAt(x, exactly.episodeMs);
  boundSums(state, tails, limit);
  n[at.calm] = rate > 8 * limit ? numberAt(n, at.calm) + 1 : 0;
  if (lastsMs > Math.max(maxEpisodeMs, 48 * numberAt(n, at.stepMs))) {
    acceptAsNormal(state, sizes);
    n[at.slow] = numberAt(n, at.slow) + adoptNewLevel(state);
    end(state);
    return false;
  }
  if (numberAt(n, at.calm) >= calmPoints) end(state);
  // Sums grow while an anomaly lasts: it is worse only if the value itself is rarer.
  const own = Math.min(rates[0] ?? rate, rates[1] ?? rate);
  const isWorse = own < numberAt(x, exactly.episodeRate) / 1000;
  x[exactly.episodeRate] = Math.min(own, numberAt(x, exactly.episodeRate));
  return isWorse;
};

const begin = ({ exact, numbers }: ScorerState, timeMs: number, rate: number): void => {
  exact[exactly.episodeMs] = timeMs;
  exact[exactly.episodeRate] = rate;
  numbers[at.calm] = 0;
};

const end = (state: ScorerState): void => {
  state.exact[exactly.episodeMs] = 0;
  forgetSums(state);
};

/**
 * Learns from a point. Levels always follow. Normal behavior is not learned from an anomaly, except from those of weeks
 * in the first three weeks.
 */
const learn = (state: ScorerState, seen: Seen, isAnomalous: boolean, isHabitual: boolean): void => {
  const n = state.numbers;
  const { value, season, expected, deviation: stray } = seen;
  const count = numberAt(n, at.count);
  const perDay = Math.max(20, Math.min(2000, dayMs / (n[at.stepMs] || 60_000)));
  const pace = Math.max(1 / perDay, 1 / (count + 1));
  if (!(isAnomalous || isHabitual)) scorePredictions(state, season, value, stray, pace);
  if (isHabitual) followJump(state, season, value);
  else learnLevels(state, season, value, stray, Math.max(numberAt(n, at.spread), 1e-4 * Math.abs(expected), 1e-12));
  const [days, before] = [count / perDay, (count - 1) / perDay];
  if ((isAnomalous && (days < 7 || days >= 21)) || isOtherLikelier(state)) return;
  if (!isHabitual) learnStrays(state, seen, pace, count > perDay);
  if (Math.floor(days / 7) > Math.floor(before / 7)) {
    const by = centreSeason(state);
    n[at.slow] = numberAt(n, at.slow) + by;
    raiseLevels(state, by);
  }
  const missed = value - seasonOf(state, seen.moment) - numberAt(n, at.slow);
  const seasonSpread = numberAt(n, at.seasonSpread);
  n[at.seasonSpread] = seasonSpread + pace * (Math.abs(missed) - seasonSpread);
  n[at.slow] = numberAt(n, at.slow) + Math.max(1 / (7 * perDay), 1 / (count + 1)) * missed;
  const limit = days < 2 ? Number.MAX_VALUE : 4 * Math.max(seasonSpread, deviationAt(state, seen.moment));
  learnSeason(state, seen.moment, clip(missed, limit));
};

/** Learns the deviation: overall, at this hour of the week, and by level. */
const learnStrays = (state: ScorerState, seen: Seen, pace: number, isGrown: boolean): void => {
  const n = state.numbers;
  const { moment, expected, deviation: stray, edge, grown, levelShift } = seen;
  const [count, spread, off] = [numberAt(n, at.count), numberAt(n, at.spread), Math.abs(seen.value - expected)];
  n[at.spread] = spread + pace * (Math.min(off, count < 40 ? Number.MAX_VALUE : 3 * spread + 1e-12) - spread);
  if (count === firstGuess + 1) strayEverywhere(state, 1.25 * numberAt(n, at.spread));
  if (count <= firstGuess + 1) return;
  learnStray(state, moment, Math.min(12, off / Math.hypot(deviationAt(state, moment) * grown, edge, 1e-12) / 0.8));
  const more = clip(off / stray / 0.8 - 1, 2) * levelShift;
  if (isGrown) n[at.growth] = Math.max(0, Math.min(1, numberAt(n, at.growth) + 0.005 * more));
};
