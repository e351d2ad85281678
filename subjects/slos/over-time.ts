/** Burn rates over time, and the forecast of a budget, from measured slices */
import type { Reading } from '../../queries/reading.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { KnownSlo } from './document.ts';
import { computeForecast } from './forecast.ts';
import { seriesId } from './measurement-times.ts';
import { computeBurnRate } from './slices/figures.ts';
import { asNumber, fraction, subtract } from './slices/fraction.ts';
import { readMeasurements } from './slices/slices.ts';
import { readPieces } from './slices/tallies.ts';
import { createWindowSums } from './slices/window-sums.ts';
import type { Window } from './slices/windows.ts';
import { currentWindow, sloObjective } from './status.ts';

type OwnColumns = Pick<Reading, 'columns'>;

/** Maximum number of points of a series */
export const maxPoints = 1000;
/** Number of blocks of a full window for a forecast */
const forecastBlocks = 180;

/**
 * Returns the step of a series: the finest divisor of the window in full slices that does not exceed the limit of
 * points.
 */
export const chooseStep = (windowMs: number, sliceMs: number, { fromMs, toMs }: Window): number | undefined =>
  [60, 30, 12, 6, 5, 4, 3, 2, 1]
    .map((parts) => windowMs / parts)
    .find((stepMs) => stepMs % sliceMs === 0 && (toMs - fromMs) / stepMs <= maxPoints);

/** Returns burn rates of windows that end at each step. The range starts and ends at step boundaries. */
export const readBurnRates = async (
  reading: OwnColumns,
  { id, slo }: KnownSlo,
  { range, windowMs, stepMs }: { readonly range: Window; readonly windowMs: number; readonly stepMs: number },
) => {
  const objective = sloObjective(slo);
  const window = { fromMs: range.fromMs - windowMs, toMs: range.toMs };
  const pieces = await readPieces(
    reading,
    { sloId: id, series: seriesId(slo) },
    { window, pieceMs: stepMs, objective },
  );
  const cutsMs = Array.from({ length: pieces.length + 1 }, (_, index) => window.fromMs + index * stepMs);
  const summed = createWindowSums(cutsMs, pieces);
  return cutsMs.slice(windowMs / stepMs + 1).map((endMs) => {
    const sums = summed({ fromMs: endMs - windowMs, toMs: endMs });
    const rate = computeBurnRate(sums, objective);
    return {
      at: new Date(endMs).toISOString(),
      rate: rate === undefined ? null : asNumber(rate),
      good: asNumber(sums.good),
      total: asNumber(sums.total),
    };
  });
};

/** Returns the forecast of the budget's exhaustion at a time. */
export const readForecast = async (reading: OwnColumns, { id, slo }: KnownSlo, nowMs: number) => {
  const of = { sloId: id, series: seriesId(slo) };
  const last = (await readMeasurements(reading, [id])).get(`${id} ${of.series}`);
  const soFar = currentWindow(slo, last, nowMs);
  const objective = sloObjective(slo);
  const { sliceMs } = soFar;
  const windowMs = soFar.toMs - soFar.fromMs;
  const blockMs = Math.max(1, Math.floor(windowMs / forecastBlocks / sliceMs)) * sliceMs;
  // Blocks end with the completed slices; a partial first block of a calendar window is omitted.
  const blocks = Math.floor((soFar.endMs - soFar.fromMs) / blockMs);
  const window = { fromMs: soFar.endMs - blocks * blockMs, toMs: soFar.endMs };
  const sums = blocks === 0 ? [] : await readPieces(reading, of, { window, pieceMs: blockMs, objective });
  const forecast = computeForecast({
    blocks: sums.map(({ bad, total }) => ({ bad: asNumber(bad), total: asNumber(total) })),
    windowBlocks: Math.floor(windowMs / blockMs),
    allowed: asNumber(subtract(fraction(1n), objective.target)),
    budgetOf: slo.query.budgeting === 'occurrences' ? 'events' : windowMs / parseDurationMs(slo.query.slice),
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
