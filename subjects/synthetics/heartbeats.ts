/**
 * Converts heartbeats to runs: one pure function of the pings in order, and of the times up to which all pings were
 * read
 */
import type { HeartbeatPing } from '../../schemas/synthetic-heartbeats.ts';
import { formatDuration, parseDurationMs } from '../alerts/durations.ts';
import { findNextDueAfterHeartbeat, getGraceMs } from './heartbeat-times.ts';
import type { Outcome } from './state.ts';
import type { HeartbeatSchedule } from './types/heartbeat.ts';
import type { TimePeriod } from './uptime.ts';

interface OpenRun {
  readonly id: string;
  /** Start of the run, unique per check */
  readonly startedMs: number;
}

/** State of a heartbeat, as JSON */
export interface HeartbeatState {
  /** Settings by which it is monitored; `null` while it is not */
  readonly watchedBy: string | null;
  /** Start of the latest run */
  readonly baseMs: number;
  /** Time up to which due times have an outcome */
  readonly answeredMs: number;
  /** Open runs, the oldest first */
  readonly open: readonly OpenRun[];
  /** Ids of recently ended runs */
  readonly ended: readonly string[];
}

/** A run that ended or was missed */
export interface HeartbeatRun {
  /** Start of the run; for a missed run, its due time */
  readonly dueMs: number;
  readonly startedAtMs: number;
  /** Time from which the outcome counts */
  readonly toldMs: number;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly message: string;
}

interface HeartbeatResult {
  readonly nextState: HeartbeatState;
  readonly runs: readonly HeartbeatRun[];
}

/** Maximum number of open runs of a check; a run is open until it ends or exceeds its limit */
const maxOpenRuns = 50;
/** Maximum number of remembered ids of ended runs; a repeated id is a duplicate */
const maxEndedIds = 50;
/** Tolerance for the order of heartbeats that several receivers accept at the same time */
const orderToleranceMs = 5000;
/** Maximum duration that a run reports */
const maxDurationMs = 86_400_000;

export const initialHeartbeatState: HeartbeatState = { watchedBy: null, baseMs: 0, answeredMs: 0, open: [], ended: [] };

const createRun = (
  { startedMs }: Pick<OpenRun, 'startedMs'>,
  { atMs, outcome, message }: { readonly atMs: number; readonly outcome: Outcome; readonly message: string },
): HeartbeatRun => ({
  dueMs: startedMs,
  startedAtMs: startedMs,
  toldMs: Math.max(atMs, startedMs),
  outcome,
  message,
  durationMs: Math.min(maxDurationMs, Math.max(0, atMs - startedMs)),
});

const applyStart = (state: HeartbeatState, id: string, atMs: number): HeartbeatResult => {
  if (id !== '' && (state.ended.includes(id) || state.open.some((run) => run.id === id)))
    return { nextState: state, runs: [] };
  const otherRuns = state.open.filter((run) => run.id !== id);
  const remainingRuns = otherRuns.slice(-(maxOpenRuns - 1));
  const abandonedRuns = [
    ...state.open.filter((run) => run.id === id),
    ...otherRuns.slice(0, otherRuns.length - remainingRuns.length),
  ];
  const startedMs = Math.max(atMs, state.baseMs + 1);
  return {
    nextState: {
      ...state,
      baseMs: startedMs,
      answeredMs: Math.max(state.answeredMs, startedMs),
      open: [...remainingRuns, { id, startedMs }],
    },
    runs: abandonedRuns.map((run) =>
      createRun(run, {
        atMs,
        outcome: 'unknown',
        message:
          run.id === ''
            ? 'another run began before it ended: set an id (rid) for overlapping runs'
            : `more than ${maxOpenRuns} runs are open at once`,
      }),
    ),
  };
};

const toOutcome = ({ signal, exitCode, message }: HeartbeatPing): { outcome: Outcome; message: string } => {
  const isFailed = signal === 'fail' || (exitCode ?? 0) !== 0;
  if (!isFailed) return { outcome: 'passed', message };
  const reason = exitCode === null ? 'it reported a failure' : `it ended with exit code ${exitCode}`;
  return { outcome: 'failed', message: message === '' ? reason : `${reason}: ${message}` };
};

const applyEnd = (state: HeartbeatState, heartbeat: HeartbeatPing): HeartbeatResult => {
  const { runId: id, receivedMs: atMs } = heartbeat;
  if (id !== '' && state.ended.includes(id)) return { nextState: state, runs: [] };
  const openRun = state.open.find((run) => run.id === id);
  const run = openRun ?? { id, startedMs: Math.max(atMs, state.baseMs + 1) };
  return {
    nextState: {
      ...state,
      baseMs: Math.max(state.baseMs, run.startedMs),
      answeredMs: Math.max(state.answeredMs, atMs),
      open: state.open.filter((one) => one !== openRun),
      ended: id === '' ? state.ended : [...state.ended, id].slice(-maxEndedIds),
    },
    runs: [createRun(run, { atMs, ...toOutcome(heartbeat) })],
  };
};

