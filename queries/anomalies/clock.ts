/**
 * The clock that a season goes by: UTC until clocks of the world change, and an hour more or less from then on where that fits better.
 * Nothing differs before a series has alarmed in the weeks after a change; from then on what the better clock explains is usual.
 */
import { momentOf, seasonOf, strayNear } from './season.ts';
import { at, clockAt, numberAt, type ScorerState } from './state.ts';
import { changeBefore, daysAfter } from './summer-time.ts';

const [hourMs, dayMs, weekMs] = [3_600_000, 86_400_000, 604_800_000];
/** A season is no guide to another hour before it has been seen so often. */
const minMs = 3 * weekMs;
/** How much likelier one clock must have made what came: a logarithm. It is kept between this much and half as much more. */
const enough = 25;
const maxEvidence = 1.5 * enough;
/** For so long it must stay so, so that a job that came late has shown itself; and to go back takes so much more. */
const sureMs = 2 * hourMs;
const minEvidence = { before: -enough, after: -2 * enough } as const;
const [slowPace, fastPace] = [0.01, 0.25];
/** A season strays by more than what is known of its hours. */
const seasonStrays = 2;
/** The least logarithm of a value that does not fit, beside one that does. */
const minLogLikelihood = -6;

/** What has come of a change so far: nothing, an alarm, or that the season goes by the other clock. */
const stages = { none: 0, alarm: 1, move: 2 } as const;

/** A time by the clock of the season. */
export const clockMs = ({ clock }: ScorerState, timeMs: number): number =>
  timeMs + numberAt(clock, clockAt.ahead) * hourMs;

/** What is usual at a time by the other clock, and how far values stray by either. */
export interface Other {
  readonly ms: number;
  readonly season: number;
  readonly stray: number;
  readonly ownStray: number;
}

/** Begins or ends to compare clocks, and tells what the other one knows of this point; nothing at other times of the year. */
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
    stray: strayNear(state, otherMs, stepMs),
    ownStray: strayNear(state, ownMs, stepMs),
  };
};

/** A value, what is usual at its time by the clock of the season, and what the other one knows of it. */
interface Seen {
  readonly value: number;
  readonly season: number;
  readonly other: Other | undefined;
}

/** Whether the other clock seems to be right since the series has alarmed: what it explains is usual, and no season is learnt. */
export const isOtherLikelier = ({ clock: c }: ScorerState): boolean =>
  numberAt(c, clockAt.by) !== 0 && numberAt(c, clockAt.stage) !== stages.none && numberAt(c, clockAt.evidence) > 0;

/** Notes that an anomaly begins. */
export const noteAlarm = ({ clock: c }: ScorerState): void => {
  if (numberAt(c, clockAt.by) !== 0 && c[clockAt.stage] === stages.none) c[clockAt.stage] = stages.alarm;
};

/** Learns from a point which clock is likelier, and tells whether that is clear enough for the season to go by the other one. */
export const compareClocks = ({ clock: c, numbers: n }: ScorerState, { value, season, other }: Seen): boolean => {
  if (other === undefined) return false;
  const wide = seasonStrays * numberAt(n, at.seasonSpread) + 1e-12;
  const off = value - other.season - numberAt(c, clockAt.slow);
  const gain =
    likelihood(off, Math.hypot(other.stray, wide)) -
    likelihood(value - season - numberAt(n, at.levels), Math.hypot(other.ownStray, wide));
  const lowest = c[clockAt.stage] === stages.move ? minEvidence.after : minEvidence.before;
  const evidence = Math.max(lowest, Math.min(maxEvidence, numberAt(c, clockAt.evidence) + gain));
  c[clockAt.evidence] = evidence;
  c[clockAt.sure] = evidence < enough ? 0 : numberAt(c, clockAt.sure) + 1;
  // As levels beside the season by its own clock do (`foresight.ts`): what is brief does not shift the slow one.
  const limit = 3 * Math.min(Math.max(other.stray, other.ownStray), 2 * Math.max(numberAt(n, at.spread), 1e-12));
  c[clockAt.slow] = numberAt(c, clockAt.slow) + slowPace * Math.max(-limit, Math.min(limit, off));
  c[clockAt.fast] = numberAt(c, clockAt.fast) + fastPace * (value - other.season - numberAt(c, clockAt.fast));
  return c[clockAt.stage] !== stages.none && numberAt(c, clockAt.sure) * numberAt(n, at.stepMs) >= sureMs;
};

/** The logarithm of how likely it is that a value is so far off: by Student's t distribution of three degrees of freedom. */
const likelihood = (off: number, stray: number): number =>
  Math.max(minLogLikelihood, -2 * Math.log1p((off / stray) ** 2 / 3)) - Math.log(stray);

/** The season goes by the other clock, and the one that it went by until now is the other one. */
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
