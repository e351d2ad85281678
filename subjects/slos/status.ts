/** How an objective stands: indicator, budget left, burn rates, from slices that were measured. */
import type { Reading } from '../../queries/reading.ts';
import {
  budgetOf,
  burnRateOf,
  coverageOf,
  type Objective,
  objectiveOf as objectiveBy,
  type Sums,
  sliOf,
} from '../../queries/slos/figures.ts';
import { asNumber, type Fraction, fraction, times } from '../../queries/slos/fraction.ts';
import { type LastMeasurement, readMeasurements } from '../../queries/slos/slices.ts';
import { readWindows } from '../../queries/slos/window-sums.ts';
import { periodAt, rollingAt, slicesIn, type Window } from '../../queries/slos/windows.ts';
import type { MaintenanceWindow } from '../../schemas/resources/maintenance-window.ts';
import type { SloObjective } from '../../schemas/slo-slices.ts';
import { durationText, msOf } from '../alerts/durations.ts';
import type { KnownSlo, SloFields } from './document.ts';
import { excludedIn } from './exclusions.ts';
import { seriesOf } from './measurement-times.ts';
import { type SloPolicyFields, toPolicyStatus, windowsOfPolicy } from './policy.ts';

const dayMs = 86_400_000;
const hundred = fraction(100n);
/** Windows of burn rates are of 30 days at most. */
const maxBurnWindowMs = 30 * dayMs;
/** So long after a slice ended it may still be on its way to be measured; later it is missing, and lowers the coverage. */
const recentMs = 600_000;

type OwnColumns = Pick<Reading, 'columns'>;

/** What of an objective its figures are made by, as it is told with what is measured. */
export const toSloObjective = ({
  targetPct,
  windowDays,
  query: { budgeting, sliceTarget, slice, calendar },
}: SloFields): SloObjective => ({
  targetPct,
  budgeting,
  sliceMs: msOf(slice),
  windowDays,
  ...(sliceTarget !== undefined && { sliceTarget }),
  ...(calendar !== undefined && { calendar }),
});

export const objectiveOf = (slo: SloFields): Objective => objectiveBy(toSloObjective(slo));

/** The window at a time, and up to where of it slices ended. */
export interface WindowSoFar extends Window {
  readonly endMs: number;
  readonly sliceMs: number;
}

/**
 * Up to where figures are told at a time: the slices that were measured, or, where measuring has stopped, those that ended: what was not
 * measured is then missing, and the coverage says so.
 */
export const reportedUpTo = (
  { query: { slice } }: SloFields,
  last: LastMeasurement | undefined,
  nowMs: number,
): number => {
  const sliceMs = msOf(slice);
  const endedMs = Math.floor(nowMs / sliceMs) * sliceMs;
  return last !== undefined && nowMs - (last.upToMs + sliceMs) < recentMs ? Math.min(endedMs, last.upToMs) : endedMs;
};

/** The window of an objective at a time, up to where its figures are told. */
export const windowSoFar = (slo: SloFields, last: LastMeasurement | undefined, nowMs: number): WindowSoFar => {
  const { query, windowDays } = slo;
  const { calendar } = query;
  const sliceMs = msOf(query.slice);
  const endMs = reportedUpTo(slo, last, nowMs);
  if (calendar === undefined) return { ...rollingAt(windowDays, endMs), endMs, sliceMs };
  const period = periodAt(calendar, nowMs);
  return { ...period, endMs: Math.max(period.fromMs, endMs), sliceMs };
};

const hourMs = 3_600_000;
const defaultWindows = [hourMs / 12, hourMs / 2, hourMs, 2 * hourMs, 6 * hourMs, dayMs, 3 * dayMs];

/** Lengths of windows in which burn rates are looked at: those of the SRE workbook, and of the objective's own rules. */
const burnWindows = ({ query: { alerting, slice } }: SloFields): number[] => {
  const own = (alerting.rules ?? []).flatMap(({ long, short }) => [msOf(long), msOf(short)]);
  return [...new Set([...defaultWindows, ...own])]
    .filter((ms) => ms >= msOf(slice))
    .toSorted((one, other) => one - other);
};

const numberOf = (value: Fraction | undefined): number | null => (value === undefined ? null : asNumber(value));
const time = (ms: number): string => new Date(ms).toISOString();

