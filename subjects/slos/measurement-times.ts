/** Schedules slice measurements of an SLO: completed slices, late records, and the time before the SLO was created */

import { computeHashId } from '../../runtime/hash-id.ts';
import { maxSlicesPerMessage, slicesRetentionDays } from '../../schemas/slo-slices.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { DataState } from '../empty-results/empty-results.ts';
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
 * Period that every search for late records measures again completely. For earlier times, the search only reads
 * records that were received after the measurement, or after the last record that the previous search included
 * (`late-records.ts`).
 */
const remeasuredPeriodMs = 60 * minuteMs;
/** Interval at which the complete last day is measured again, for changes that reception times do not show */
const fullMeasurementIntervalMs = 180 * minuteMs;
/** Pause after which the last day is also measured again */
const maxPauseMs = remeasuredPeriodMs / 2;
/** Maximum number of windows before the measured extent that are measured in one check */
const maxEarlierWindows = 4;

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
  /** Whether a slice had data; `no` for a new series */
  readonly data?: DataState | undefined;
}

/** Returns a short key of the indicator; another indicator starts another series. */
export const getSeriesId = ({ query, type, service, latencyThresholdMs }: SloFields): string => {
  const indicator = query.sli ?? { type, service, latencyThresholdMs };
  return computeHashId(indicator, query.slice).slice(0, 16);
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

/** Splits a window into windows with at most the number of slices that one message can contain. */
const splitWindow = ({ fromMs, toMs }: Window, sliceMs: number): Window[] => {
  const windowMs = maxSlicesPerMessage * sliceMs;
  return Array.from({ length: Math.max(0, Math.ceil((toMs - fromMs) / windowMs)) }, (_, index) => ({
    fromMs: fromMs + index * windowMs,
    toMs: Math.min(toMs, fromMs + (index + 1) * windowMs),
  }));
};

/**
 * Returns the last due time of the search for late records before a time. SLOs with equal queries share a minute, and
 * others use different minutes.
 */
const getLateDueMs = ({ query: { sli }, service }: SloFields, nowMs: number): number => {
  const queryKey = sli === undefined ? service : JSON.stringify(sli.total ?? sli.value);
  const shiftMs =
    (Number.parseInt(computeHashId(queryKey).slice(0, 8), 16) % (lateSearchIntervalMs / minuteMs)) * minuteMs;
  return Math.floor((nowMs - shiftMs) / lateSearchIntervalMs) * lateSearchIntervalMs + shiftMs;
};

/** Plans to measure the last day again if that is due. */
const planLateSlices = (
  slo: SloFields,
  storedExtent: MeasuredExtent,
  { nowMs, fromMs, toMs }: Window & { readonly nowMs: number },
): Pick<MeasurementPlan, 'late' | 'recheck'> & Pick<MeasuredExtent, 'lateMs' | 'allMs'> => {
  const { lateMs: lastLateCheckMs, allMs } = storedExtent;
  if (lastLateCheckMs >= getLateDueMs(slo, nowMs)) return { late: [], recheck: [], lateMs: lastLateCheckMs, allMs };
  const sliceMs = parseDurationMs(slo.query.slice);
  const isFullMeasurement =
    allMs === undefined || nowMs - allMs >= fullMeasurementIntervalMs || nowMs - lastLateCheckMs > maxPauseMs;
  const recentMs = Math.floor((nowMs - remeasuredPeriodMs) / sliceMs) * sliceMs;
  const splitMs = isFullMeasurement ? fromMs : Math.min(toMs, Math.max(fromMs, recentMs));
  return {
    late: splitWindow({ fromMs: splitMs, toMs }, sliceMs),
    recheck: splitWindow({ fromMs, toMs: splitMs }, sliceMs),
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
  storedExtent: MeasuredExtent | undefined,
  { nowMs, retentionDays }: { readonly nowMs: number; readonly retentionDays: number },
): MeasurementPlan => {
  const sliceMs = parseDurationMs(slo.query.slice);
  const toSliceStart = (ms: number): number => Math.floor(ms / sliceMs) * sliceMs;
  const endMs = toSliceStart(nowMs);
  const series = getSeriesId(slo);
  const oldestMs = toSliceStart(nowMs - Math.min(retentionDays, slicesRetentionDays) * dayMs) + sliceMs;
  const newExtent: MeasuredExtent = {
    series,
    fromMs: endMs,
    upToMs: endMs,
    lateMs: nowMs,
    allMs: nowMs,
    data: 'no',
  };
  const extent = storedExtent?.series === series ? storedExtent : newExtent;
  const endedWindows = splitWindow(
    {
      fromMs: Math.max(oldestMs, extent.fromMs, Math.min(extent.upToMs, toSliceStart(nowMs - freshPeriodMs))),
      toMs: endMs,
    },
    sliceMs,
  ).slice(0, 1);
  const { fromMs: endedFromMs, toMs: upToMs } = endedWindows[0] ?? { fromMs: endMs, toMs: endMs };
  const before = splitWindow({ fromMs: Math.min(oldestMs, extent.fromMs), toMs: extent.fromMs }, sliceMs)
    .slice(-maxEarlierWindows)
    .reverse();
  // A slice is checked once more after the last record that counts, even after a long pause.
  const lateFromMs = Math.max(toSliceStart(extent.lateMs - maxLateMs), extent.fromMs, oldestMs);
  const { late, recheck, ...progress } = planLateSlices(slo, extent, { nowMs, fromMs: lateFromMs, toMs: endedFromMs });
  const fromMs = Math.min(extent.fromMs, before.at(-1)?.fromMs ?? extent.fromMs);
  return {
    ended: endedWindows,
    before,
    late,
    recheck,
    next: { series, fromMs, upToMs, landedMs: extent.landedMs, data: extent.data, ...progress },
  };
};

/** Returns the time up to which late records are included. */
export const getSettledUpToMs = ({ lateMs: lastLateCheckMs, upToMs }: MeasuredExtent): number =>
  Math.min(upToMs, lastLateCheckMs - maxLateMs);
