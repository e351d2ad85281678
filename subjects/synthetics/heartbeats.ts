/** From beats to runs: one pure function of what was told, in order, and of the times up to which all that was told is read. */
import type { HeartbeatPing } from '../../schemas/synthetic-heartbeats.ts';
import { durationText, msOf } from '../alerts/durations.ts';
import { dueAfterHeartbeat, graceMs } from './heartbeat-times.ts';
import type { Outcome } from './state.ts';
import type { Expected } from './types/heartbeat.ts';
import type { Span } from './uptime.ts';

interface OpenRun {
  readonly id: string;
  /** When it began; no two runs of a check have the same. */
  readonly startedMs: number;
}

/** What is known of a heartbeat: JSON. */
export interface HeartbeatState {
  /** By what it is watched; null while it is not. */
  readonly watchedBy: string | null;
  /** When the latest run began. */
  readonly baseMs: number;
  /** Due times up to here are answered. */
  readonly answeredMs: number;
  /** Runs that have not ended, the oldest first. */
  readonly open: readonly OpenRun[];
  /** Ids of runs that ended lately. */
  readonly ended: readonly string[];
}

/** A run that ended, or did not come. */
export interface HeartbeatRun {
  /** When it began; of one that did not come, when it was due. */
  readonly dueMs: number;
  readonly startedAtMs: number;
  /** From when on the outcome counts. */
  readonly toldMs: number;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly message: string;
}

interface HeartbeatResult {
  readonly heartbeats: HeartbeatState;
  readonly runs: readonly HeartbeatRun[];
}

/** Runs of a check that are open at once; a run is open until it ends, or is too long. */
const maxOpen = 50;
/** So many ids are known to have ended: the same again is a repeat. */
const maxEnded = 50;
/** Beats that several receivers take at one time may be read in another order by so much. */
const settleMs = 5000;
/** What a run tells of its duration. */
const maxDurationMs = 86_400_000;

export const noHeartbeats: HeartbeatState = { watchedBy: null, baseMs: 0, answeredMs: 0, open: [], ended: [] };

const runOf = (
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

const began = (heartbeats: HeartbeatState, id: string, atMs: number): HeartbeatResult => {
  if (id !== '' && (heartbeats.ended.includes(id) || heartbeats.open.some((run) => run.id === id)))
    return { heartbeats, runs: [] };
  const others = heartbeats.open.filter((run) => run.id !== id);
  const remainingRuns = others.slice(-(maxOpen - 1));
  const given = [
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
    runs: given.map((run) =>
      runOf(run, {
        atMs,
        outcome: 'unknown',
        message:
          run.id === ''
            ? 'another run began before its end was told: give runs that overlap an id (rid)'
            : `more than ${maxOpen} runs are open at once`,
      }),
    ),
  };
};

const outcomeOf = ({ signal, exitCode, message }: HeartbeatPing): { outcome: Outcome; message: string } => {
  const isFailed = signal === 'fail' || (exitCode ?? 0) !== 0;
  if (!isFailed) return { outcome: 'passed', message };
  const reason = exitCode === null ? 'it told a failure' : `it ended with exit code ${exitCode}`;
  return { outcome: 'failed', message: message === '' ? reason : `${reason}: ${message}` };
};

const ended = (heartbeats: HeartbeatState, heartbeat: HeartbeatPing): HeartbeatResult => {
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
      ended: id === '' ? heartbeats.ended : [...heartbeats.ended, id].slice(-maxEnded),
    },
    runs: [runOf(run, { atMs, ...outcomeOf(heartbeat) })],
  };
};

/** Takes a beat. A repeat, which names the same run, changes nothing. */
export const applyHeartbeat = (heartbeats: HeartbeatState, heartbeat: HeartbeatPing): HeartbeatResult =>
  heartbeat.signal === 'start'
    ? began(heartbeats, heartbeat.runId, heartbeat.receivedMs)
    : ended(heartbeats, heartbeat);

interface EvaluationContext {
  /** All that was taken before is read. */
  readonly nowMs: number;
  /** When no beats were taken, as far as anybody knows. */
  readonly gaps: readonly Span[];
  /** Since when the check is there. */
  readonly createdMs: number;
}