/** How far an objective is measured. */
const toMeasurementView = ({ upToMs, settledUpToMs, error }: LastMeasurement) => ({
  measuredUpTo: time(upToMs),
  settledUpTo: time(settledUpToMs),
  error: error || null,
});
/** The same of one that may not have been measured yet. */
export const toLastMeasurementView = (last: LastMeasurement | undefined) =>
  last === undefined ? { measuredUpTo: null, settledUpTo: null, error: null } : toMeasurementView(last);

/** Indicator, budget and coverage of a window. */
export const figuresOf = (
  slo: SloFields,
  window: Sums,
  { endMs, sliceMs, ...whole }: WindowSoFar,
  excluded: readonly Window[],
) => {
  const objective = objectiveOf(slo);
  const budget = budgetOf(window, objective, slicesIn(whole, excluded, sliceMs));
  return {
    sli: numberOf(sliOf(window)),
    good: asNumber(window.good),
    total: asNumber(window.total),
    budget: {
      total: asNumber(budget.total),
      remaining: asNumber(budget.left),
      remainingPct: numberOf(budget.leftShare && times(budget.leftShare, hundred)),
    },
    coverage: coverageOf(window, slicesIn({ fromMs: whole.fromMs, toMs: endMs }, excluded, sliceMs)),
  };
};

/** When figures are asked for, and the maintenance of the organization that objectives leave out. */
export interface StatusOptions {
  readonly nowMs: number;
  readonly maintenance?: readonly MaintenanceWindow[];
}

/** Indicator and budget of many objectives at a time, in their order. */
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
    const of = { sloId: id, series: seriesOf(slo) };
    const last = measurements.get(`${id} ${of.series}`);
    const soFar = windowSoFar(slo, last, nowMs);
    const window = { fromMs: soFar.fromMs, toMs: soFar.endMs };
    const excluded = excludedIn({ id, slo }, maintenance, soFar, soFar.sliceMs);
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
      ...figuresOf(slo, summed(place)(window), soFar, excluded),
      ...toMeasurementView(last),
    };
  });
};

/** How an objective and its policy stand at a time. */
export const statusOf = async (
  reading: OwnColumns,
  { id, slo }: KnownSlo,
  { nowMs, maintenance = [], policy }: StatusOptions & { readonly policy?: SloPolicyFields | undefined },
) => {
  const of = { sloId: id, series: seriesOf(slo) };
  const last = (await readMeasurements(reading, [id])).get(`${id} ${of.series}`);
  const soFar = windowSoFar(slo, last, nowMs);
  const lengths = burnWindows(slo);
  const burning = lengths.map((ms) => ({ fromMs: soFar.endMs - ms, toMs: soFar.endMs }));
  const backBy = (ms: number): Window => ({ fromMs: soFar.endMs - ms, toMs: soFar.endMs });
  // Burn rates may look further back than the window.
  const reach = { fromMs: Math.min(soFar.fromMs, soFar.endMs - maxBurnWindowMs), toMs: soFar.toMs };
  const excluded = excludedIn({ id, slo }, maintenance, reach, soFar.sliceMs);
  const windows = [soFar, ...burning, ...(policy === undefined ? [] : windowsOfPolicy(policy).map(backBy))];
  const summed = (await readWindows(reading, [{ ...of, objective: toSloObjective(slo), windows, excluded }]))(0);
  const objective = objectiveOf(slo);
  const budget = budgetOf(summed(soFar), objective, slicesIn(soFar, excluded, soFar.sliceMs));
  return {
    ...figuresOf(slo, summed(soFar), soFar, excluded),
    withMaintenance: slo.query.excludeMaintenance ? figuresOf(slo, summed(soFar, 'all'), soFar, []) : null,
    policy:
      policy === undefined ? null : toPolicyStatus(policy, { budget, objective, burning: (ms) => summed(backBy(ms)) }),
    burnRates: burning.map((window, index) => {
      const sums = summed(window);
      return {
        window: durationText(lengths[index] ?? 0),
        rate: numberOf(burnRateOf(sums, objective)),
        good: asNumber(sums.good),
        total: asNumber(sums.total),
      };
    }),
    window: { from: time(soFar.fromMs), to: time(soFar.toMs) },
    ...toLastMeasurementView(last),
  };
};
