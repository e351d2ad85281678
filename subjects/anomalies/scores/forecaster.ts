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
export const combineForecasts = (state: ScorerState, season: number): Expectation => {
  let [sum, total, seasonal] = [0, 0, 0];
  for (let forecasterIndex = 0; forecasterIndex < forecasterCount; forecasterIndex++) {
    // A forecaster with twice the error has 1/256 of the weight.
    const squaredError = (readSlot(state.numbers, slots.errors + forecasterIndex) + 1e-12) ** 2;
    const weight = 1 / (squaredError * squaredError * (squaredError * squaredError));
    sum += weight * forecast(state, forecasterIndex, season);
    total += weight;
    if (forecasterIndex < firstRawForecaster) seasonal += weight;
  }
  return { value: sum / total, seasonal: seasonal / total };
};

/**
 * Returns the forecast of the slowest level whose error is close to the best. Changes stay visible longer against it
 * than against fast levels.
 */
export const predictSteady = (state: ScorerState, season: number, expected: number): number => {
  const forecasterIndex = findSteadyForecaster(state);
  return forecasterIndex === undefined ? expected : forecast(state, forecasterIndex, season);
};

/** Returns whether the steady level is one of the two slowest. */
export const isSteadySlow = (state: ScorerState): boolean => (findSteadyForecaster(state) ?? trendForecaster) < 2;

const findSteadyForecaster = ({ numbers }: ScorerState): number | undefined => {
  let best = Number.MAX_VALUE;
  for (let forecasterIndex = 0; forecasterIndex < forecasterCount; forecasterIndex++)
    best = Math.min(best, readSlot(numbers, slots.errors + forecasterIndex));
  for (let forecasterIndex = 0; forecasterIndex < trendForecaster; forecasterIndex++)
    if (readSlot(numbers, slots.errors + forecasterIndex) <= steadyError * best) return forecasterIndex;
  return undefined;
};

/** Learns the error of each forecast in units of deviation, capped at three. */
export const scorePredictions = (
  state: ScorerState,
  season: number,
  value: number,
  deviation: number,
  rate: number,
): void => {
  for (let forecasterIndex = 0; forecasterIndex < forecasterCount; forecasterIndex++) {
    const error = Math.min(3, Math.abs(value - forecast(state, forecasterIndex, season)) / deviation);
    const slot = slots.errors + forecasterIndex;
    state.numbers[slot] = readSlot(state.numbers, slot) + rate * (error - readSlot(state.numbers, slot));
  }
};

const clamp = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

/** Moves each level towards the value. Slow levels move in small steps, so that brief changes do not shift them. */
export const learnLevels = (
  state: ScorerState,
  season: number,
  value: number,
  deviation: number,
  normalDeviation: number,
): void => {
  const n = state.numbers;
  const count = readSlot(n, slots.count);
  const limits = count > 40 ? [3, 6].map((factor) => factor * Math.min(deviation, 2 * normalDeviation)) : [];
  for (const [forecasterIndex, rate] of learningRates.entries()) {
    const slot = slots.levels + forecasterIndex;
    const target = forecasterIndex < firstRawForecaster ? value - season : value;
    const levelError = target - readSlot(n, slot);
    if (forecasterIndex === trendForecaster) learnTrend(n, levelError, rate, 6 * deviation, count);
    else
      n[slot] =
        readSlot(n, slot) +
        (forecasterIndex < firstRawForecaster ? Math.max(rate, 1 / (count + 1)) : rate) *
          clamp(levelError, limits[forecasterIndex] ?? Number.MAX_VALUE);
  }
};

/** Learns the trend. After a sudden drop, as in a sawtooth, the same trend continues from the new level. */
const learnTrend = (n: Float32Array, fromLevel: number, rate: number, dropThreshold: number, count: number): void => {
  const slope = readSlot(n, slots.slope);
  const slopeError = fromLevel - slope;
  const isDrop = Math.abs(slopeError) > dropThreshold;
  n[slots.levels + trendForecaster] =
    readSlot(n, slots.levels + trendForecaster) + slope + (isDrop ? 1 : rate) * slopeError;
  if (count > 20 && !isDrop) n[slots.slope] = slope + 0.01 * slopeError;
};

/**
 * Initializes all levels at a value: the first one, or the first after a gap, when the slowest level retains its
 * history.
 */
export const beginLevels = ({ numbers }: ScorerState, season: number, value: number, isFirst: boolean): void => {
  for (let forecasterIndex = isFirst ? 0 : 1; forecasterIndex < forecasterCount; forecasterIndex++)
    numbers[slots.levels + forecasterIndex] = forecasterIndex < firstRawForecaster ? value - season : value;
  numbers[slots.slope] = 0;
};

/** Sets all levels to the value after a recurring jump, so that forecasts continue from there. */
export const moveLevelsTo = ({ numbers }: ScorerState, season: number, value: number): void => {
  for (let forecasterIndex = 0; forecasterIndex < forecasterCount; forecasterIndex++)
    numbers[slots.levels + forecasterIndex] = forecasterIndex < firstRawForecaster ? value - season : value;
};

/** Sets the slow levels to a new level that a faster one found. Returns the increase. */
export const adoptNewLevel = ({ numbers }: ScorerState): number => {
  const [before, after] = [readSlot(numbers, slots.levels), readSlot(numbers, slots.levels + 2)];
  numbers[slots.levels] = after;
  numbers[slots.levels + 1] = after;
  return after - before;
};

/** Shifts the seasonal levels by the amount removed from the season's profiles. */
export const shiftLevels = ({ numbers }: ScorerState, amount: number): void => {
  for (let forecasterIndex = 0; forecasterIndex < firstRawForecaster; forecasterIndex++)
    numbers[slots.levels + forecasterIndex] = readSlot(numbers, slots.levels + forecasterIndex) + amount;
};
