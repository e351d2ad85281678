/** Status of an SLO: indicator, remaining budget and burn rates, from measured slices */
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { MaintenanceWindow } from '../../schemas/resources/maintenance-window.ts';
import type { SloObjective } from '../../schemas/slo-slices.ts';
import { formatDuration, parseDurationMs } from '../alerts/durations.ts';
import type { IdentifiedSlo, SloFields } from './document.ts';
import { findExcludedPeriods } from './exclusions.ts';
import { getSeriesId } from './measurement-times.ts';
import { listBurnRateWindows, type SloPolicyFields, toPolicyStatus } from './policy.ts';
import {
  computeBudget,
  computeBurnRate,
  computeCoverage,
  computeSli,
  type Objective,
  toObjective as objectiveBy,
  type Sums,
} from './slices/error-budget.ts';
import { createFraction, type Fraction, fractionToNumber, multiply } from './slices/fraction.ts';
import { type LastMeasurement, readMeasurements } from './slices/slices.ts';
import { readWindows } from './slices/window-sums.ts';
import { countSlices, createRollingWindow, findPeriod, type Window } from './slices/windows.ts';

const dayMs = 86_400_000;
const hundred = createFraction(100n);
/** Maximum length of burn rate windows: 30 days */
const maxBurnWindowMs = 30 * dayMs;
/**
 * Time after the end of a slice in which its measurement may be pending; afterwards it is missing, and reduces the
 * coverage
 */
const maxPendingMs = 600_000;

type ColumnsReader = Pick<TenantReader, 'columns'>;

/** Returns the fields of an SLO on which its results are based, for measurements. */
export const toSloObjective = ({
  targetPct,
  windowDays,
  query: { budgeting, sliceTarget, slice, calendar },
}: SloFields): SloObjective => ({
  targetPct,
  budgeting,
  sliceMs: parseDurationMs(slice),
  windowDays,
  ...(sliceTarget !== undefined && { sliceTarget }),
  ...(calendar !== undefined && { calendar }),
});

export const getObjective = (slo: SloFields): Objective => objectiveBy(toSloObjective(slo));

/** The window at a time, and the end of its completed slices */
export interface WindowSoFar extends Window {
  readonly endMs: number;
  readonly sliceMs: number;
}

/**
 * Returns the time up to which results are reported: the end of the measured slices or, if measurements have
 * stopped, the end of the completed slices. In the second case, unmeasured slices reduce the coverage.
 */
export const getReportedUpTo = (
  { query: { slice } }: SloFields,
  lastMeasurement: LastMeasurement | undefined,
  nowMs: number,
): number => {
  const sliceMs = parseDurationMs(slice);
  const endedMs = Math.floor(nowMs / sliceMs) * sliceMs;
  return lastMeasurement !== undefined && nowMs - (lastMeasurement.upToMs + sliceMs) < maxPendingMs
    ? Math.min(endedMs, lastMeasurement.upToMs)
    : endedMs;
};

/** Returns the window of an SLO at a time, up to the end of its results. */
export const getCurrentWindow = (
  slo: SloFields,
  lastMeasurement: LastMeasurement | undefined,
  nowMs: number,
): WindowSoFar => {
  const { query, windowDays } = slo;
  const { calendar } = query;
  const sliceMs = parseDurationMs(query.slice);
  const endMs = getReportedUpTo(slo, lastMeasurement, nowMs);
  if (calendar === undefined) return { ...createRollingWindow(windowDays, endMs), endMs, sliceMs };
  const period = findPeriod(calendar, nowMs);
  return { ...period, endMs: Math.max(period.fromMs, endMs), sliceMs };
};

const hourMs = 3_600_000;
const defaultBurnWindows = [hourMs / 12, hourMs / 2, hourMs, 2 * hourMs, 6 * hourMs, dayMs, 3 * dayMs];

/** Returns the lengths of burn rate windows: those of the SRE workbook, and of the SLO's own rules. */
const burnWindowLengths = ({ query: { alerting, slice } }: SloFields): number[] => {
  const ruleLengths = (alerting.rules ?? []).flatMap(({ long, short }) => [
    parseDurationMs(long),
    parseDurationMs(short),
  ]);
  return [...new Set([...defaultBurnWindows, ...ruleLengths])]
    .filter((ms) => ms >= parseDurationMs(slice))
    .toSorted((left, right) => left - right);
};

const toNumberOrNull = (value: Fraction | undefined): number | null =>
  value === undefined ? null : fractionToNumber(value);
const toIsoTime = (ms: number): string => new Date(ms).toISOString();

/** Returns how far an SLO is measured. */
const toMeasurementView = ({ upToMs, settledUpToMs, error }: LastMeasurement) => ({
  measuredUpTo: toIsoTime(upToMs),
  settledUpTo: toIsoTime(settledUpToMs),
  error: error || null,
});
/** Returns how far an SLO is measured, if it was measured. */
export const toLastMeasurementView = (lastMeasurement: LastMeasurement | undefined) =>
  lastMeasurement === undefined
    ? { measuredUpTo: null, settledUpTo: null, error: null }
    : toMeasurementView(lastMeasurement);

