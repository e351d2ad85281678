/** Schedules slice measurements of an SLO: completed slices, late records, and the time before the SLO was created */

import { computeHashId } from '../../runtime/hash-of.ts';
import { maxSlicesPerMessage, slicesRetentionDays } from '../../schemas/slo-slices.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { SloFields } from './document.ts';
import type { Window } from './slices/windows.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Maximum delay of a record that still counts */
export const maxLateMs = dayMs;
/** Time after its end during which a slice is measured in every check, because records are stored within seconds */
const freshPeriodMs = 3 * minuteMs;
/** Interval of the search for late records */
const lateSearchIntervalMs = 9 * minuteMs;
/**
 * Period that every search for late records measures again completely, regardless of storage delay. For earlier times,
 * it searches for records received since then, or since the records that were stored at the previous search, and reads
 * nothing else (`late-records.ts`).
 */
const measuredAgainMs = 60 * minuteMs;
/** Interval at which the complete last day is measured again, for changes that reception times do not show */
const fullMeasurementIntervalMs = 180 * minuteMs;
/** Pause after which the last day is also measured again */
const maxPauseMs = measuredAgainMs / 2;
/** Number of pieces of earlier time per check */
const maxEarlierPieces = 4;

/** Measured extent of an SLO: slices of its series from `fromMs` to `upToMs` */
export interface MeasuredExtent {
  readonly series: string;
  readonly fromMs: number;
  readonly upToMs: number;
  /** Time of the last search for late records */
  readonly lateMs: number;
  /** Time of the last complete measurement; missing in data of former versions */
  readonly allMs?: number | undefined;
  /** Reception time up to which all records were stored at the last search; missing if unknown */
  readonly landedMs?: number | undefined;
}

/** Returns a short key of the indicator; another indicator starts another series. */
export const seriesId = ({ query, type, service, latencyThresholdMs }: SloFields): string => {
  const measured = query.sli ?? { type, service, latencyThresholdMs };
  return computeHashId(measured, query.slice).slice(0, 16);
};

/** Measurements of one check, and the extent after it */
export interface MeasurementPlan {
  /** Completed slices */
  readonly ended: readonly Window[];
  /** Time before the measured extent, newest first */
  readonly before: readonly Window[];
  /** Slices of which only changed ones are published */
  readonly late: readonly Window[];
  /** Slices that are measured again only if records arrived after their end */
  readonly recheck: readonly Window[];
  readonly next: MeasuredExtent;
}

/** Returns pieces of at most the number of slices that can be published at once. */
const splitWindow = ({ fromMs, toMs }: Window, sliceMs: number): Window[] => {
  const pieceMs = maxSlicesPerMessage * sliceMs;
  return Array.from({ length: Math.max(0, Math.ceil((toMs - fromMs) / pieceMs)) }, (_, index) => ({
    fromMs: fromMs + index * pieceMs,
    toMs: Math.min(toMs, fromMs + (index + 1) * pieceMs),
  }));
};

/**
 * Returns the last due time of the search for late records before a time. SLOs with equal queries share a minute, and
 * others use different minutes.
 */
const lateDueMs = ({ query: { sli }, service }: SloFields, nowMs: number): number => {
  const queryKey = sli === undefined ? service : JSON.stringify(sli.total ?? sli.value);
  const shiftMs =
    (Number.parseInt(computeHashId(queryKey).slice(0, 8), 16) % (lateSearchIntervalMs / minuteMs)) * minuteMs;
  return Math.floor((nowMs - shiftMs) / lateSearchIntervalMs) * lateSearchIntervalMs + shiftMs;
};

/** Plans to measure the last day again if that is due. */
const planLateSlices = (
  slo: SloFields,
  known: MeasuredExtent,
  { nowMs, fromMs, toMs }: Window & { readonly nowMs: number },
): Pick<MeasurementPlan, 'late' | 'recheck'> & Pick<MeasuredExtent, 'lateMs' | 'allMs'> => {
  const { lateMs: lastLateCheckMs, allMs } = known;
  if (lastLateCheckMs >= lateDueMs(slo, nowMs)) return { late: [], recheck: [], lateMs: lastLateCheckMs, allMs };
  const sliceMs = parseDurationMs(slo.query.slice);
  const isFullMeasurement =
    allMs === undefined || nowMs - allMs >= fullMeasurementIntervalMs || nowMs - lastLateCheckMs > maxPauseMs;
  const recentMs = Math.floor((nowMs - measuredAgainMs) / sliceMs) * sliceMs;
  const cutMs = isFullMeasurement ? fromMs : Math.min(toMs, Math.max(fromMs, recentMs));
  return {
    late: splitWindow({ fromMs: cutMs, toMs }, sliceMs),
    recheck: splitWindow({ fromMs, toMs: cutMs }, sliceMs),
    lateMs: nowMs,
    allMs: isFullMeasurement ? nowMs : allMs,
  };
};

/**
 * Returns the measurements that are due at a time, given the measured extent; `retentionDays` is the retention of the
 * telemetry.
 */
export const planMeasurements = (
  slo: SloFields,
  known: MeasuredExtent | undefined,
  { nowMs, retentionDays }: { readonly nowMs: number; readonly retentionDays: number },
): MeasurementPlan => {
  const sliceMs = parseDurationMs(slo.query.slice);
  const sliceStart = (ms: number): number => Math.floor(ms / sliceMs) * sliceMs;
  const endMs = sliceStart(nowMs);
  const series = seriesId(slo);
  const oldestMs = sliceStart(nowMs - Math.min(retentionDays, slicesRetentionDays) * dayMs) + sliceMs;
  const fresh: MeasuredExtent = { series, fromMs: endMs, upToMs: endMs, lateMs: nowMs, allMs: nowMs };
  const own = known?.series === series ? known : fresh;
  const endedPieces = splitWindow(
    { fromMs: Math.max(oldestMs, own.fromMs, Math.min(own.upToMs, sliceStart(nowMs - freshPeriodMs))), toMs: endMs },
    sliceMs,
  ).slice(0, 1);
  const { fromMs: settlingMs, toMs: upToMs } = endedPieces[0] ?? { fromMs: endMs, toMs: endMs };
  const before = splitWindow({ fromMs: Math.min(oldestMs, own.fromMs), toMs: own.fromMs }, sliceMs)
    .slice(-maxEarlierPieces)
    .reverse();
  // A slice is checked once more after the last record that counts, even after a long pause.
  const lateFromMs = Math.max(sliceStart(own.lateMs - maxLateMs), own.fromMs, oldestMs);
  const { late, recheck, ...progress } = planLateSlices(slo, own, { nowMs, fromMs: lateFromMs, toMs: settlingMs });
  const fromMs = Math.min(own.fromMs, before.at(-1)?.fromMs ?? own.fromMs);
  return {
    ended: endedPieces,
    before,
    late,
    recheck,
    next: { series, fromMs, upToMs, landedMs: own.landedMs, ...progress },
  };
};

/** Returns the time up to which late records are included. */
export const settledUpToMs = ({ lateMs: lastLateCheckMs, upToMs }: MeasuredExtent): number =>
  Math.min(upToMs, lastLateCheckMs - maxLateMs);
