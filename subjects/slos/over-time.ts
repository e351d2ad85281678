/** Burn rates over time, and the forecast of a budget, from measured slices */
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { IdentifiedSlo } from './document.ts';
import { computeForecast } from './forecast.ts';
import { getSeriesId } from './measurement-times.ts';
import { computeBurnRate } from './slices/error-budget.ts';
import { createFraction, fractionToNumber, subtract } from './slices/fraction.ts';
import { readMeasurements } from './slices/slices.ts';
import { readPartSums } from './slices/tallies.ts';
import { createWindowSums } from './slices/window-sums.ts';
import type { Window } from './slices/windows.ts';
import { getCurrentWindow, getObjective } from './status.ts';

type ColumnsReader = Pick<TenantReader, 'columns'>;

/** Maximum number of points of a series */
export const maxPoints = 1000;
/** Number of blocks of a full window for a forecast */
const forecastBlocks = 180;

/**
 * Returns the step of a series: the smallest fraction of the window that consists of full slices and does not exceed
 * the limit of points.
 */
export const chooseStep = (windowMs: number, sliceMs: number, { fromMs, toMs }: Window): number | undefined =>
  [60, 30, 12, 6, 5, 4, 3, 2, 1]
    .map((parts) => windowMs / parts)
    .find((stepMs) => stepMs % sliceMs === 0 && (toMs - fromMs) / stepMs <= maxPoints);

/** Returns burn rates of windows that end at each step. The range starts and ends at step boundaries. */
export const readBurnRates = async (
  reader: ColumnsReader,
  { id, slo }: IdentifiedSlo,
  { range, windowMs, stepMs }: { readonly range: Window; readonly windowMs: number; readonly stepMs: number },
) => {
  const objective = getObjective(slo);
  const window = { fromMs: range.fromMs - windowMs, toMs: range.toMs };
  const stepSums = await readPartSums(
    reader,
    { sloId: id, series: getSeriesId(slo) },
    { window, pieceMs: stepMs, objective },
  );
  const boundariesMs = Array.from({ length: stepSums.length + 1 }, (_, index) => window.fromMs + index * stepMs);
  const getSums = createWindowSums(boundariesMs, stepSums);
  return boundariesMs.slice(windowMs / stepMs + 1).map((endMs) => {
    const sums = getSums({ fromMs: endMs - windowMs, toMs: endMs });
    const rate = computeBurnRate(sums, objective);
    return {
      at: new Date(endMs).toISOString(),
      rate: rate === undefined ? null : fractionToNumber(rate),
      good: fractionToNumber(sums.good),
      total: fractionToNumber(sums.total),
    };
  });
};

/** Returns the forecast of the budget's exhaustion at a time. */
export const readForecast = async (reader: ColumnsReader, { id, slo }: IdentifiedSlo, nowMs: number) => {
  const sloSeries = { sloId: id, series: getSeriesId(slo) };
  const lastMeasurement = (await readMeasurements(reader, [id])).get(`${id} ${sloSeries.series}`);
  const currentSloWindow = getCurrentWindow(slo, lastMeasurement, nowMs);
  const objective = getObjective(slo);
  const { sliceMs } = currentSloWindow;
  const windowMs = currentSloWindow.toMs - currentSloWindow.fromMs;
  const blockMs = Math.max(1, Math.floor(windowMs / forecastBlocks / sliceMs)) * sliceMs;
  // Blocks end with the completed slices; a partial first block of a calendar window is omitted.
  const blockCount = Math.floor((currentSloWindow.endMs - currentSloWindow.fromMs) / blockMs);
  const window = { fromMs: currentSloWindow.endMs - blockCount * blockMs, toMs: currentSloWindow.endMs };
  const blockSums =
    blockCount === 0 ? [] : await readPartSums(reader, sloSeries, { window, pieceMs: blockMs, objective });
  const forecast = computeForecast({
    blocks: blockSums.map(({ bad, total }) => ({ bad: fractionToNumber(bad), total: fractionToNumber(total) })),
    windowBlocks: Math.floor(windowMs / blockMs),
    allowed: fractionToNumber(subtract(createFraction(1n), objective.target)),
    budgetOf: slo.query.budgeting === 'occurrences' ? 'events' : windowMs / parseDurationMs(slo.query.slice),
    isRolling: slo.query.calendar === undefined,
  });
  const toTime = (inBlocks: number | null): string | null =>
    inBlocks === null ? null : new Date(Math.round(currentSloWindow.endMs + inBlocks * blockMs)).toISOString();
  const forecastTime = { at: new Date(currentSloWindow.endMs).toISOString() };
  if (forecast.state === 'unknown')
    return { ...forecastTime, runsOutAt: null, interval: null, breachChance: null, reason: forecast.reason };
  const [earliest, latest] = forecast.interval;
  return {
    ...forecastTime,
    runsOutAt: toTime(forecast.runsOutIn),
    breachChance: forecast.breachChance,
    reason: null,
    interval: { from: toTime(earliest), to: toTime(latest) },
  };
};
