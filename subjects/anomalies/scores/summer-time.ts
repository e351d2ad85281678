/**
 * Dates of daylight saving changes worldwide, by the rules of this century. Nothing depends on the system, so scores
 * are the same everywhere.
 */

const dayMs = 86_400_000;

/** Month, Sunday of the month (-1 is the last), and change of the clocks in hours. */
const rules: readonly (readonly [month: number, sunday: number, by: 1 | -1])[] = [
  // North America, Europe, Egypt.
  [2, 1, 1],
  [2, -1, 1],
  [3, -1, 1],
  [9, -1, -1],
  [10, 0, -1],
  // Chile, Australia and New Zealand.
  [3, 0, -1],
  [8, 0, 1],
  [8, -1, 1],
  [9, 0, 1],
];
/** Clocks change a day or two from that Sunday in some countries, and on the previous evening in UTC in others. */
const daysBefore = 2;
/** Days during which a change is considered: weekly patterns have shown it by then, and the learned result remains. */
export const daysAfter = 28;

export interface ClockChange {
  /** First day, since the epoch, on which clocks may have changed. */
  readonly day: number;
  readonly by: 1 | -1;
}

const findSunday = (year: number, month: number, which: number): number => {
  const first = Date.UTC(year, which < 0 ? month + 1 : month, 1) / dayMs;
  // The epoch began on a Thursday.
  return first + ((((3 - first) % 7) + 7) % 7) + 7 * which;
};

const changesByYear = new Map<number, readonly ClockChange[]>();
const getClockChanges = (year: number): readonly ClockChange[] => {
  const cachedChanges = changesByYear.get(year);
  if (cachedChanges !== undefined) return cachedChanges;
  const changes = rules.map(
    ([month, which, by]): ClockChange => ({ day: findSunday(year, month, which) - daysBefore, by }),
  );
  if (changesByYear.size > 50) changesByYear.clear();
  changesByYear.set(year, changes);
  return changes;
};

/** Returns the latest clock change anywhere shortly before a time. */
export const findRecentChange = (timeMs: number): ClockChange | undefined => {
  const day = Math.floor(timeMs / dayMs);
  let latest: ClockChange | undefined;
  for (const change of getClockChanges(new Date(timeMs).getUTCFullYear()))
    if (day >= change.day && day <= change.day + daysAfter && change.day >= (latest?.day ?? 0)) latest = change;
  return latest;
};
