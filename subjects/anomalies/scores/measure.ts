/** Observation of a point before learning from it: the expected value, and the deviation there. */
import { clockMs, isOtherLikelier, type Other } from './clock.ts';
import { expectation, isSteadySlow, steadyPrediction } from './forecaster.ts';
import { deviationNear, edgeOf, momentOf, seasonOf } from './season.ts';
import type { Off } from './signs.ts';
import { at, clockAt, exactly, numberAt, type ScorerState } from './state.ts';

/** Number of points for the first estimate of the deviation. */
export const firstGuess = 12;
/** Factor of the normal deviation above which sums grow less. */
const roughStrays = 5;

const clip = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

/** Observation of a point before learning from it. */
export interface Seen {
  readonly moment: ReturnType<typeof momentOf>;
  readonly value: number;
  readonly season: number;
  readonly expected: number;
  /** Normal deviation at this time. */
  readonly deviation: number;
  /** Parts of the deviation: the part an early or late seasonal edge explains, and its growth factor with the level. */
  readonly edge: number;
  readonly grown: number;
  /** Base-2 logarithm of the expected level relative to the normal level at this time. */
  readonly levelShift: number;
  /** Factor by which values deviate more than normal; 1 if they hardly do. */
  readonly roughness: number;
  /** Observation by another clock; whether values it explains are normal too, and the deviation then. */
  readonly other: Other | undefined;
  readonly isEither: boolean;
  readonly otherStray: number;
  /** Minimum and maximum expected value; they differ if either of two clocks may be right. */
  readonly minExpected: number;
  readonly maxExpected: number;
}

/** Observes a value at its time, in units of the series. */
export const observe = (state: ScorerState, atMs: number, value: number, isWhole: boolean, other?: Other): Seen => {
  const { clock: c, exact: x, numbers: n } = state;
  const timeMs = clockMs(state, atMs);
  const stepMs = n[at.stepMs] || 60_000;
  const moment = momentOf(timeMs, stepMs);
  const season = seasonOf(state, moment);
  const { value: expected, seasonal } = expectation(state, season);
  const spread = numberAt(n, at.spread);
  const normal = numberAt(n, at.slow) + season;
  const levelShift = expected > 0 && normal > 0 ? clip(Math.log2(expected / normal), 2) : 0;
  const grown = 2 ** (numberAt(n, at.growth) * levelShift);
  const edge = edgeOf(state, timeMs, stepMs, season) * Math.min(1, 2 * seasonal);
  const known = numberAt(n, at.count) > firstGuess + 1 ? grown * deviationNear(state, timeMs, stepMs) : 1.25 * spread;
  // Whole numbers cannot deviate by a fraction, and no value deviates by less than a ten thousandth of itself.
  const whole = isWhole ? Math.min(0.4 / numberAt(x, exactly.unit), 0.3 * spread) : 0;
  const floor = Math.max(1e-4 * Math.abs(expected), 1e-12) + 0.15 * spread + whole;
  const deviation = Math.hypot(known, floor, edge);
  const isEither = other !== undefined && isOtherLikelier(state);
  const otherExpected = isEither ? other.season + numberAt(c, clockAt.fast) : expected;
  const otherStray = isEither
    ? Math.hypot(other.stray, floor, edgeOf(state, other.ms, stepMs, other.season))
    : deviation;
  const roughness = Math.sqrt(Math.max(1, Math.max(deviation, otherStray) / (roughStrays * Math.max(spread, floor))));
  return {
    moment,
    value,
    season,
    expected,
    edge,
    grown,
    levelShift,
    deviation,
    roughness,
    other,
    isEither,
    otherStray,
    minExpected: Math.min(expected, otherExpected),
    maxExpected: Math.max(expected, otherExpected),
  };
};

/** Returns the deviation of a value, which is 0 if it is normal for another reason than its size. */
export const offOf = (state: ScorerState, seen: Seen, isNormal: boolean): Off => {
  const { value, season, expected, deviation, roughness, other, isEither, otherStray, minExpected, maxExpected } = seen;
  if (isNormal) return { value, deviation, roughness, off: 0, steadyOff: 0 };
  const steady = steadyPrediction(state, season, expected);
  if (other === undefined || !isEither)
    return {
      value,
      deviation,
      roughness,
      off: (value - expected) / deviation,
      steadyOff: (value - steady) / deviation,
    };
  const otherSteady = other.season + numberAt(state.clock, isSteadySlow(state) ? clockAt.slow : clockAt.fast);
  const larger = Math.max(deviation, otherStray);
  return {
    value,
    roughness,
    deviation: Math.min(deviation, otherStray),
    off: outside(value, minExpected, maxExpected) / larger,
    steadyOff: outside(value, Math.min(steady, otherSteady), Math.max(steady, otherSteady)) / larger,
  };
};

const outside = (value: number, min: number, max: number): number =>
  Math.max(0, value - max) + Math.min(0, value - min);
