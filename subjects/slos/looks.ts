/** Which slices of an objective are measured when: those that ended, late records, and the time before it was made. */

import type { Window } from '../../queries/slos/windows.ts';
import { hashOf } from '../../runtime/hash-of.ts';
import { mostSlicesTold, slicesKeptDays } from '../../schemas/slo-slices.ts';
import { msOf } from '../alerts/durations.ts';
import type { SloFields } from './document.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** So late a record may be and counts. */
export const lateMs = dayMs;
/** A slice that ended is measured again for so long with each look, as its records land within seconds. */
const freshMs = 3 * minuteMs;
/** So often late records are looked for. */
const lateEveryMs = 9 * minuteMs;
/** So many slices are asked one by one, as those of several objectives are then asked together. */
const mostSingle = freshMs / minuteMs;
/** Pieces of the time before, of one look. */
const piecesBack = 4;

/** How far an objective is measured: slices of its series from `fromMs` up to `upToMs`. */
export interface Measured {
  readonly series: string;
  readonly fromMs: number;
  readonly upToMs: number;
  /** When late records were looked for last. */
  readonly lateMs: number;
}

/** What is measured, as a short text: another indicator begins another series. */
export const seriesOf = ({ query, type, service, latencyThresholdMs }: SloFields): string => {
  const measured = query.sli ?? { type, service, latencyThresholdMs };
  return hashOf(measured, query.slice).slice(0, 16);
};

/** What one look measures, and how far the objective is measured after it. */
export interface Looks {
  /** Slices that ended. */
  readonly ended: readonly Window[];
  /** The time before what was measured, newest first. */
  readonly before: readonly Window[];
  /** Slices of which those are told that changed. */
  readonly late: readonly Window[];
  readonly next: Measured;
}

/** Pieces of at most so many slices, as are told at once. */
const piecesOf = ({ fromMs, toMs }: Window, sliceMs: number, slices = mostSlicesTold): Window[] => {
  const pieceMs = slices * sliceMs;
  return Array.from({ length: Math.max(0, Math.ceil((toMs - fromMs) / pieceMs)) }, (_, index) => ({
    fromMs: fromMs + index * pieceMs,
    toMs: Math.min(toMs, fromMs + (index + 1) * pieceMs),
  }));
};

/** What to measure at a time, after what was measured before; `keptDays` of telemetry can be read. */
export const looksAt = (
  slo: SloFields,
  known: Measured | undefined,
  { nowMs, keptDays }: { readonly nowMs: number; readonly keptDays: number },
): Looks => {
  const sliceMs = msOf(slo.query.slice);
  const begin = (ms: number): number => Math.floor(ms / sliceMs) * sliceMs;
  const endMs = begin(nowMs);
  const series = seriesOf(slo);
  const oldestMs = begin(nowMs - Math.min(keptDays, slicesKeptDays) * dayMs) + sliceMs;
  const own = known?.series === series ? known : { series, fromMs: endMs, upToMs: endMs, lateMs: nowMs };
  const [ahead = { fromMs: endMs, toMs: endMs }] = piecesOf(
    { fromMs: Math.max(oldestMs, own.fromMs, Math.min(own.upToMs, begin(nowMs - freshMs))), toMs: endMs },
    sliceMs,
  );
  const before = piecesOf({ fromMs: Math.min(oldestMs, own.fromMs), toMs: own.fromMs }, sliceMs)
    .slice(-piecesBack)
    .reverse();
  const isLate = nowMs - own.lateMs >= lateEveryMs;
  // A slice is looked at once more after the last record that counts, however long nothing ran.
  const lateFromMs = Math.max(begin(own.lateMs - lateMs), own.fromMs, oldestMs);
  return {
    ended: (ahead.toMs - ahead.fromMs) / sliceMs > mostSingle ? [ahead] : piecesOf(ahead, sliceMs, 1),
    before,
    late: isLate ? piecesOf({ fromMs: lateFromMs, toMs: ahead.fromMs }, sliceMs) : [],
    next: {
      series,
      fromMs: Math.min(own.fromMs, before.at(-1)?.fromMs ?? own.fromMs),
      upToMs: ahead.toMs,
      lateMs: isLate ? nowMs : own.lateMs,
    },
  };
};

/** Up to when late records are counted. */
export const settledUpTo = ({ lateMs: lookedMs, upToMs }: Measured): number => Math.min(upToMs, lookedMs - lateMs);