/** Returns the indicator, budget and coverage of a window. */
export const toWindowMetrics = (
  slo: SloFields,
  window: Sums,
  { endMs, sliceMs, ...fullWindow }: WindowSoFar,
  excluded: readonly Window[],
) => {
  const objective = getObjective(slo);
  const budget = computeBudget(window, objective, countSlices(fullWindow, excluded, sliceMs));
  return {
    sli: toNumberOrNull(computeSli(window)),
    good: fractionToNumber(window.good),
    total: fractionToNumber(window.total),
    budget: {
      total: fractionToNumber(budget.total),
      remaining: fractionToNumber(budget.remaining),
      remainingPct: toNumberOrNull(budget.remainingShare && multiply(budget.remainingShare, hundred)),
    },
    coverage: computeCoverage(window, countSlices({ fromMs: fullWindow.fromMs, toMs: endMs }, excluded, sliceMs)),
  };
};

/** Time of the status, and the maintenance windows of the organization that SLOs exclude */
export interface StatusOptions {
  readonly nowMs: number;
  readonly maintenance?: readonly MaintenanceWindow[];
}

/** Returns the indicator and budget of SLOs at a time, in their order. */
export const readSloStatuses = async (
  reader: ColumnsReader,
  slos: readonly IdentifiedSlo[],
  { nowMs, maintenance = [] }: StatusOptions,
) => {
  const measurements = await readMeasurements(
    reader,
    slos.map(({ id }) => id),
  );
  const sloWindows = slos.map(({ id, slo }) => {
    const sloSeries = { sloId: id, series: getSeriesId(slo) };
    const lastMeasurement = measurements.get(`${id} ${sloSeries.series}`);
    const currentSloWindow = getCurrentWindow(slo, lastMeasurement, nowMs);
    const window = { fromMs: currentSloWindow.fromMs, toMs: currentSloWindow.endMs };
    const excluded = findExcludedPeriods({ id, slo }, maintenance, currentSloWindow, currentSloWindow.sliceMs);
    return {
      slo,
      last: lastMeasurement,
      soFar: currentSloWindow,
      window,
      ...sloSeries,
      objective: toSloObjective(slo),
      windows: [window],
      excluded,
    };
  });
  const measuredSlos = sloWindows.filter(({ last: lastMeasurement }) => lastMeasurement !== undefined);
  const getSums = await readWindows(reader, measuredSlos);
  const indexes = new Map(measuredSlos.map((measuredSlo, index) => [measuredSlo, index]));
  return sloWindows.map((sloWindow) => {
    const { last: lastMeasurement, slo, soFar: currentSloWindow, window, excluded } = sloWindow;
    const index = indexes.get(sloWindow);
    if (lastMeasurement === undefined || index === undefined) return null;
    return {
      ...toWindowMetrics(slo, getSums(index)(window), currentSloWindow, excluded),
      ...toMeasurementView(lastMeasurement),
    };
  });
};

/** Returns the status of an SLO and its policy at a time. */
export const readStatus = async (
  reader: ColumnsReader,
  { id, slo }: IdentifiedSlo,
  { nowMs, maintenance = [], policy }: StatusOptions & { readonly policy?: SloPolicyFields | undefined },
) => {
  const sloSeries = { sloId: id, series: getSeriesId(slo) };
  const lastMeasurement = (await readMeasurements(reader, [id])).get(`${id} ${sloSeries.series}`);
  const currentSloWindow = getCurrentWindow(slo, lastMeasurement, nowMs);
  const lengths = burnWindowLengths(slo);
  const burnWindows = lengths.map((ms) => ({ fromMs: currentSloWindow.endMs - ms, toMs: currentSloWindow.endMs }));
  const windowOfLength = (ms: number): Window => ({
    fromMs: currentSloWindow.endMs - ms,
    toMs: currentSloWindow.endMs,
  });
  // Burn rate windows may begin before the window.
  const exclusionRange = {
    fromMs: Math.min(currentSloWindow.fromMs, currentSloWindow.endMs - maxBurnWindowMs),
    toMs: currentSloWindow.toMs,
  };
  const excluded = findExcludedPeriods({ id, slo }, maintenance, exclusionRange, currentSloWindow.sliceMs);
  const windows = [
    currentSloWindow,
    ...burnWindows,
    ...(policy === undefined ? [] : listBurnRateWindows(policy).map(windowOfLength)),
  ];
  const getSums = (await readWindows(reader, [{ ...sloSeries, objective: toSloObjective(slo), windows, excluded }]))(0);
  const objective = getObjective(slo);
  const budget = computeBudget(
    getSums(currentSloWindow),
    objective,
    countSlices(currentSloWindow, excluded, currentSloWindow.sliceMs),
  );
  return {
    ...toWindowMetrics(slo, getSums(currentSloWindow), currentSloWindow, excluded),
    withMaintenance: slo.query.excludeMaintenance
      ? toWindowMetrics(slo, getSums(currentSloWindow, 'all'), currentSloWindow, [])
      : null,
    policy:
      policy === undefined
        ? null
        : toPolicyStatus(policy, { budget, objective, sumBurnWindow: (ms) => getSums(windowOfLength(ms)) }),
    burnRates: burnWindows.map((window, index) => {
      const sums = getSums(window);
      return {
        window: formatDuration(lengths[index] ?? 0),
        rate: toNumberOrNull(computeBurnRate(sums, objective)),
        good: fractionToNumber(sums.good),
        total: fractionToNumber(sums.total),
      };
    }),
    window: { from: toIsoTime(currentSloWindow.fromMs), to: toIsoTime(currentSloWindow.toMs) },
    ...toLastMeasurementView(lastMeasurement),
  };
};
