/** Observation of a point before learning from it: the expected value, and the deviation there. */
import { isOtherClockLikelier, type OtherClockPoint, toClockMs } from './clock.ts';
import { combineForecasts, isSteadySlow, predictSteady } from './forecaster.ts';
import { computeEdgeDeviation, getDeviationNear, getSeasonalValue, toSeasonPosition } from './season.ts';
import type { Offsets } from './signs.ts';
import { clockSlots, exactSlots, readSlot, type ScorerState, slots } from './state.ts';

/** Number of points for the first estimate of the deviation. */
export const firstEstimatePoints = 12;
/** Factor of the normal deviation above which sums of deviations grow more slowly. */
const roughnessThreshold = 5;

const clamp = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

/** Observation of a point before learning from it. */
export interface Observation {
  readonly position: ReturnType<typeof toSeasonPosition>;
  readonly value: number;
  readonly season: number;
  readonly expected: number;
  /** Normal deviation at this time. */
  readonly deviation: number;
  /** Parts of the deviation: the part an early or late seasonal edge explains, and its growth factor with the level. */
  readonly edgeDeviation: number;
  readonly growthFactor: number;
  /** Base-2 logarithm of the expected level relative to the normal level at this time. */
  readonly levelShift: number;
  /** Factor by which values deviate more than elsewhere in the series, at least 1. */
  readonly roughness: number;
  /** Observation by the other clock; whether values that it explains are normal too, and the deviation by it. */
  readonly other: OtherClockPoint | undefined;
  readonly acceptsBothClocks: boolean;
  readonly otherDeviation: number;
  /** Minimum and maximum expected value; they differ if either of two clocks may be right. */
  readonly minExpected: number;
  readonly maxExpected: number;
}

/** Observes a value at its time, in units of the series. */
export const observe = (
  state: ScorerState,
  atMs: number,
  value: number,
  isInteger: boolean,
  other?: OtherClockPoint,
): Observation => {
  const { clock: clockState, exact: exactNumbers, numbers: n } = state;
  const timeMs = toClockMs(state, atMs);
  const stepMs = n[slots.stepMs] || 60_000;
  const position = toSeasonPosition(timeMs, stepMs);
  const season = getSeasonalValue(state, position);
  const { value: expected, seasonal } = combineForecasts(state, season);
  const spread = readSlot(n, slots.spread);
  const normal = readSlot(n, slots.slow) + season;
  const levelShift = expected > 0 && normal > 0 ? clamp(Math.log2(expected / normal), 2) : 0;
  const growthFactor = 2 ** (readSlot(n, slots.growth) * levelShift);
  const edgeDeviation = computeEdgeDeviation(state, timeMs, stepMs, season) * Math.min(1, 2 * seasonal);
  const learnedDeviation =
    readSlot(n, slots.count) > firstEstimatePoints + 1
      ? growthFactor * getDeviationNear(state, timeMs, stepMs)
      : 1.25 * spread;
  // Whole numbers cannot deviate by a fraction, and no value deviates by less than a ten thousandth of itself.
  const roundingDeviation = isInteger ? Math.min(0.4 / readSlot(exactNumbers, exactSlots.unit), 0.3 * spread) : 0;
  const floor = Math.max(1e-4 * Math.abs(expected), 1e-12) + 0.15 * spread + roundingDeviation;
  const deviation = Math.hypot(learnedDeviation, floor, edgeDeviation);
  const acceptsBothClocks = other !== undefined && isOtherClockLikelier(state);
  const otherExpected = acceptsBothClocks ? other.season + readSlot(clockState, clockSlots.fast) : expected;
  const otherDeviation = acceptsBothClocks
    ? Math.hypot(other.deviation, floor, computeEdgeDeviation(state, other.ms, stepMs, other.season))
    : deviation;
  const roughness = Math.sqrt(
    Math.max(1, Math.max(deviation, otherDeviation) / (roughnessThreshold * Math.max(spread, floor))),
  );
  return {
    position,
    value,
    season,
    expected,
    edgeDeviation,
    growthFactor,
    levelShift,
    deviation,
    roughness,
    other,
    acceptsBothClocks,
    otherDeviation,
    minExpected: Math.min(expected, otherExpected),
    maxExpected: Math.max(expected, otherExpected),
  };
};

/** Returns the offsets of a value from its forecasts, which are 0 if the value is normal despite its size. */
export const computeOffsets = (state: ScorerState, observation: Observation, isNormal: boolean): Offsets => {
  const {
    value,
    season,
    expected,
    deviation,
    roughness,
    other,
    acceptsBothClocks,
    otherDeviation,
    minExpected,
    maxExpected,
  } = observation;
  if (isNormal) return { value, deviation, roughness, deviationFromExpected: 0, deviationFromSteady: 0 };
  const steadyForecast = predictSteady(state, season, expected);
  if (other === undefined || !acceptsBothClocks)
    return {
      value,
      deviation,
      roughness,
      deviationFromExpected: (value - expected) / deviation,
      deviationFromSteady: (value - steadyForecast) / deviation,
    };
  const otherSteady = other.season + readSlot(state.clock, isSteadySlow(state) ? clockSlots.slow : clockSlots.fast);
  const maxDeviation = Math.max(deviation, otherDeviation);
  return {
    value,
    roughness,
    deviation: Math.min(deviation, otherDeviation),
    deviationFromExpected: distanceOutside(value, minExpected, maxExpected) / maxDeviation,
    deviationFromSteady:
      distanceOutside(value, Math.min(steadyForecast, otherSteady), Math.max(steadyForecast, otherSteady)) /
      maxDeviation,
  };
};

const distanceOutside = (value: number, min: number, max: number): number =>
  Math.max(0, value - max) + Math.min(0, value - min);
