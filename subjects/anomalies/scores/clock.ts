/**
 * Detects that a season follows local time. The clock of a season is UTC until a daylight saving change; then it is
 * shifted by an hour if that fits the values better. Nothing changes until the series has an anomaly in the weeks
 * after the change. From then on, values that fit the likelier clock are normal.
 */
import { getDeviationNear, getSeasonalValue, toSeasonPosition } from './season.ts';
import { clockSlots, readSlot, type ScorerState, slots } from './state.ts';
import { daysAfter, findRecentChange } from './summer-time.ts';

const [hourMs, dayMs, weekMs] = [3_600_000, 86_400_000, 604_800_000];
/** Minimum length of the history before the values of another hour can be predicted from the season. */
const minMs = 3 * weekMs;
/**
 * Minimum log-likelihood ratio in favor of the other clock. The ratio is bounded between this and 1.5 times as much.
 */
const minSwitchEvidence = 25;
const maxEvidence = 1.5 * minSwitchEvidence;
/**
 * Time for which the ratio must persist, so that a job that is late once does not shift the clock. Switching back takes
 * this much longer.
 */
const minPersistenceMs = 2 * hourMs;
const minEvidence = { before: -minSwitchEvidence, after: -2 * minSwitchEvidence } as const;
const [slowRate, fastRate] = [0.01, 0.25];
/** Factor by which the deviation of a season exceeds the usual deviation of its hours. */
const seasonDeviationFactor = 2;
/** Minimum log-likelihood of a value that does not fit, relative to one that does. */
const minLogLikelihood = -6;

/** Stages of a clock change: nothing, an alarm, or a move of the season to the other clock. */
const stages = { none: 0, alarm: 1, move: 2 } as const;

/** Converts a time to the clock of the season. */
export const toClockMs = ({ clock }: ScorerState, timeMs: number): number =>
  timeMs + readSlot(clock, clockSlots.ahead) * hourMs;

/** Seasonal value at a time by the other clock, and the usual deviation by each clock. */
export interface OtherClockPoint {
  readonly ms: number;
  readonly season: number;
  readonly deviation: number;
  readonly ownDeviation: number;
}

/**
 * Starts or ends the comparison of clocks, and returns the other clock's view of this point; undefined at other times
 * of the year.
 */
export const compareWithOtherClock = (state: ScorerState, timeMs: number): OtherClockPoint | undefined => {
  const { clock: clockState, numbers: n } = state;
  const stepMs = readSlot(n, slots.stepMs);
  if (stepMs > hourMs || readSlot(n, slots.count) * stepMs < minMs) return undefined;
  if (Math.floor(timeMs / dayMs) > readSlot(clockState, clockSlots.day) + daysAfter) clockState[clockSlots.by] = 0;
  const change = findRecentChange(timeMs);
  const isComparing =
    clockState[clockSlots.by] !== 0 &&
    (clockState[clockSlots.stage] === stages.move || readSlot(clockState, clockSlots.evidence) > 0);
  if (change !== undefined && change.day !== clockState[clockSlots.day] && !isComparing)
    clockState.set(
      [change.by, change.day, stages.none, 0, 0, readSlot(n, slots.levels), readSlot(n, slots.levels + 2)],
      clockSlots.by,
    );
  const by = readSlot(clockState, clockSlots.by);
  if (by === 0) return undefined;
  const ownMs = toClockMs(state, timeMs);
  const otherMs = ownMs + by * hourMs;
  return {
    ms: otherMs,
    season: getSeasonalValue(state, toSeasonPosition(otherMs, stepMs)),
    deviation: getDeviationNear(state, otherMs, stepMs),
    ownDeviation: getDeviationNear(state, ownMs, stepMs),
  };
};

/** A value, the seasonal value at its time, and the other clock's observation. */
interface ClockObservation {
  readonly value: number;
  readonly season: number;
  readonly other: OtherClockPoint | undefined;
}

