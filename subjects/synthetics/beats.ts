/** From beats to runs: one pure function of what was told, in order, and of the times up to which all that was told is read. */
import type { Beat } from '../../schemas/synthetic-beats.ts';
import { durationText, msOf } from '../alerts/durations.ts';
import { dueAfterBeat, graceMs } from './beat-times.ts';
import type { Outcome } from './state.ts';
import type { Expected } from './types/heartbeat.ts';
import type { Span } from './uptime.ts';

interface OpenRun {
  readonly id: string;
  /** When it began; no two runs of a check have the same. */
  readonly startedMs: number;
}

/** What is known of a heartbeat: JSON. */
export interface Beats {
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
export interface BeatRun {
  /** When it began; of one that did not come, when it was due. */
  readonly dueMs: number;
  readonly startedAtMs: number;
  /** From when on the outcome counts. */
  readonly toldMs: number;
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly message: string;
}

interface Told {
  readonly beats: Beats;
  readonly runs: readonly BeatRun[];
}

/** Runs of a check that are open at once; a run is open until it ends, or is too long. */
const mostOpen = 50;
/** So many ids are known to have ended: the same again is a repeat. */
const mostEnded = 50;
/** Beats that several receivers take at one time may be read in another order by so much. */
const settleMs = 5000;
/** What a run tells of its duration. */
const mostMs = 86_400_000;

export const noBeats: Beats = { watchedBy: null, baseMs: 0, answeredMs: 0, open: [], ended: [] };

const runOf = (
  { startedMs }: Pick<OpenRun, 'startedMs'>,
  { atMs, outcome, message }: { readonly atMs: number; readonly outcome: Outcome; readonly message: string },
): BeatRun => ({
  ...{ dueMs: startedMs, startedAtMs: startedMs, toldMs: Math.max(atMs, startedMs), outcome, message },
  durationMs: Math.min(mostMs, Math.max(0, atMs - startedMs)),
});

const began = (beats: Beats, id: string, atMs: number): Told => {
  if (id !== '' && (beats.ended.includes(id) || beats.open.some((run) => run.id === id))) return { beats, runs: [] };
  const others = beats.open.filter((run) => run.id !== id);
  const kept = others.slice(-(mostOpen - 1));
  const given = [...beats.open.filter((run) => run.id === id), ...others.slice(0, others.length - kept.length)];
  const startedMs = Math.max(atMs, beats.baseMs + 1);
  return {
    beats: {
      ...{ ...beats, baseMs: startedMs, answeredMs: Math.max(beats.answeredMs, startedMs) },
      open: [...kept, { id, startedMs }],
    },
    runs: given.map((run) =>
      runOf(run, {
        ...{ atMs, outcome: 'unknown' },
        message:
          run.id === ''
            ? 'another run began before its end was told: give runs that overlap an id (rid)'
            : `more than ${mostOpen} runs are open at once`,
      }),
    ),
  };
};

const outcomeOf = ({ signal, exitCode, message }: Beat): { outcome: Outcome; message: string } => {
  const isFailed = signal === 'fail' || (exitCode ?? 0) !== 0;
  if (!isFailed) return { outcome: 'passed', message };
  const why = exitCode === null ? 'it told a failure' : `it ended with exit code ${exitCode}`;
  return { outcome: 'failed', message: message === '' ? why : `${why}: ${message}` };
};

const ended = (beats: Beats, beat: Beat): Told => {
  const { runId: id, receivedMs: atMs } = beat;
  if (id !== '' && beats.ended.includes(id)) return { beats, runs: [] };
  const known = beats.open.find((run) => run.id === id);
  const run = known ?? { id, startedMs: Math.max(atMs, beats.baseMs + 1) };
  return {
    beats: {
      ...{ ...beats, baseMs: Math.max(beats.baseMs, run.startedMs) },
      answeredMs: Math.max(beats.answeredMs, atMs),
      open: beats.open.filter((one) => one !== known),
      ended: id === '' ? beats.ended : [...beats.ended, id].slice(-mostEnded),
    },
    runs: [runOf(run, { atMs, ...outcomeOf(beat) })],
  };
};

/** Takes a beat. A repeat, which names the same run, changes nothing. */
export const takeBeat = (beats: Beats, beat: Beat): Told =>
  beat.signal === 'start' ? began(beats, beat.runId, beat.receivedMs) : ended(beats, beat);

interface Looking {
  /** All that was taken before is read. */
  readonly nowMs: number;
  /** When no beats were taken, as far as anybody knows. */
  readonly gaps: readonly Span[];
  /** Since when the check is there. */
  readonly createdMs: number;
}

const overlapping = (gaps: readonly Span[], { fromMs, toMs }: Span): Span | undefined =>
  gaps.findLast((gap) => gap.fromMs <= toMs && gap.toMs >= fromMs);

const notTaken = ({ fromMs, toMs }: Span): string =>
  `no beats were taken from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`;

/** Begins to watch, or goes by other settings: due times that have passed are not asked for. */
const watched = (beats: Beats, watchedBy: string, { nowMs, createdMs }: Looking): Beats => ({
  ...{ ...beats, watchedBy, baseMs: beats.baseMs === 0 ? createdMs : beats.baseMs },
  answeredMs: Math.max(beats.answeredMs, nowMs),
});

const tooLong = (beats: Beats, longestRun: string, { nowMs, gaps }: Looking): Told => {
  const endOf = ({ startedMs }: OpenRun): number => startedMs + msOf(longestRun);
  const over = beats.open.filter((run) => endOf(run) <= nowMs - settleMs);
  if (over.length === 0) return { beats, runs: [] };
  return {
    beats: {
      ...beats,
      open: beats.open.filter((run) => !over.includes(run)),
      answeredMs: Math.max(beats.answeredMs, ...over.map(endOf)),
    },
    runs: over.map((run) => {
      const gap = overlapping(gaps, { fromMs: run.startedMs, toMs: endOf(run) });
      return runOf(run, {
        atMs: endOf(run),
        outcome: gap === undefined ? 'failed' : 'unknown',
        message:
          gap === undefined
            ? `it did not end within ${longestRun}`
            : `its end was not told within ${longestRun}; ${notTaken(gap)}`,
      });
    }),
  };
};

/** Those that were due and did not come. A run that is open is there. */
const missed = (beats: Beats, expected: Expected, { nowMs, gaps }: Looking): Told => {
  const lateMs = graceMs(expected);
  const runs: BeatRun[] = [];
  let { answeredMs } = beats;
  for (;;) {
    const dueMs = dueAfterBeat(expected, { baseMs: beats.baseMs, answeredMs });
    if (dueMs === undefined || dueMs + lateMs > nowMs - settleMs) break;
    const gap = overlapping(gaps, { fromMs: dueMs, toMs: dueMs + lateMs });
    runs.push({
      ...{ dueMs, startedAtMs: dueMs + lateMs, toldMs: dueMs + lateMs, durationMs: 0 },
      outcome: gap === undefined ? 'failed' : 'unknown',
      message: gap === undefined ? `no beat came within ${durationText(lateMs)} of when it was due` : notTaken(gap),
    });
    answeredMs = Math.max(dueMs, gap?.toMs ?? dueMs);
  }
  return { beats: { ...beats, answeredMs }, runs };
};

/** What has become late, or too long, by a moment. */
export const lookAt = (beats: Beats, expected: Expected, looking: Looking): Told => {
  const { every, cron, timeZone } = expected.heartbeat;
  const by = JSON.stringify([every ?? expected.every, cron, timeZone]);
  const current = beats.watchedBy === by ? beats : watched(beats, by, looking);
  const long = tooLong(current, expected.heartbeat.longestRun, looking);
  if (long.beats.open.length > 0) return long;
  const late = missed(long.beats, expected, looking);
  return { beats: late.beats, runs: [...long.runs, ...late.runs] };
};

/** Nobody watches any more: what is open then has no end. */
export const unwatched = (beats: Beats): Beats =>
  beats.watchedBy === null ? beats : { ...beats, watchedBy: null, open: [] };
