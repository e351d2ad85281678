/** What is known of a point before anything is learnt from it: what was expected, and how far values stray there. */
import { clockMs, isOtherLikelier, type Other } from './clock.ts';
import { expectation, isSteadySlow, steadyForesight } from './foresight.ts';
import { edgeOf, momentOf, seasonOf, strayNear } from './season.ts';
import type { Off } from './signs.ts';
import { at, clockAt, exactly, kept, type ScorerState } from './state.ts';

/** How far values stray is first guessed from so many. */
export const firstGuess = 12;
/** Where values stray by so many times as much as usual, sums of what is off grow less. */
const roughStrays = 5;

const clip = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

/** What is known of a point before anything is learnt from it. */
export interface Seen {
  readonly moment: ReturnType<typeof momentOf>;
  readonly value: number;
  readonly season: number;
  readonly expected: number;
  /** How far values stray here. */
  readonly stray: number;
  /** Parts of it: what an early or late edge of the season explains, and by how much it is larger than usual for its level. */
  readonly edge: number;
  readonly grown: number;
  /** How many times two the expected level is above what is usual at this time. */
  readonly apart: number;
  /** How much more than usual values stray here; 1 where they hardly do. */
  readonly rough: number;
  /** What is known of it by another clock; whether what that explains is usual too, and how far values stray then. */
  readonly other: Other | undefined;
  readonly isEither: boolean;
  readonly otherStray: number;
  /** What was expected at least and at most: they differ where either of two clocks may be right. */
  readonly least: number;
  readonly most: number;
}

/** What is known of a value at its time, in units of the series. */
export const look = (state: ScorerState, atMs: number, value: number, isWhole: boolean, other?: Other): Seen => {
  const { clock: c, exact: x, numbers: n } = state;
  const timeMs = clockMs(state, atMs);
  const stepMs = n[at.stepMs] || 60_000;
  const moment = momentOf(timeMs, stepMs);
  const season = seasonOf(state, moment);
  const { value: expected, seasonal } = expectation(state, season);
  const spread = kept(n, at.spread);
  const usual = kept(n, at.slow) + season;
  const apart = expected > 0 && usual > 0 ? clip(Math.log2(expected / usual), 2) : 0;
  const grown = 2 ** (kept(n, at.growth) * apart);
  const edge = edgeOf(state, timeMs, stepMs, season) * Math.min(1, 2 * seasonal);
  const known = kept(n, at.count) > firstGuess + 1 ? grown * strayNear(state, timeMs, stepMs) : 1.25 * spread;
  // Whole numbers cannot stray by a small part of one, and nothing by less than a ten thousandth of itself.
  const whole = isWhole ? Math.min(0.4 / kept(x, exactly.unit), 0.3 * spread) : 0;
  const floor = Math.max(1e-4 * Math.abs(expected), 1e-12) + 0.15 * spread + whole;
  const stray = Math.hypot(known, floor, edge);
  const isEither = other !== undefined && isOtherLikelier(state);
  const otherExpected = isEither ? other.season + kept(c, clockAt.fast) : expected;
  const otherStray = isEither ? Math.hypot(other.stray, floor, edgeOf(state, other.ms, stepMs, other.season)) : stray;
  const rough = Math.sqrt(Math.max(1, Math.max(stray, otherStray) / (roughStrays * Math.max(spread, floor))));
  return {
    ...{ moment, value, season, expected, edge, grown, apart, stray, rough, other, isEither, otherStray },
    least: Math.min(expected, otherExpected),
    most: Math.max(expected, otherExpected),
  };
};

/** How far a value is off; what is usual for another reason than its size is not. */
export const offOf = (state: ScorerState, seen: Seen, isUsual: boolean): Off => {
  const { value, season, expected, stray, rough, other, isEither, otherStray, least, most } = seen;
  if (isUsual) return { value, stray, rough, off: 0, steadyOff: 0 };
  const steady = steadyForesight(state, season, expected);
  if (other === undefined || !isEither)
    return { value, stray, rough, off: (value - expected) / stray, steadyOff: (value - steady) / stray };
  const otherSteady = other.season + kept(state.clock, isSteadySlow(state) ? clockAt.slow : clockAt.fast);
  const larger = Math.max(stray, otherStray);
  return {
    ...{ value, rough, stray: Math.min(stray, otherStray) },
    off: outside(value, least, most) / larger,
    steadyOff: outside(value, Math.min(steady, otherSteady), Math.max(steady, otherSteady)) / larger,
  };
};

const outside = (value: number, least: number, most: number): number =>
  Math.max(0, value - most) + Math.min(0, value - least);
