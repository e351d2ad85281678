/**
 * Dates of daylight saving changes worldwide, by the current rules. They do not depend on the time zone data of the
 * system, so that scores are the same everywhere.
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
/** Days by which the changes precede that Sunday: in some countries a day or two, in UTC often the evening before. */
const daysBefore = 2;
/** Number of days for which a change is considered. By then, weekly patterns have shown its effect, which is retained. */
export const daysAfter = 28;

export interface ClockChange {
  /** First day, since the epoch, on which clocks may have changed. */
  readonly day: number;
  readonly by: 1 | -1;
}

const findSunday = (year: number, month: number, sunday: number): number => {
  const first = Date.UTC(year, sunday < 0 ? month + 1 : month, 1) / dayMs;
  // The epoch began on a Thursday.
  return first + ((((3 - first) % 7) + 7) % 7) + 7 * sunday;
};

const changesByYear = new Map<number, readonly ClockChange[]>();
const getClockChanges = (year: number): readonly ClockChange[] => {
  const cachedChanges = changesByYear.get(year);
  if (cachedChanges !== undefined) return cachedChanges;
  const changes = rules.map(
    ([month, sunday, by]): ClockChange => ({ day: findSunday(year, month, sunday) - daysBefore, by }),
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
