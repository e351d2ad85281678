/**
 * When a disk will be full: a robust line through what was used (`queries/forecast/line.ts`). Where history or trend do not tell, the answer
 * says why. No input or output.
 */
import { z } from 'zod';
import { robustLine, thinned } from '../../queries/forecast/line.ts';

export const DaysUntilFull = z.strictObject({
  value: z.number().nullable(),
  low: z.number().nullable().describe('Lower end of an interval that should hold the day 9 times of 10'),
  high: z.number().nullable().describe('Upper end; null where it may never be full'),
  reason: z.string().nullable().describe('Why there is no value; null if there is one'),
  bytesPerDay: z.number().nullable().describe('Growth; null where history is too short'),
});
export type DaysUntilFull = z.output<typeof DaysUntilFull>;

/** Bytes used at a time. */
export interface UsedAt {
  readonly atMs: number;
  readonly used: number;
}

const dayMs = 86_400_000;
const minPoints = 24;
const minSpanMs = 2 * dayMs;
/** So many times the history is as far as it tells. */
const reach = 10;

const without = (reason: string, bytesPerDay: number | null = null): DaysUntilFull => ({
  value: null,
  low: null,
  high: null,
  reason,
  bytesPerDay,
});

const sizeOf = (bytes: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(bytes))) / 10)));
  return `${(bytes / 1024 ** unit).toFixed(1)} ${units[unit]}`;
};
const daysOf = (ms: number): string => (ms / dayMs).toFixed(1);

/** When what is used reaches the ceiling. `ceiling`: bytes that can be used at all; `undefined` where nothing tells. */
export const daysUntilFull = (
  history: readonly UsedAt[],
  { ceiling, used }: { readonly ceiling: number | undefined; readonly used: number },
): DaysUntilFull => {
  if (ceiling === undefined || !(ceiling > 0)) return without('nothing tells how much it can hold: no ceiling, no end');
  if (used >= ceiling) return { value: 0, low: 0, high: 0, reason: null, bytesPerDay: null };
  const points = thinned(history);
  const [oldest, newest] = [points[0], points.at(-1)];
  const spanMs = oldest === undefined || newest === undefined ? 0 : newest.atMs - oldest.atMs;
  if (points.length < minPoints || spanMs < minSpanMs)
    return without(
      `${daysOf(spanMs)} days of history with ${points.length} hours are too few: 2 days and 24 hours are needed`,
    );
  const line = points.map(({ atMs, used: bytes }) => [(atMs - (oldest?.atMs ?? 0)) / dayMs, bytes] as const);
  const { slope, slowest, fastest } = robustLine(line);
  const interval = `between ${sizeOf(slowest)} and ${sizeOf(fastest)} a day`;
  if (fastest <= 0) return without(`it is not filling: it changes by ${interval}`, slope);
  if (slope <= 0 || slowest <= 0) return without(`it is not filling for sure: it changes by ${interval}`, slope);
  const daysAt = (perDay: number): number => (ceiling - used) / perDay;
  const reachDays = (reach * spanMs) / dayMs;
  if (daysAt(slope) > reachDays)
    return without(
      `more than ${Math.round(reachDays)} days away: ${daysOf(spanMs)} days of history tell no further`,
      slope,
    );
  const high = daysAt(slowest);
  return {
    value: daysAt(slope),
    low: daysAt(fastest),
    high: high > reachDays ? null : high,
    reason: null,
    bytesPerDay: slope,
  };
};
