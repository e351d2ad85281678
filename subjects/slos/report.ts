/** SLO reports: target and result of each period */
import { createHash } from 'node:crypto';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { MaintenanceWindow } from '../../schemas/resources/maintenance-window.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { IdentifiedSlo } from './document.ts';
import { findExcludedPeriods } from './exclusions.ts';
import { getSeriesId } from './measurement-times.ts';
import { computeSli, toObjective } from './slices/error-budget.ts';
import { compare } from './slices/fraction.ts';
import { readMeasurements } from './slices/slices.ts';
import { readWindows } from './slices/window-sums.ts';
import { type Calendar, findPeriod, type Window } from './slices/windows.ts';
import { getReportedUpTo, toLastMeasurementView, toSloObjective, toWindowMetrics } from './status.ts';

/** A Monday, on which weeks start, and a January 1 */
const calendarStart = '2024-01-01T00:00';

/**
 * Returns the periods of a calendar that overlap a range, oldest first; `undefined` if there are more than the limit.
 */
export const findPeriods = (
  calendar: Pick<Calendar, 'period' | 'timeZone'>,
  { fromMs, toMs }: Window,
  maxPeriods: number,
): Window[] | undefined => {
  const periods: Window[] = [];
  for (
    let period = findPeriod({ ...calendar, startsAt: calendarStart }, fromMs);
    period.fromMs < toMs;
    period = findPeriod({ ...calendar, startsAt: calendarStart }, period.toMs)
  ) {
    if (periods.length === maxPeriods) return undefined;
    periods.push(period);
  }
  return periods;
};

interface ReportQuery {
  readonly periods: readonly Window[];
  readonly nowMs: number;
  readonly maintenance: readonly MaintenanceWindow[];
  /** Returns the target in force at a time. */
  readonly targetAt: (ms: number) => number;
}

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

/**
 * Returns the results of periods, and how far they are measured. A completed period uses the target at its end; the
 * current one is partial and uses today's target.
 */
export const readReport = async (
  reader: Pick<TenantReader, 'columns'>,
  identifiedSlo: IdentifiedSlo,
  { periods, nowMs, maintenance, targetAt }: ReportQuery,
) => {
  const { id, slo } = identifiedSlo;
  const sloSeries = { sloId: id, series: getSeriesId(slo) };
  const sliceMs = parseDurationMs(slo.query.slice);
  const lastMeasurement = (await readMeasurements(reader, [id])).get(`${id} ${sloSeries.series}`);
  const reportedUpToMs = getReportedUpTo(slo, lastMeasurement, nowMs);
  const periodsSoFar = periods.map((period) => {
    const endMs = Math.max(period.fromMs, Math.min(period.toMs, reportedUpToMs));
    return { ...period, endMs, sliceMs, window: { fromMs: period.fromMs, toMs: endMs } };
  });
  const excluded = periodsSoFar.flatMap((period) => findExcludedPeriods(identifiedSlo, maintenance, period, sliceMs));
  const windows = periodsSoFar.map(({ window }) => window);
  const getSums = (await readWindows(reader, [{ ...sloSeries, objective: toSloObjective(slo), windows, excluded }]))(0);
  const periodReports = periodsSoFar.map(({ window, ...period }) => {
    const hasEnded = period.toMs <= nowMs;
    const targetPct = targetAt(Math.min(period.toMs, nowMs));
    const sloWithTarget = { ...slo, targetPct };
    const sums = getSums(window);
    const sli = computeSli(sums);
    return {
      from: toIsoTime(period.fromMs),
      to: toIsoTime(period.toMs),
      targetPct,
      hasEnded,
      // A slice counts at its start, and its last records arrive after its end.
      isSettled:
        hasEnded &&
        lastMeasurement !== undefined &&
        lastMeasurement.settledUpToMs >= Math.ceil(period.toMs / sliceMs) * sliceMs,
      isMet: sli === undefined ? null : compare(sli, toObjective(toSloObjective(sloWithTarget)).target) >= 0,
      ...toWindowMetrics(sloWithTarget, sums, period, excluded),
      withMaintenance: slo.query.excludeMaintenance
        ? toWindowMetrics(sloWithTarget, getSums(window, 'all'), period, [])
        : null,
    };
  });
  return { ...toLastMeasurementView(lastMeasurement), periods: periodReports };
};

/** Returns the serialized form in which a completed period is stored. Equal results have equal text and hash. */
export const serializePeriod = (period: object): { readonly content: string; readonly sha256: string } => {
  const content = JSON.stringify(period);
  return { content, sha256: createHash('sha256').update(content).digest('hex') };
};
