/** Status of an SLO: indicator, remaining budget and burn rates, from measured slices */
import type { Reading } from '../../queries/reading.ts';
import type { MaintenanceWindow } from '../../schemas/resources/maintenance-window.ts';
import type { SloObjective } from '../../schemas/slo-slices.ts';
import { formatDuration, parseDurationMs } from '../alerts/durations.ts';
import type { KnownSlo, SloFields } from './document.ts';
import { findExcluded } from './exclusions.ts';
import { seriesId } from './measurement-times.ts';
import { burnRateWindows, type SloPolicyFields, toPolicyStatus } from './policy.ts';
import {
  computeBudget,
  computeBurnRate,
  computeCoverage,
  computeSli,
  type Objective,
  toObjective as objectiveBy,
  type Sums,
} from './slices/figures.ts';
import { asNumber, type Fraction, fraction, multiply } from './slices/fraction.ts';
import { type LastMeasurement, readMeasurements } from './slices/slices.ts';
import { readWindows } from './slices/window-sums.ts';
import { countSlices, periodAt, rollingAt, type Window } from './slices/windows.ts';

const dayMs = 86_400_000;
const hundred = fraction(100n);
/** Maximum length of burn rate windows: 30 days */
const maxBurnWindowMs = 30 * dayMs;
/**
 * Time after the end of a slice in which its measurement may be pending; afterwards it is missing, and reduces the
 * coverage
 */
const maxPendingMs = 600_000;

type OwnColumns = Pick<Reading, 'columns'>;

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

export const sloObjective = (slo: SloFields): Objective => objectiveBy(toSloObjective(slo));

/** The window at a time, and the end of its completed slices */
export interface WindowSoFar extends Window {
  readonly endMs: number;
  readonly sliceMs: number;
}

/**
 * Returns the time up to which results are reported: the end of the measured slices, or, if measurements have stopped,
 * of the completed slices. Unmeasured slices are then missing and reduce the coverage.
 */
export const reportedUpTo = (
  { query: { slice } }: SloFields,
  last: LastMeasurement | undefined,
  nowMs: number,
): number => {
  const sliceMs = parseDurationMs(slice);
  const endedMs = Math.floor(nowMs / sliceMs) * sliceMs;
  return last !== undefined && nowMs - (last.upToMs + sliceMs) < maxPendingMs
    ? Math.min(endedMs, last.upToMs)
    : endedMs;
};

/** Returns the window of an SLO at a time, up to the end of its results. */
export const currentWindow = (slo: SloFields, last: LastMeasurement | undefined, nowMs: number): WindowSoFar => {
  const { query, windowDays } = slo;
  const { calendar } = query;
  const sliceMs = parseDurationMs(query.slice);
  const endMs = reportedUpTo(slo, last, nowMs);
  if (calendar === undefined) return { ...rollingAt(windowDays, endMs), endMs, sliceMs };
  const period = periodAt(calendar, nowMs);
  return { ...period, endMs: Math.max(period.fromMs, endMs), sliceMs };
};

const hourMs = 3_600_000;
const defaultBurnWindows = [hourMs / 12, hourMs / 2, hourMs, 2 * hourMs, 6 * hourMs, dayMs, 3 * dayMs];

/** Returns the lengths of burn rate windows: those of the SRE workbook, and of the SLO's own rules. */
const burnWindowLengths = ({ query: { alerting, slice } }: SloFields): number[] => {
  const own = (alerting.rules ?? []).flatMap(({ long, short }) => [parseDurationMs(long), parseDurationMs(short)]);
  return [...new Set([...defaultBurnWindows, ...own])]
    .filter((ms) => ms >= parseDurationMs(slice))
    .toSorted((one, other) => one - other);
};

const numberOrNull = (value: Fraction | undefined): number | null => (value === undefined ? null : asNumber(value));
const toIsoTime = (ms: number): string => new Date(ms).toISOString();

/** Returns how far an SLO is measured. */
const toMeasurementView = ({ upToMs, settledUpToMs, error }: LastMeasurement) => ({
  measuredUpTo: toIsoTime(upToMs),
  settledUpTo: toIsoTime(settledUpToMs),
  error: error || null,
});
/** Returns how far an SLO is measured, if it was measured. */
export const toLastMeasurementView = (last: LastMeasurement | undefined) =>
  last === undefined ? { measuredUpTo: null, settledUpTo: null, error: null } : toMeasurementView(last);