/** Applies a heartbeat. A duplicate with the id of a known run changes nothing. */
export const applyHeartbeat = (state: HeartbeatState, heartbeat: HeartbeatPing): HeartbeatResult =>
  heartbeat.signal === 'start' ? applyStart(state, heartbeat.runId, heartbeat.receivedMs) : applyEnd(state, heartbeat);

interface EvaluationContext {
  /** Time before which all accepted heartbeats were read */
  readonly nowMs: number;
  /** Known periods in which no heartbeats were accepted */
  readonly gaps: readonly TimePeriod[];
  /** Creation time of the check */
  readonly createdMs: number;
}

const findOverlap = (gaps: readonly TimePeriod[], { fromMs, toMs }: TimePeriod): TimePeriod | undefined =>
  gaps.findLast((gap) => gap.fromMs <= toMs && gap.toMs >= fromMs);

const formatGap = ({ fromMs, toMs }: TimePeriod): string =>
  `no heartbeats were accepted from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`;

/** Starts monitoring, or applies new settings; past due times are not expected. */
const startMonitoring = (
  state: HeartbeatState,
  watchedBy: string,
  { nowMs, createdMs }: EvaluationContext,
): HeartbeatState => ({
  ...state,
  watchedBy,
  baseMs: state.baseMs === 0 ? createdMs : state.baseMs,
  answeredMs: Math.max(state.answeredMs, nowMs),
});

const endOverdueRuns = (
  state: HeartbeatState,
  maxRunDuration: string,
  { nowMs, gaps }: EvaluationContext,
): HeartbeatResult => {
  const getRunLimitMs = ({ startedMs }: OpenRun): number => startedMs + parseDurationMs(maxRunDuration);
  const overdueRuns = state.open.filter((run) => getRunLimitMs(run) <= nowMs - orderToleranceMs);
  if (overdueRuns.length === 0) return { nextState: state, runs: [] };
  return {
    nextState: {
      ...state,
      open: state.open.filter((run) => !overdueRuns.includes(run)),
      answeredMs: Math.max(state.answeredMs, ...overdueRuns.map(getRunLimitMs)),
    },
    runs: overdueRuns.map((run) => {
      const gap = findOverlap(gaps, { fromMs: run.startedMs, toMs: getRunLimitMs(run) });
      return createRun(run, {
        atMs: getRunLimitMs(run),
        outcome: gap === undefined ? 'failed' : 'unknown',
        message:
          gap === undefined
            ? `it did not end within ${maxRunDuration}`
            : `its end was not reported within ${maxRunDuration}; ${formatGap(gap)}`,
      });
    }),
  };
};

/** Returns the missed runs. A run that is open is not missed. */
const findMissedRuns = (
  state: HeartbeatState,
  expected: HeartbeatSchedule,
  { nowMs, gaps }: EvaluationContext,
): HeartbeatResult => {
  const graceLimitMs = getGraceMs(expected);
  const runs: HeartbeatRun[] = [];
  let { answeredMs } = state;
  for (;;) {
    const dueMs = findNextDueAfterHeartbeat(expected, { baseMs: state.baseMs, answeredMs });
    if (dueMs === undefined || dueMs + graceLimitMs > nowMs - orderToleranceMs) break;
    const gap = findOverlap(gaps, { fromMs: dueMs, toMs: dueMs + graceLimitMs });
    runs.push({
      dueMs,
      startedAtMs: dueMs + graceLimitMs,
      toldMs: dueMs + graceLimitMs,
      durationMs: 0,
      outcome: gap === undefined ? 'failed' : 'unknown',
      message:
        gap === undefined
          ? `no heartbeat arrived within ${formatDuration(graceLimitMs)} of the due time`
          : formatGap(gap),
    });
    answeredMs = Math.max(dueMs, gap?.toMs ?? dueMs);
  }
  return { nextState: { ...state, answeredMs }, runs };
};

/** Returns the runs that are late or too long at a time. */
export const evaluateHeartbeats = (
  state: HeartbeatState,
  expected: HeartbeatSchedule,
  context: EvaluationContext,
): HeartbeatResult => {
  const { every, cron, timeZone } = expected.heartbeat;
  const settingsKey = JSON.stringify([every ?? expected.every, cron, timeZone]);
  const current = state.watchedBy === settingsKey ? state : startMonitoring(state, settingsKey, context);
  const overdue = endOverdueRuns(current, expected.heartbeat.maxRunDuration, context);
  if (overdue.nextState.open.length > 0) return overdue;
  const missed = findMissedRuns(overdue.nextState, expected, context);
  return { nextState: missed.nextState, runs: [...overdue.runs, ...missed.runs] };
};

/** Returns the state without monitoring; open runs have no end. */
export const stopMonitoring = (state: HeartbeatState): HeartbeatState =>
  state.watchedBy === null ? state : { ...state, watchedBy: null, open: [] };
