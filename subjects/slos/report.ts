/** SLO reports: target and result of each period */
import { createHash } from 'node:crypto';
import type { Reading } from '../../queries/reading.ts';
import type { MaintenanceWindow } from '../../schemas/resources/maintenance-window.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { KnownSlo } from './document.ts';
import { findExcluded } from './exclusions.ts';
import { seriesId } from './measurement-times.ts';
import { computeSli, toObjective } from './slices/figures.ts';
import { compare } from './slices/fraction.ts';
import { readMeasurements } from './slices/slices.ts';
import { readWindows } from './slices/window-sums.ts';
import { type Calendar, periodAt, type Window } from './slices/windows.ts';
import { reportedUpTo, toLastMeasurementView, toSloObjective, toWindowMetrics } from './status.ts';

/** A Monday, on which weeks start, and a January 1 */
const calendarStart = '2024-01-01T00:00';

/**
 * Returns the periods of a calendar that overlap a range, oldest first; `undefined` if there are more than the limit.
 */
export const findPeriods = (
  of: Pick<Calendar, 'period' | 'timeZone'>,
  { fromMs, toMs }: Window,
  maxPeriods: number,
): Window[] | undefined => {
  const periods: Window[] = [];
  for (
    let next = periodAt({ ...of, startsAt: calendarStart }, fromMs);
    next.fromMs < toMs;
    next = periodAt({ ...of, startsAt: calendarStart }, next.toMs)
  ) {
    if (periods.length === maxPeriods) return undefined;
    periods.push(next);
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
  reading: Pick<Reading, 'columns'>,
  known: KnownSlo,
  { periods, nowMs, maintenance, targetAt }: ReportQuery,
) => {
  const { id, slo } = known;
  const of = { sloId: id, series: seriesId(slo) };
  const sliceMs = parseDurationMs(slo.query.slice);
  const last = (await readMeasurements(reading, [id])).get(`${id} ${of.series}`);
  const reportedUpToMs = reportedUpTo(slo, last, nowMs);
  const soFar = periods.map((period) => {
    const endMs = Math.max(period.fromMs, Math.min(period.toMs, reportedUpToMs));
    return { ...period, endMs, sliceMs, window: { fromMs: period.fromMs, toMs: endMs } };
  });
  const excluded = soFar.flatMap((period) => findExcluded(known, maintenance, period, sliceMs));
  const windows = soFar.map(({ window }) => window);
  const summed = (await readWindows(reading, [{ ...of, objective: toSloObjective(slo), windows, excluded }]))(0);
  const periodReports = soFar.map(({ window, ...period }) => {
    const hasEnded = period.toMs <= nowMs;
    const targetPct = targetAt(Math.min(period.toMs, nowMs));
    const sloThen = { ...slo, targetPct };
    const sums = summed(window);
    const sli = computeSli(sums);
    return {
      from: toIsoTime(period.fromMs),
      to: toIsoTime(period.toMs),
      targetPct,
      hasEnded,
      // A slice counts at its start, and its last records arrive after its end.
      isSettled: hasEnded && last !== undefined && last.settledUpToMs >= Math.ceil(period.toMs / sliceMs) * sliceMs,
      isMet: sli === undefined ? null : compare(sli, toObjective(toSloObjective(sloThen)).target) >= 0,
      ...toWindowMetrics(sloThen, sums, period, excluded),
      withMaintenance: slo.query.excludeMaintenance
        ? toWindowMetrics(sloThen, summed(window, 'all'), period, [])
        : null,
    };
  });
  return { ...toLastMeasurementView(last), periods: periodReports };
};

/** Returns a period in the form in which it is frozen: equal results have equal texts. */
export const serializePeriod = (period: object): { readonly content: string; readonly sha256: string } => {
  const content = JSON.stringify(period);
  return { content, sha256: createHash('sha256').update(content).digest('hex') };
};
