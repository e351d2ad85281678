/**
 * Converts heartbeats to runs: one pure function of the pings in order, and of the times up to which all pings were
 * read
 */
import type { HeartbeatPing } from '../../schemas/synthetic-heartbeats.ts';
import { formatDuration, parseDurationMs } from '../alerts/durations.ts';
import { graceMs, nextDueAfterHeartbeat } from './heartbeat-times.ts';
import type { Outcome } from './state.ts';
import type { HeartbeatSchedule } from './types/heartbeat.ts';
import type { TimeSpan } from './uptime.ts';

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
  /** Time up to which due times are settled */
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
  readonly heartbeats: HeartbeatState;
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

const applyStart = (heartbeats: HeartbeatState, id: string, atMs: number): HeartbeatResult => {
  if (id !== '' && (heartbeats.ended.includes(id) || heartbeats.open.some((run) => run.id === id)))
    return { heartbeats, runs: [] };
  const others = heartbeats.open.filter((run) => run.id !== id);
  const remainingRuns = others.slice(-(maxOpenRuns - 1));
  const abandonedRuns = [
    ...heartbeats.open.filter((run) => run.id === id),
    ...others.slice(0, others.length - remainingRuns.length),
  ];
  const startedMs = Math.max(atMs, heartbeats.baseMs + 1);
  return {
    heartbeats: {
      ...heartbeats,
      baseMs: startedMs,
      answeredMs: Math.max(heartbeats.answeredMs, startedMs),
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

const applyEnd = (heartbeats: HeartbeatState, heartbeat: HeartbeatPing): HeartbeatResult => {
  const { runId: id, receivedMs: atMs } = heartbeat;
  if (id !== '' && heartbeats.ended.includes(id)) return { heartbeats, runs: [] };
  const known = heartbeats.open.find((run) => run.id === id);
  const run = known ?? { id, startedMs: Math.max(atMs, heartbeats.baseMs + 1) };
  return {
    heartbeats: {
      ...heartbeats,
      baseMs: Math.max(heartbeats.baseMs, run.startedMs),
      answeredMs: Math.max(heartbeats.answeredMs, atMs),
      open: heartbeats.open.filter((one) => one !== known),
      ended: id === '' ? heartbeats.ended : [...heartbeats.ended, id].slice(-maxEndedIds),
    },
    runs: [createRun(run, { atMs, ...toOutcome(heartbeat) })],
  };
};

/** Applies a heartbeat. A duplicate, which names the same run, changes nothing. */
export const applyHeartbeat = (heartbeats: HeartbeatState, heartbeat: HeartbeatPing): HeartbeatResult =>
  heartbeat.signal === 'start'
    ? applyStart(heartbeats, heartbeat.runId, heartbeat.receivedMs)
    : applyEnd(heartbeats, heartbeat);

interface EvaluationContext {
  /** Time before which all accepted heartbeats were read */
  readonly nowMs: number;
  /** Known periods in which no heartbeats were accepted */
  readonly gaps: readonly TimeSpan[];
  /** Creation time of the check */
  readonly createdMs: number;
}

const findOverlap = (gaps: readonly TimeSpan[], { fromMs, toMs }: TimeSpan): TimeSpan | undefined =>
  gaps.findLast((gap) => gap.fromMs <= toMs && gap.toMs >= fromMs);

const formatGap = ({ fromMs, toMs }: TimeSpan): string =>
  `no heartbeats were accepted from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`;

/** Starts monitoring, or applies new settings; past due times are not expected. */
const startMonitoring = (
  heartbeats: HeartbeatState,
  watchedBy: string,
  { nowMs, createdMs }: EvaluationContext,
): HeartbeatState => ({
  ...heartbeats,
  watchedBy,
  baseMs: heartbeats.baseMs === 0 ? createdMs : heartbeats.baseMs,
  answeredMs: Math.max(heartbeats.answeredMs, nowMs),
});

const endOverdueRuns = (
  heartbeats: HeartbeatState,
  maxRunDuration: string,
  { nowMs, gaps }: EvaluationContext,
): HeartbeatResult => {
  const runLimitMs = ({ startedMs }: OpenRun): number => startedMs + parseDurationMs(maxRunDuration);
  const overdueRuns = heartbeats.open.filter((run) => runLimitMs(run) <= nowMs - orderToleranceMs);
  if (overdueRuns.length === 0) return { heartbeats, runs: [] };
  return {
    heartbeats: {
      ...heartbeats,
      open: heartbeats.open.filter((run) => !overdueRuns.includes(run)),
      answeredMs: Math.max(heartbeats.answeredMs, ...overdueRuns.map(runLimitMs)),
    },
    runs: overdueRuns.map((run) => {
      const gap = findOverlap(gaps, { fromMs: run.startedMs, toMs: runLimitMs(run) });
      return createRun(run, {
        atMs: runLimitMs(run),
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
  heartbeats: HeartbeatState,
  expected: HeartbeatSchedule,
  { nowMs, gaps }: EvaluationContext,
): HeartbeatResult => {
  const lateMs = graceMs(expected);
  const runs: HeartbeatRun[] = [];
  let { answeredMs } = heartbeats;
  for (;;) {
    const dueMs = nextDueAfterHeartbeat(expected, { baseMs: heartbeats.baseMs, answeredMs });
    if (dueMs === undefined || dueMs + lateMs > nowMs - orderToleranceMs) break;
    const gap = findOverlap(gaps, { fromMs: dueMs, toMs: dueMs + lateMs });
    runs.push({
      dueMs,
      startedAtMs: dueMs + lateMs,
      toldMs: dueMs + lateMs,
      durationMs: 0,
      outcome: gap === undefined ? 'failed' : 'unknown',
      message:
        gap === undefined ? `no heartbeat arrived within ${formatDuration(lateMs)} of the due time` : formatGap(gap),
    });
    answeredMs = Math.max(dueMs, gap?.toMs ?? dueMs);
  }
  return { heartbeats: { ...heartbeats, answeredMs }, runs };
};

/** Returns the runs that are late or too long at a time. */
export const evaluateHeartbeats = (
  heartbeats: HeartbeatState,
  expected: HeartbeatSchedule,
  context: EvaluationContext,
): HeartbeatResult => {
  const { every, cron, timeZone } = expected.heartbeat;
  const settingsKey = JSON.stringify([every ?? expected.every, cron, timeZone]);
  const current = heartbeats.watchedBy === settingsKey ? heartbeats : startMonitoring(heartbeats, settingsKey, context);
  const long = endOverdueRuns(current, expected.heartbeat.maxRunDuration, context);
  if (long.heartbeats.open.length > 0) return long;
  const late = findMissedRuns(long.heartbeats, expected, context);
  return { heartbeats: late.heartbeats, runs: [...long.runs, ...late.runs] };
};

/** Returns the state without monitoring; open runs have no end. */
export const stopMonitoring = (heartbeats: HeartbeatState): HeartbeatState =>
  heartbeats.watchedBy === null ? heartbeats : { ...heartbeats, watchedBy: null, open: [] };
