/**
 * Clock of a season: UTC until a daylight saving change, then an hour more or less if that fits better. Nothing changes
 * until a series has alarmed in the weeks after the change. From then on, values that the better clock explains are
 * normal.
 */
import { deviationNear, momentOf, seasonOf } from './season.ts';
import { at, clockAt, numberAt, type ScorerState } from './state.ts';
import { changeBefore, daysAfter } from './summer-time.ts';

const [hourMs, dayMs, weekMs] = [3_600_000, 86_400_000, 604_800_000];
/** Minimum age before a season is a guide to another hour. */
const minMs = 3 * weekMs;
/**
 * Minimum log-likelihood ratio in favor of the other clock. The ratio is bounded between this and 1.5 times as much.
 */
const enough = 25;
const maxEvidence = 1.5 * enough;
/**
 * Time for which the ratio must persist, so that a late job is recognized as one. Switching back takes this much
 * longer.
 */
const sureMs = 2 * hourMs;
const minEvidence = { before: -enough, after: -2 * enough } as const;
const [slowPace, fastPace] = [0.01, 0.25];
/** Factor by which a season's deviation exceeds that of its hours. */
const seasonStrays = 2;
/** Minimum log-likelihood of a value that does not fit, relative to one that does. */
const minLogLikelihood = -6;

/** Stages of a clock change: nothing, an alarm, or a move of the season to the other clock. */
const stages = { none: 0, alarm: 1, move: 2 } as const;

/** Returns a time by the clock of the season. */
export const clockMs = ({ clock }: ScorerState, timeMs: number): number =>
  timeMs + numberAt(clock, clockAt.ahead) * hourMs;

/** Normal value at a time by the other clock, and the deviation by either clock. */
export interface Other {
  readonly ms: number;
  readonly season: number;
  readonly stray: number;
  readonly ownDeviation: number;
}

/**
 * Starts or ends the comparison of clocks, and returns the other clock's view of this point; undefined at other times
 * of the year.
 */
export const otherClock = (state: ScorerState, timeMs: number): Other | undefined => {
  const { clock: c, numbers: n } = state;
  const stepMs = numberAt(n, at.stepMs);
  if (stepMs > hourMs || numberAt(n, at.count) * stepMs < minMs) return undefined;
  if (Math.floor(timeMs / dayMs) > numberAt(c, clockAt.day) + daysAfter) c[clockAt.by] = 0;
  const change = changeBefore(timeMs);
  const isGoingOn = c[clockAt.by] !== 0 && (c[clockAt.stage] === stages.move || numberAt(c, clockAt.evidence) > 0);
  if (change !== undefined && change.day !== c[clockAt.day] && !isGoingOn)
    c.set([change.by, change.day, stages.none, 0, 0, numberAt(n, at.levels), numberAt(n, at.levels + 2)], clockAt.by);
  const by = numberAt(c, clockAt.by);
  if (by === 0) return undefined;
  const ownMs = clockMs(state, timeMs);
  const otherMs = ownMs + by * hourMs;
  return {
    ms: otherMs,
    season: seasonOf(state, momentOf(otherMs, stepMs)),
    stray: deviationNear(state, otherMs, stepMs),
    ownDeviation: deviationNear(state, ownMs, stepMs),
  };
};

/** A value, the seasonal value at its time, and the other clock's observation. */
interface Seen {
  readonly value: number;
  readonly season: number;
  readonly other: Other | undefined;
}

/**
 * Returns whether the other clock is likelier since the series alarmed: values it explains are then normal, and no
 * season is learned.
 */
export const isOtherLikelier = ({ clock: c }: ScorerState): boolean =>
  numberAt(c, clockAt.by) !== 0 && numberAt(c, clockAt.stage) !== stages.none && numberAt(c, clockAt.evidence) > 0;

/** Records the start of an anomaly. */
export const noteAlarm = ({ clock: c }: ScorerState): void => {
  if (numberAt(c, clockAt.by) !== 0 && c[clockAt.stage] === stages.none) c[clockAt.stage] = stages.alarm;
};

/** Learns from a point which clock is likelier, and returns whether the season should move to the other clock. */
export const compareClocks = ({ clock: c, numbers: n }: ScorerState, { value, season, other }: Seen): boolean => {
  if (other === undefined) return false;
  const wide = seasonStrays * numberAt(n, at.seasonSpread) + 1e-12;
  const off = value - other.season - numberAt(c, clockAt.slow);
  const gain =
    likelihood(off, Math.hypot(other.stray, wide)) -
    likelihood(value - season - numberAt(n, at.levels), Math.hypot(other.ownDeviation, wide));
  const lowest = c[clockAt.stage] === stages.move ? minEvidence.after : minEvidence.before;
  const evidence = Math.max(lowest, Math.min(maxEvidence, numberAt(c, clockAt.evidence) + gain));
  c[clockAt.evidence] = evidence;
  c[clockAt.sure] = evidence < enough ? 0 : numberAt(c, clockAt.sure) + 1;
  // As for levels relative to the season (`forecaster.ts`): brief changes do not shift the slow level.
  const limit = 3 * Math.min(Math.max(other.stray, other.ownDeviation), 2 * Math.max(numberAt(n, at.spread), 1e-12));
  c[clockAt.slow] = numberAt(c, clockAt.slow) + slowPace * Math.max(-limit, Math.min(limit, off));
  c[clockAt.fast] = numberAt(c, clockAt.fast) + fastPace * (value - other.season - numberAt(c, clockAt.fast));
  return c[clockAt.stage] !== stages.none && numberAt(c, clockAt.sure) * numberAt(n, at.stepMs) >= sureMs;
};

/** Returns the log-likelihood of a deviation by Student's t distribution with three degrees of freedom. */
const likelihood = (off: number, stray: number): number =>
  Math.max(minLogLikelihood, -2 * Math.log1p((off / stray) ** 2 / 3)) - Math.log(stray);

/** Swaps the clocks: the season uses the other clock, and its former clock becomes the other one. */
export const moveClock = ({ clock: c, numbers: n }: ScorerState): void => {
  const [by, slow, fast] = [numberAt(c, clockAt.by), numberAt(c, clockAt.slow), numberAt(c, clockAt.fast)];
  c[clockAt.ahead] = numberAt(c, clockAt.ahead) + by;
  c[clockAt.by] = -by;
  c[clockAt.stage] = stages.move;
  c[clockAt.evidence] = minEvidence.after;
  c[clockAt.sure] = 0;
  c[clockAt.slow] = numberAt(n, at.levels);
  c[clockAt.fast] = numberAt(n, at.levels + 2);
  n.set([slow, slow, fast, fast, fast], at.levels);
  n[at.slope] = 0;
};
