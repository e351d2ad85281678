/**
 * Forecasts the next value from levels of several speeds relative to the season, a trend, and levels of the raw value.
 */
import { at, forecasterCount, numberAt, type ScorerState } from './state.ts';

/** The first four and the trend are relative to the season; from this index on, forecasters ignore it. */
const bare = 5;
const trend = 4;
const paces = [0.01, 0.06, 0.25, 0.7, 0.2, 0.3, 0.9];
/** Among levels with errors up to this factor of the best, the slowest counts as steady. */
const steadyError = 1.6;

const foreseen = ({ numbers }: ScorerState, way: number, season: number): number => {
  const level = numbers[at.levels + way] ?? 0;
  if (way >= bare) return level;
  return level + season + (way === trend ? numberAt(numbers, at.slope) : 0);
};

export interface Expectation {
  readonly value: number;
  /** Share of the expectation that includes the season, from 0 to 1. */
  readonly seasonal: number;
}

/** Combines the forecasts, weighted by their past errors. */
export const expectation = (state: ScorerState, season: number): Expectation => {
  let [sum, total, seasonal] = [0, 0, 0];
  for (let way = 0; way < forecasterCount; way++) {
    // A forecaster with twice the error has 1/256 of the weight.
    const squared = (numberAt(state.numbers, at.errors + way) + 1e-12) ** 2;
    const weight = 1 / (squared * squared * (squared * squared));
    sum += weight * foreseen(state, way, season);
    total += weight;
    if (way < bare) seasonal += weight;
  }
  return { value: sum / total, seasonal: seasonal / total };
};

/**
 * Returns the forecast of the slowest level whose error is close to the best. Changes remain visible against it longer
 * than against fast levels.
 */
export const steadyPrediction = (state: ScorerState, season: number, expected: number): number => {
  const way = steadyWay(state);
  return way === undefined ? expected : foreseen(state, way, season);
};

/** Returns whether that level is one of the two slowest. */
export const isSteadySlow = (state: ScorerState): boolean => (steadyWay(state) ?? trend) < 2;

const steadyWay = ({ numbers }: ScorerState): number | undefined => {
  let best = Number.MAX_VALUE;
  for (let way = 0; way < forecasterCount; way++) best = Math.min(best, numberAt(numbers, at.errors + way));
  for (let way = 0; way < trend; way++) if (numberAt(numbers, at.errors + way) <= steadyError * best) return way;
  return undefined;
};

/** Learns the error of each forecast in units of deviation, capped at three. */
export const scorePredictions = (
  state: ScorerState,
  season: number,
  value: number,
  stray: number,
  pace: number,
): void => {
  for (let way = 0; way < forecasterCount; way++) {
    const missed = Math.min(3, Math.abs(value - foreseen(state, way, season)) / stray);
    const place = at.errors + way;
    state.numbers[place] = numberAt(state.numbers, place) + pace * (missed - numberAt(state.numbers, place));
  }
};

const clip = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

/** Moves each level towards the value. Slow levels move in small steps, so that brief changes do not shift them. */
export const learnLevels = (state: ScorerState, season: number, value: number, stray: number, calm: number): void => {
  const n = state.numbers;
  const count = numberAt(n, at.count);
  const limits = count > 40 ? [3, 6].map((strays) => strays * Math.min(stray, 2 * calm)) : [];
  for (const [way, pace] of paces.entries()) {
    const place = at.levels + way;
    const target = way < bare ? value - season : value;
    const off = target - numberAt(n, place);
    if (way === trend) learnTrend(n, off, pace, 6 * stray, count);
    else
      n[place] =
        numberAt(n, place) +
        (way < bare ? Math.max(pace, 1 / (count + 1)) : pace) * clip(off, limits[way] ?? Number.MAX_VALUE);
  }
};

/** Learns the trend. A sawtooth drops at once, and its trend continues from there. */
const learnTrend = (n: Float32Array, fromLevel: number, pace: number, drop: number, count: number): void => {
  const slope = numberAt(n, at.slope);
  const off = fromLevel - slope;
  const isDrop = Math.abs(off) > drop;
  n[at.levels + trend] = numberAt(n, at.levels + trend) + slope + (isDrop ? 1 : pace) * off;
  if (count > 20 && !isDrop) n[at.slope] = slope + 0.01 * off;
};

/**
 * Initializes all levels at a value: the first one, or the first after a gap, when the slowest level retains its
 * history.
 */
export const beginLevels = ({ numbers }: ScorerState, season: number, value: number, isFirst: boolean): void => {
  for (let way = isFirst ? 0 : 1; way < forecasterCount; way++)
    numbers[at.levels + way] = way < bare ? value - season : value;
  numbers[at.slope] = 0;
};

/** Shifts all levels by a habitual jump, so that forecasts continue from its end. */
export const followJump = ({ numbers }: ScorerState, season: number, value: number): void => {
  for (let way = 0; way < forecasterCount; way++) numbers[at.levels + way] = way < bare ? value - season : value;
};

/** Sets the slow levels to a new level that a faster one found. Returns the increase. */
export const adoptNewLevel = ({ numbers }: ScorerState): number => {
  const [before, after] = [numberAt(numbers, at.levels), numberAt(numbers, at.levels + 2)];
  numbers[at.levels] = after;
  numbers[at.levels + 1] = after;
  return after - before;
};

/** Shifts the seasonal levels by the amount removed from the season's profiles. */
export const raiseLevels = ({ numbers }: ScorerState, by: number): void => {
  for (let way = 0; way < bare; way++) numbers[at.levels + way] = numberAt(numbers, at.levels + way) + by;
};
