/**
 * Predicts when a disk is full, with a robust line through past usage (`queries/forecast/line.ts`). If the history or
 * trend is insufficient, the result contains the reason. No I/O.
 */
import { z } from 'zod';
import { fitRobustLine, thinPoints } from '../../queries/forecast/line.ts';

export const DaysUntilFull = z.strictObject({
  value: z.number().nullable(),
  low: z.number().nullable().describe('Lower end of the 90% prediction interval'),
  high: z.number().nullable().describe('Upper end of the interval; `null` if the disk may never be full'),
  reason: z.string().nullable().describe('Why there is no value; `null` if there is one'),
  bytesPerDay: z.number().nullable().describe('Growth; `null` if the history is too short'),
});
export type DaysUntilFull = z.output<typeof DaysUntilFull>;

/** Used bytes at a time */
export interface UsagePoint {
  readonly atMs: number;
  readonly used: number;
}

const dayMs = 86_400_000;
const minPoints = 24;
const minHistoryMs = 2 * dayMs;
/** Maximum prediction horizon, as a multiple of the history's length */
const maxHorizonFactor = 10;

const createNoForecast = (reason: string, bytesPerDay: number | null = null): DaysUntilFull => ({
  value: null,
  low: null,
  high: null,
  reason,
  bytesPerDay,
});

const formatSize = (bytes: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10)));
  return `${(bytes / 1024 ** unit).toFixed(1)} ${units[unit]}`;
};
const formatDays = (ms: number): string => (ms / dayMs).toFixed(1);

/** Predicts when usage reaches the ceiling. `ceiling` is the number of usable bytes; `undefined` if unknown. */
export const forecastFull = (
  history: readonly UsagePoint[],
  { ceiling, used }: { readonly ceiling: number | undefined; readonly used: number },
): DaysUntilFull => {
  if (ceiling === undefined || !(ceiling > 0))
    return createNoForecast('its capacity is unknown, so no forecast is possible');
  if (used >= ceiling) return { value: 0, low: 0, high: 0, reason: null, bytesPerDay: null };
  const points = thinPoints(history);
  const [oldest, newest] = [points[0], points.at(-1)];
  const historyMs = oldest === undefined || newest === undefined ? 0 : newest.atMs - oldest.atMs;
  if (points.length < minPoints || historyMs < minHistoryMs)
    return createNoForecast(
      `${formatDays(historyMs)} days of history with ${points.length} hours are too few: 2 days and 24 hours are required`,
    );
  const line = points.map(({ atMs, used: bytes }) => [(atMs - (oldest?.atMs ?? 0)) / dayMs, bytes] as const);
  const { slope, minSlope, maxSlope } = fitRobustLine(line);
  const interval = `between ${formatSize(minSlope)} and ${formatSize(maxSlope)} per day`;
  if (maxSlope <= 0) return createNoForecast(`it is not filling: it changes by ${interval}`, slope);
  if (slope <= 0 || minSlope <= 0)
    return createNoForecast(`it is not filling steadily: it changes by ${interval}`, slope);
  const getDaysUntilFull = (perDay: number): number => (ceiling - used) / perDay;
  const maxHorizonDays = (maxHorizonFactor * historyMs) / dayMs;
  if (getDaysUntilFull(slope) > maxHorizonDays)
    return createNoForecast(
      `more than ${Math.round(maxHorizonDays)} days away: ${formatDays(historyMs)} days of history do not support a longer forecast`,
      slope,
    );
  const high = getDaysUntilFull(minSlope);
  return {
    value: getDaysUntilFull(slope),
    low: getDaysUntilFull(maxSlope),
    high: high > maxHorizonDays ? null : high,
    reason: null,
    bytesPerDay: slope,
  };
};
