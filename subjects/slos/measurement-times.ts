/** Which slices of an objective are measured when: those that ended, late records, and the time before it was made. */

import type { Window } from '../../queries/slos/windows.ts';
import { hashOf } from '../../runtime/hash-of.ts';
import { maxSlicesPerMessage, slicesRetentionDays } from '../../schemas/slo-slices.ts';
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
/**
 * So far back all is measured again with each look for late records, however long they took to land. Of the time before, what was received since
 * then is looked for, or since what had landed with the look before, which reads nothing else (`late-records.ts`).
 */
const measuredAgainMs = 60 * minuteMs;
/** So often all of the last day is measured again: what cannot be found by its reception. */
const allEveryMs = 180 * minuteMs;
/** After such a pause too. */
const pauseMs = measuredAgainMs / 2;
/** Pieces of the time before, of one look. */
const piecesBack = 4;

/** How far an objective is measured: slices of its series from `fromMs` up to `upToMs`. */
export interface Measured {
  readonly series: string;
  readonly fromMs: number;
  readonly upToMs: number;
  /** When late records were looked for last. */
  readonly lateMs: number;
  /** When all was measured again last; absent in what former versions kept. */
  readonly allMs?: number | undefined;
  /** All records that were received up to then had landed when late ones were looked for; absent where that was not known. */
  readonly landedMs?: number | undefined;
}

/** What is measured, as a short text: another indicator begins another series. */
export const seriesOf = ({ query, type, service, latencyThresholdMs }: SloFields): string => {
  const measured = query.sli ?? { type, service, latencyThresholdMs };
  return hashOf(measured, query.slice).slice(0, 16);
};

/** What one look measures, and how far the objective is measured after it. */
export interface MeasurementPlan {
  /** Slices that ended. */
  readonly ended: readonly Window[];
  /** The time before what was measured, newest first. */
  readonly before: readonly Window[];
  /** Slices of which those are told that changed. */
  readonly late: readonly Window[];
  /** Of these slices those are measured again that records came for since they ended. */
  readonly recheck: readonly Window[];
  readonly next: Measured;
}

/** Pieces of at most so many slices, as are told at once. */
const piecesOf = ({ fromMs, toMs }: Window, sliceMs: number): Window[] => {
  const pieceMs = maxSlicesPerMessage * sliceMs;
  return Array.from({ length: Math.max(0, Math.ceil((toMs - fromMs) / pieceMs)) }, (_, index) => ({
    fromMs: fromMs + index * pieceMs,
    toMs: Math.min(toMs, fromMs + (index + 1) * pieceMs),
  }));
};

/**
 * When late records are to be looked for at the latest before a time. Objectives that ask for the same do so in the same minute, and others in
 * others.
 */
const lateDueMs = ({ query: { sli }, service }: SloFields, nowMs: number): number => {
  const queryKey = sli === undefined ? service : JSON.stringify(sli.total ?? sli.value);
  const shiftMs = (Number.parseInt(hashOf(queryKey).slice(0, 8), 16) % (lateEveryMs / minuteMs)) * minuteMs;
  return Math.floor((nowMs - shiftMs) / lateEveryMs) * lateEveryMs + shiftMs;
};

/** The last day again, where that is due. */
const planLateSlices = (
  slo: SloFields,
  known: Measured,
  { nowMs, fromMs, toMs }: Window & { readonly nowMs: number },
): Pick<MeasurementPlan, 'late' | 'recheck'> & Pick<Measured, 'lateMs' | 'allMs'> => {
  const { lateMs: lastLateCheckMs, allMs } = known;
  if (lastLateCheckMs >= lateDueMs(slo, nowMs)) return { late: [], recheck: [], lateMs: lastLateCheckMs, allMs };
  const sliceMs = msOf(slo.query.slice);
  const isAll = allMs === undefined || nowMs - allMs >= allEveryMs || nowMs - lastLateCheckMs > pauseMs;
  const recentMs = Math.floor((nowMs - measuredAgainMs) / sliceMs) * sliceMs;
  const cutMs = isAll ? fromMs : Math.min(toMs, Math.max(fromMs, recentMs));
  return {
    late: piecesOf({ fromMs: cutMs, toMs }, sliceMs),
    recheck: piecesOf({ fromMs, toMs: cutMs }, sliceMs),
    lateMs: nowMs,
    allMs: isAll ? nowMs : allMs,
  };
};

/** What to measure at a time, after what was measured before; `keptDays` of telemetry can be read. */
export const planMeasurements = (
  slo: SloFields,
  known: Measured | undefined,
  { nowMs, retentionDays }: { readonly nowMs: number; readonly retentionDays: number },
): MeasurementPlan => {
  const sliceMs = msOf(slo.query.slice);
  const begin = (ms: number): number => Math.floor(ms / sliceMs) * sliceMs;
  const endMs = begin(nowMs);
  const series = seriesOf(slo);
  const oldestMs = begin(nowMs - Math.min(retentionDays, slicesRetentionDays) * dayMs) + sliceMs;
  const fresh: Measured = { series, fromMs: endMs, upToMs: endMs, lateMs: nowMs, allMs: nowMs };
  const own = known?.series === series ? known : fresh;
  const ahead = piecesOf(
    { fromMs: Math.max(oldestMs, own.fromMs, Math.min(own.upToMs, begin(nowMs - freshMs))), toMs: endMs },
    sliceMs,
  ).slice(0, 1);
  const { fromMs: settlingMs, toMs: upToMs } = ahead[0] ?? { fromMs: endMs, toMs: endMs };
  const before = piecesOf({ fromMs: Math.min(oldestMs, own.fromMs), toMs: own.fromMs }, sliceMs)
    .slice(-piecesBack)
    .reverse();
  // A slice is looked at once more after the last record that counts, however long nothing ran.
  const lateFromMs = Math.max(begin(own.lateMs - lateMs), own.fromMs, oldestMs);
  const { late, recheck, ...progress } = planLateSlices(slo, own, { nowMs, fromMs: lateFromMs, toMs: settlingMs });
  const fromMs = Math.min(own.fromMs, before.at(-1)?.fromMs ?? own.fromMs);
  return { ended: ahead, before, late, recheck, next: { series, fromMs, upToMs, landedMs: own.landedMs, ...progress } };
};

/** Up to when late records are counted. */
export const settledUpTo = ({ lateMs: lastLateCheckMs, upToMs }: Measured): number =>
  Math.min(upToMs, lastLateCheckMs - lateMs);
