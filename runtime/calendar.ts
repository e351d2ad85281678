/** Arithmetic on the wall time of a time zone, which the web page uses too. */

/**
 * A time zone. A wall time is a number: the milliseconds of that date and time as if they were UTC. The UTC getters of
 * `new Date(wallMs)` return its year, month, day and hour.
 */
export interface ZoneClock {
  /** Returns the wall time of an instant. */
  getWallTime(atMs: number): number;
  /**
   * Returns the instant of a wall time, as RFC 5545 (3.3.5) specifies: an ambiguous time is its first occurrence, and a
   * skipped time uses the offset before the change.
   */
  getInstant(wallMs: number): number;
}

export const utcClock: ZoneClock = { getWallTime: (atMs) => atMs, getInstant: (wallMs) => wallMs };

const dayMs = 86_400_000;

/**
 * Returns the instants of a wall time with the offsets of a day before and a day after. Every offset is less than a day,
 * so any offset change that affects the wall time is between them.
 */
export const getCandidateInstants = (
  wallMs: number,
  getOffset: (atMs: number) => number,
): readonly [before: number, after: number] => [wallMs - getOffset(wallMs - dayMs), wallMs - getOffset(wallMs + dayMs)];

/** Returns the instant of a wall time as `ZoneClock.getInstant`, for the offsets of a time zone at instants. */
export const findInstant = (wallMs: number, getOffset: (atMs: number) => number): number => {
  const [before, after] = getCandidateInstants(wallMs, getOffset);
  const isInstant = (atMs: number): boolean => atMs + getOffset(atMs) === wallMs;
  return !isInstant(before) && isInstant(after) ? after : before;
};

/** Adds months at the same time of the day. A month without that day gives its last day. */
export const addMonths = (wallMs: number, months: number): number => {
  const from = new Date(wallMs);
  const firstOfMonthMs = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months, 1);
  const day = new Date(firstOfMonthMs);
  const daysInMonth = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();
  return (
    firstOfMonthMs +
    (Math.min(from.getUTCDate(), daysInMonth) - 1) * dayMs +
    (wallMs - Math.floor(wallMs / dayMs) * dayMs)
  );
};

const monthsPerUnit: Readonly<Record<string, number>> = { M: 1, Q: 3, y: 12 };
const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs };

/** Returns the number of months of `M`, `Q` and `y`; undefined for a unit of fixed length. */
export const getMonthsPerUnit = (unit: string): number | undefined => monthsPerUnit[unit];

/** Returns the start of the `s`, `m`, `h`, `d`, `w`, `M`, `Q` or `y` that contains a wall time. Weeks begin on Monday. */
export const floorToUnit = (wallMs: number, unit: string): number => {
  const months = monthsPerUnit[unit];
  if (months !== undefined) {
    const date = new Date(wallMs);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - (date.getUTCMonth() % months), 1);
  }
  const unitMs = unitsMs[unit] ?? 1;
  // The epoch was a Thursday.
  const originMs = unit === 'w' ? -3 * dayMs : 0;
  return Math.floor((wallMs - originMs) / unitMs) * unitMs + originMs;
};

/** Returns the start of the following unit. */
export const getNextUnit = (wallMs: number, unit: string): number => {
  const startMs = floorToUnit(wallMs, unit);
  const months = monthsPerUnit[unit];
  return months === undefined ? startMs + (unitsMs[unit] ?? 1) : addMonths(startMs, months);
};