/**
 * Returns whether the other clock is likelier since the series alarmed: values it explains are then normal, and no
 * season is learned.
 */
export const isOtherClockLikelier = ({ clock: clockState }: ScorerState): boolean =>
  readSlot(clockState, clockSlots.by) !== 0 &&
  readSlot(clockState, clockSlots.stage) !== stages.none &&
  readSlot(clockState, clockSlots.evidence) > 0;

/** Records the start of an anomaly. */
export const recordAlarm = ({ clock: clockState }: ScorerState): void => {
  if (readSlot(clockState, clockSlots.by) !== 0 && clockState[clockSlots.stage] === stages.none)
    clockState[clockSlots.stage] = stages.alarm;
};

/** Learns from a point which clock is likelier, and returns whether the season should move to the other clock. */
export const compareClocks = (
  { clock: clockState, numbers: n }: ScorerState,
  { value, season, other }: ClockObservation,
): boolean => {
  if (other === undefined) return false;
  const seasonDeviation = seasonDeviationFactor * readSlot(n, slots.seasonSpread) + 1e-12;
  const residual = value - other.season - readSlot(clockState, clockSlots.slow);
  const evidenceGain =
    logLikelihood(residual, Math.hypot(other.deviation, seasonDeviation)) -
    logLikelihood(value - season - readSlot(n, slots.levels), Math.hypot(other.ownDeviation, seasonDeviation));
  const minimum = clockState[clockSlots.stage] === stages.move ? minEvidence.after : minEvidence.before;
  const evidence = Math.max(minimum, Math.min(maxEvidence, readSlot(clockState, clockSlots.evidence) + evidenceGain));
  clockState[clockSlots.evidence] = evidence;
  clockState[clockSlots.sure] = evidence < minSwitchEvidence ? 0 : readSlot(clockState, clockSlots.sure) + 1;
  // As for levels relative to the season (`forecaster.ts`): brief changes do not shift the slow level.
  const limit =
    3 * Math.min(Math.max(other.deviation, other.ownDeviation), 2 * Math.max(readSlot(n, slots.spread), 1e-12));
  clockState[clockSlots.slow] =
    readSlot(clockState, clockSlots.slow) + slowRate * Math.max(-limit, Math.min(limit, residual));
  clockState[clockSlots.fast] =
    readSlot(clockState, clockSlots.fast) + fastRate * (value - other.season - readSlot(clockState, clockSlots.fast));
  return (
    clockState[clockSlots.stage] !== stages.none &&
    readSlot(clockState, clockSlots.sure) * readSlot(n, slots.stepMs) >= minPersistenceMs
  );
};

/** Returns the log-likelihood of a deviation by Student's t distribution with three degrees of freedom. */
const logLikelihood = (deviation: number, scale: number): number =>
  Math.max(minLogLikelihood, -2 * Math.log1p((deviation / scale) ** 2 / 3)) - Math.log(scale);

/** Swaps the clocks: the season uses the other clock, and its former clock becomes the other one. */
export const swapClocks = ({ clock: clockState, numbers: n }: ScorerState): void => {
  const [by, slow, fast] = [
    readSlot(clockState, clockSlots.by),
    readSlot(clockState, clockSlots.slow),
    readSlot(clockState, clockSlots.fast),
  ];
  clockState[clockSlots.ahead] = readSlot(clockState, clockSlots.ahead) + by;
  clockState[clockSlots.by] = -by;
  clockState[clockSlots.stage] = stages.move;
  clockState[clockSlots.evidence] = minEvidence.after;
  clockState[clockSlots.sure] = 0;
  clockState[clockSlots.slow] = readSlot(n, slots.levels);
  clockState[clockSlots.fast] = readSlot(n, slots.levels + 2);
  n.set([slow, slow, fast, fast, fast], slots.levels);
  n[slots.slope] = 0;
};
