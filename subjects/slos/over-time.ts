/** Burn rates over time, and when a budget runs out: from slices that were measured. */
import type { Reading } from '../../queries/reading.ts';
import { burnRateOf } from '../../queries/slos/figures.ts';
import { asNumber, fraction, minus } from '../../queries/slos/fraction.ts';
import { readMeasurements } from '../../queries/slos/slices.ts';
import { readPieces } from '../../queries/slos/tallies.ts';
import { summedBetween } from '../../queries/slos/window-sums.ts';
import type { Window } from '../../queries/slos/windows.ts';
import { msOf } from '../alerts/durations.ts';
import type { KnownSlo } from './document.ts';
import { forecastOf } from './forecast.ts';
import { seriesOf } from './measurement-times.ts';
import { objectiveOf, windowSoFar } from './status.ts';

type OwnColumns = Pick<Reading, 'columns'>;

/** Points of a series. */
export const maxPoints = 1000;
/** Blocks that a forecast is drawn from, of a whole window. */
const blocksOfForecast = 180;

/** The step of a series: a part of the window in whole slices, the finest that gives no more points than there may be. */
export const stepWithin = (windowMs: number, sliceMs: number, { fromMs, toMs }: Window): number | undefined =>
  [60, 30, 12, 6, 5, 4, 3, 2, 1]
    .map((parts) => windowMs / parts)
    .find((stepMs) => stepMs % sliceMs === 0 && (toMs - fromMs) / stepMs <= maxPoints);

/** Burn rates of windows that end step by step. The range begins and ends with steps. */
export const burnRatesOver = async (
  reading: OwnColumns,
  { id, slo }: KnownSlo,
  { range, windowMs, stepMs }: { readonly range: Window; readonly windowMs: number; readonly stepMs: number },
) => {
  const objective = objectiveOf(slo);
  const window = { fromMs: range.fromMs - windowMs, toMs: range.toMs };
  const pieces = await readPieces(
    reading,
    { sloId: id, series: seriesOf(slo) },
    { window, pieceMs: stepMs, objective },
  );
  const cutsMs = Array.from({ length: pieces.length + 1 }, (_, index) => window.fromMs + index * stepMs);
  const summed = summedBetween(cutsMs, pieces);
  return cutsMs.slice(windowMs / stepMs + 1).map((endMs) => {
    const sums = summed({ fromMs: endMs - windowMs, toMs: endMs });
    const rate = burnRateOf(sums, objective);
    return {
      at: new Date(endMs).toISOString(),
      rate: rate === undefined ? null : asNumber(rate),
      good: asNumber(sums.good),
      total: asNumber(sums.total),
    };
  });
};

/** When the budget runs out, at a time. */
export const forecastAt = async (reading: OwnColumns, { id, slo }: KnownSlo, nowMs: number) => {
  const of = { sloId: id, series: seriesOf(slo) };
  const last = (await readMeasurements(reading, [id])).get(`${id} ${of.series}`);
  const soFar = windowSoFar(slo, last, nowMs);
  const objective = objectiveOf(slo);
  const { sliceMs } = soFar;
  const windowMs = soFar.toMs - soFar.fromMs;
  const blockMs = Math.max(1, Math.floor(windowMs / blocksOfForecast / sliceMs)) * sliceMs;
  // Blocks end with the slices that ended; a calendar's first is left out where it is not whole.
  const blocks = Math.floor((soFar.endMs - soFar.fromMs) / blockMs);
  const window = { fromMs: soFar.endMs - blocks * blockMs, toMs: soFar.endMs };
  const sums = blocks === 0 ? [] : await readPieces(reading, of, { window, pieceMs: blockMs, objective });
  const forecast = forecastOf({
    blocks: sums.map(({ bad, total }) => ({ bad: asNumber(bad), total: asNumber(total) })),
    windowBlocks: Math.floor(windowMs / blockMs),
    allowed: asNumber(minus(fraction(1n), objective.target)),
    budgetOf: slo.query.budgeting === 'occurrences' ? 'events' : windowMs / msOf(slo.query.slice),
    rolling: slo.query.calendar === undefined,
  });
  const time = (inBlocks: number | null): string | null =>
    inBlocks === null ? null : new Date(Math.round(soFar.endMs + inBlocks * blockMs)).toISOString();
  const made = { at: new Date(soFar.endMs).toISOString() };
  if (forecast.state === 'unknown')
    return { ...made, runsOutAt: null, interval: null, breachChance: null, reason: forecast.reason };
  const [earliest, latest] = forecast.interval;
  return {
    ...made,
    runsOutAt: time(forecast.runsOutIn),
    breachChance: forecast.breachChance,
    reason: null,
    interval: { from: time(earliest), to: time(latest) },
  };
};