/** Returns the indicator, budget and coverage of a window. */
export const toWindowMetrics = (
  slo: SloFields,
  window: Sums,
  { endMs, sliceMs, ...whole }: WindowSoFar,
  excluded: readonly Window[],
) => {
  const objective = sloObjective(slo);
  const budget = computeBudget(window, objective, countSlices(whole, excluded, sliceMs));
  return {
    sli: numberOrNull(computeSli(window)),
    good: asNumber(window.good),
    total: asNumber(window.total),
    budget: {
      total: asNumber(budget.total),
      remaining: asNumber(budget.left),
      remainingPct: numberOrNull(budget.leftShare && multiply(budget.leftShare, hundred)),
    },
    coverage: computeCoverage(window, countSlices({ fromMs: whole.fromMs, toMs: endMs }, excluded, sliceMs)),
  };
};

/** Time of the status, and the maintenance windows of the organization that SLOs exclude */
export interface StatusOptions {
  readonly nowMs: number;
  readonly maintenance?: readonly MaintenanceWindow[];
}

/** Returns the indicator and budget of SLOs at a time, in their order. */
export const readSloStatuses = async (
  reading: OwnColumns,
  known: readonly KnownSlo[],
  { nowMs, maintenance = [] }: StatusOptions,
) => {
  const measurements = await readMeasurements(
    reading,
    known.map(({ id }) => id),
  );
  const all = known.map(({ id, slo }) => {
    const of = { sloId: id, series: seriesId(slo) };
    const last = measurements.get(`${id} ${of.series}`);
    const soFar = currentWindow(slo, last, nowMs);
    const window = { fromMs: soFar.fromMs, toMs: soFar.endMs };
    const excluded = findExcluded({ id, slo }, maintenance, soFar, soFar.sliceMs);
    return { slo, last, soFar, window, ...of, objective: toSloObjective(slo), windows: [window], excluded };
  });
  const measured = all.filter(({ last }) => last !== undefined);
  const summed = await readWindows(reading, measured);
  const places = new Map(measured.map((one, place) => [one, place]));
  return all.map((one) => {
    const { last, slo, soFar, window, excluded } = one;
    const place = places.get(one);
    if (last === undefined || place === undefined) return null;
    return {
      ...toWindowMetrics(slo, summed(place)(window), soFar, excluded),
      ...toMeasurementView(last),
    };
  });
};

/** Returns the status of an SLO and its policy at a time. */
export const readStatus = async (
  reading: OwnColumns,
  { id, slo }: KnownSlo,
  { nowMs, maintenance = [], policy }: StatusOptions & { readonly policy?: SloPolicyFields | undefined },
) => {
  const of = { sloId: id, series: seriesId(slo) };
  const last = (await readMeasurements(reading, [id])).get(`${id} ${of.series}`);
  const soFar = currentWindow(slo, last, nowMs);
  const lengths = burnWindowLengths(slo);
  const burning = lengths.map((ms) => ({ fromMs: soFar.endMs - ms, toMs: soFar.endMs }));
  const windowOfLength = (ms: number): Window => ({ fromMs: soFar.endMs - ms, toMs: soFar.endMs });
  // Burn rate windows may begin before the window.
  const reach = { fromMs: Math.min(soFar.fromMs, soFar.endMs - maxBurnWindowMs), toMs: soFar.toMs };
  const excluded = findExcluded({ id, slo }, maintenance, reach, soFar.sliceMs);
  const windows = [soFar, ...burning, ...(policy === undefined ? [] : burnRateWindows(policy).map(windowOfLength))];
  const summed = (await readWindows(reading, [{ ...of, objective: toSloObjective(slo), windows, excluded }]))(0);
  const objective = sloObjective(slo);
  const budget = computeBudget(summed(soFar), objective, countSlices(soFar, excluded, soFar.sliceMs));
  return {
    ...toWindowMetrics(slo, summed(soFar), soFar, excluded),
    withMaintenance: slo.query.excludeMaintenance ? toWindowMetrics(slo, summed(soFar, 'all'), soFar, []) : null,
    policy:
      policy === undefined
        ? null
        : toPolicyStatus(policy, { budget, objective, burning: (ms) => summed(windowOfLength(ms)) }),
    burnRates: burning.map((window, index) => {
      const sums = summed(window);
      return {
        window: formatDuration(lengths[index] ?? 0),
        rate: numberOrNull(computeBurnRate(sums, objective)),
        good: asNumber(sums.good),
        total: asNumber(sums.total),
      };
    }),
    window: { from: toIsoTime(soFar.fromMs), to: toIsoTime(soFar.toMs) },
    ...toLastMeasurementView(last),
  };
};