const overlapping = (gaps: readonly Span[], { fromMs, toMs }: Span): Span | undefined =>
  gaps.findLast((gap) => gap.fromMs <= toMs && gap.toMs >= fromMs);

const formatGap = ({ fromMs, toMs }: Span): string =>
  `no beats were taken from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`;

/** Begins to watch, or goes by other settings: due times that have passed are not asked for. */
const watched = (
  heartbeats: HeartbeatState,
  watchedBy: string,
  { nowMs, createdMs }: EvaluationContext,
): HeartbeatState => ({
  ...heartbeats,
  watchedBy,
  baseMs: heartbeats.baseMs === 0 ? createdMs : heartbeats.baseMs,
  answeredMs: Math.max(heartbeats.answeredMs, nowMs),
});

const tooLong = (
  heartbeats: HeartbeatState,
  maxRunDuration: string,
  { nowMs, gaps }: EvaluationContext,
): HeartbeatResult => {
  const endOf = ({ startedMs }: OpenRun): number => startedMs + msOf(maxRunDuration);
  const over = heartbeats.open.filter((run) => endOf(run) <= nowMs - settleMs);
  if (over.length === 0) return { heartbeats, runs: [] };
  return {
    heartbeats: {
      ...heartbeats,
      open: heartbeats.open.filter((run) => !over.includes(run)),
      answeredMs: Math.max(heartbeats.answeredMs, ...over.map(endOf)),
    },
    runs: over.map((run) => {
      const gap = overlapping(gaps, { fromMs: run.startedMs, toMs: endOf(run) });
      return runOf(run, {
        atMs: endOf(run),
        outcome: gap === undefined ? 'failed' : 'unknown',
        message:
          gap === undefined
            ? `it did not end within ${maxRunDuration}`
            : `its end was not told within ${maxRunDuration}; ${formatGap(gap)}`,
      });
    }),
  };
};

/** Those that were due and did not come. A run that is open is there. */
const missed = (
  heartbeats: HeartbeatState,
  expected: Expected,
  { nowMs, gaps }: EvaluationContext,
): HeartbeatResult => {
  const lateMs = graceMs(expected);
  const runs: HeartbeatRun[] = [];
  let { answeredMs } = heartbeats;
  for (;;) {
    const dueMs = dueAfterHeartbeat(expected, { baseMs: heartbeats.baseMs, answeredMs });
    if (dueMs === undefined || dueMs + lateMs > nowMs - settleMs) break;
    const gap = overlapping(gaps, { fromMs: dueMs, toMs: dueMs + lateMs });
    runs.push({
      dueMs,
      startedAtMs: dueMs + lateMs,
      toldMs: dueMs + lateMs,
      durationMs: 0,
      outcome: gap === undefined ? 'failed' : 'unknown',
      message: gap === undefined ? `no beat came within ${durationText(lateMs)} of when it was due` : formatGap(gap),
    });
    answeredMs = Math.max(dueMs, gap?.toMs ?? dueMs);
  }
  return { heartbeats: { ...heartbeats, answeredMs }, runs };
};

/** What has become late, or too long, by a moment. */
export const evaluateHeartbeats = (
  heartbeats: HeartbeatState,
  expected: Expected,
  context: EvaluationContext,
): HeartbeatResult => {
  const { every, cron, timeZone } = expected.heartbeat;
  const by = JSON.stringify([every ?? expected.every, cron, timeZone]);
  const current = heartbeats.watchedBy === by ? heartbeats : watched(heartbeats, by, context);
  const long = tooLong(current, expected.heartbeat.maxRunDuration, context);
  if (long.heartbeats.open.length > 0) return long;
  const late = missed(long.heartbeats, expected, context);
  return { heartbeats: late.heartbeats, runs: [...long.runs, ...late.runs] };
};

/** Nobody watches any more: what is open then has no end. */
export const unwatched = (heartbeats: HeartbeatState): HeartbeatState =>
  heartbeats.watchedBy === null ? heartbeats : { ...heartbeats, watchedBy: null, open: [] };
