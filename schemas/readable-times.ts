/** Times of records that queries can return. A record outside of them would be stored, and no list would ever show it. */

/** Range of readable times in epoch milliseconds, including both ends. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const dayMs = 86_400_000;

/** A sender's clock or time zone may be ahead by this much. */
const maxAheadMs = dayMs;

/** Returns the readable times of records that are received now. Queries cannot begin before the retention. */
export const createReadableTimes = (nowMs: number, retentionDays: number): TimeRange => ({
  fromMs: nowMs - retentionDays * dayMs,
  toMs: nowMs + maxAheadMs,
});

export type TimeUnit = 'seconds' | 'milliseconds' | 'microseconds' | 'nanoseconds';

const millisecondsPerUnit: Readonly<Record<TimeUnit, number>> = {
  seconds: 1_000,
  milliseconds: 1,
  microseconds: 1e-3,
  nanoseconds: 1e-6,
};

/** Largest time of a JavaScript date. */
const maxDateMs = 8_640_000_000_000_000;

const formatTime = (timeMs: number): string =>
  Math.abs(timeMs) <= maxDateMs ? new Date(Math.trunc(timeMs)).toISOString() : `${timeMs} ms`;

const formatDay = (timeMs: number): string => formatTime(timeMs).slice(0, 10);

/** Returns the unit in which a number would be a readable time. */
const findOtherUnit = (value: number, { fromMs, toMs }: TimeRange): TimeUnit | undefined => {
  for (const [unit, milliseconds] of Object.entries(millisecondsPerUnit)) {
    const timeMs = value * milliseconds;
    if (timeMs >= fromMs && timeMs <= toMs) return unit as TimeUnit;
  }
  return undefined;
};

/** What is wrong with a time. The message continues the name of its field. */
export interface TimeProblem {
  readonly reason: 'wrong-time-unit' | 'time-too-old' | 'time-in-future';
  readonly message: string;
}

/** Returns the problem of a time of a record; undefined if it is readable, or without a range. */
export const findTimeProblem = (
  value: number,
  unit: TimeUnit,
  range: TimeRange | undefined,
): TimeProblem | undefined => {
  const timeMs = value * millisecondsPerUnit[unit];
  if (range === undefined || (timeMs >= range.fromMs && timeMs <= range.toMs)) return undefined;
  const otherUnit = findOtherUnit(value, range);
  if (otherUnit !== undefined)
    return { reason: 'wrong-time-unit', message: `is ${value}, a time in ${otherUnit}: send ${unit} since 1970` };
  if (timeMs < range.fromMs)
    return {
      reason: 'time-too-old',
      message: `is ${formatTime(timeMs)}, and the plan retains nothing before ${formatDay(range.fromMs)}`,
    };
  return {
    reason: 'time-in-future',
    message: `is ${formatTime(timeMs)}, more than a day ahead of the receiver's clock`,
  };
};
