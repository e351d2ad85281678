/**
 * Forecasts the next value by a combination of levels that follow the values at different speeds: levels relative to
 * the season, one of them with a trend, and levels of the raw value.
 */
import { forecasterCount, readSlot, type ScorerState, slots } from './state.ts';

/** The first four and the trend are relative to the season; from this index on, forecasters ignore it. */
const firstRawForecaster = 5;
const trendForecaster = 4;
const learningRates = [0.01, 0.06, 0.25, 0.7, 0.2, 0.3, 0.9];
/** Among levels with errors up to this factor of the best, the slowest counts as steady. */
const steadyError = 1.6;

const forecast = ({ numbers }: ScorerState, forecaster: number, season: number): number => {
  const level = numbers[slots.levels + forecaster] ?? 0;
  if (forecaster >= firstRawForecaster) return level;
  return level + season + (forecaster === trendForecaster ? readSlot(numbers, slots.slope) : 0);
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
    const squared = (readSlot(state.numbers, slots.errors + way) + 1e-12) ** 2;
    const weight = 1 / (squared * squared * (squared * squared));
    sum += weight * forecast(state, way, season);
    total += weight;
    if (way < firstRawForecaster) seasonal += weight;
  }
  return { value: sum / total, seasonal: seasonal / total };
};

/**
 * Returns the forecast of the slowest level whose error is close to the best. Compared with it, changes remain visible
 * for longer than compared with fast levels.
 */
export const predictSteady = (state: ScorerState, season: number, expected: number): number => {
  const way = findSteadyForecaster(state);
  return way === undefined ? expected : forecast(state, way, season);
};

/** Returns whether that level is one of the two slowest. */
export const isSteadySlow = (state: ScorerState): boolean => (findSteadyForecaster(state) ?? trendForecaster) < 2;

const findSteadyForecaster = ({ numbers }: ScorerState): number | undefined => {
  let best = Number.MAX_VALUE;
  for (let way = 0; way < forecasterCount; way++) best = Math.min(best, readSlot(numbers, slots.errors + way));
  for (let way = 0; way < trendForecaster; way++)
    if (readSlot(numbers, slots.errors + way) <= steadyError * best) return way;
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
    const error = Math.min(3, Math.abs(value - forecast(state, way, season)) / stray);
    const slot = slots.errors + way;
    state.numbers[slot] = readSlot(state.numbers, slot) + pace * (error - readSlot(state.numbers, slot));
  }
};

const clip = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

/** Moves each level towards the value. Slow levels move in small steps, so that brief changes do not shift them. */
export const learnLevels = (
  state: ScorerState,
  season: number,
  value: number,
  stray: number,
  normalDeviation: number,
): void => {
  const n = state.numbers;
  const count = readSlot(n, slots.count);
  const limits = count > 40 ? [3, 6].map((strays) => strays * Math.min(stray, 2 * normalDeviation)) : [];
  for (const [way, pace] of learningRates.entries()) {
    const place = slots.levels + way;
    const target = way < firstRawForecaster ? value - season : value;
    const off = target - readSlot(n, place);
    if (way === trendForecaster) learnTrend(n, off, pace, 6 * stray, count);
    else
      n[place] =
        readSlot(n, place) +
        (way < firstRawForecaster ? Math.max(pace, 1 / (count + 1)) : pace) *
          clip(off, limits[way] ?? Number.MAX_VALUE);
  }
};

/** Learns the trend. After a sudden drop, as in a sawtooth, the same trend continues from the new level. */
const learnTrend = (n: Float32Array, fromLevel: number, pace: number, drop: number, count: number): void => {
  const slope = readSlot(n, slots.slope);
  const off = fromLevel - slope;
  const isDrop = Math.abs(off) > drop;
  n[slots.levels + trendForecaster] = readSlot(n, slots.levels + trendForecaster) + slope + (isDrop ? 1 : pace) * off;
  if (count > 20 && !isDrop) n[slots.slope] = slope + 0.01 * off;
};

/**
 * Initializes all levels at a value: the first one, or the first after a gap, when the slowest level retains its
 * history.
 */
export const beginLevels = ({ numbers }: ScorerState, season: number, value: number, isFirst: boolean): void => {
  for (let way = isFirst ? 0 : 1; way < forecasterCount; way++)
    numbers[slots.levels + way] = way < firstRawForecaster ? value - season : value;
  numbers[slots.slope] = 0;
};

/** Shifts all levels by a habitual jump, so that forecasts continue from its end. */
export const followJump = ({ numbers }: ScorerState, season: number, value: number): void => {
  for (let way = 0; way < forecasterCount; way++)
    numbers[slots.levels + way] = way < firstRawForecaster ? value - season : value;
};

/** Sets the slow levels to a new level that a faster one found. Returns the increase. */
export const adoptNewLevel = ({ numbers }: ScorerState): number => {
  const [before, after] = [readSlot(numbers, slots.levels), readSlot(numbers, slots.levels + 2)];
  numbers[slots.levels] = after;
  numbers[slots.levels + 1] = after;
  return after - before;
};

/** Shifts the seasonal levels by the amount removed from the season's profiles. */
export const raiseLevels = ({ numbers }: ScorerState, by: number): void => {
  for (let way = 0; way < firstRawForecaster; way++)
    numbers[slots.levels + way] = readSlot(numbers, slots.levels + way) + by;
};
