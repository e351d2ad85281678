/** When clocks of the world change, by the rules of this century: nothing is asked of the system, so that scores are the same anywhere. */

const dayMs = 86_400_000;

/** A month, which of its Sundays (-1 is the last), and by how many hours clocks are ahead from then on. */
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
/** Clocks change a day or two beside the Sunday in some countries, and in the evening before by UTC in others. */
const daysBefore = 2;
/** For so many days a change is looked at: what comes once a week has shown it, and what was learnt of it lasts. */
export const daysAfter = 28;

export interface ClockChange {
  /** The first day, since the epoch, on which clocks may have changed. */
  readonly day: number;
  readonly by: 1 | -1;
}

const sundayOf = (year: number, month: number, which: number): number => {
  const first = Date.UTC(year, which < 0 ? month + 1 : month, 1) / dayMs;
  // The epoch began on a Thursday.
  return first + ((((3 - first) % 7) + 7) % 7) + 7 * which;
};

const years = new Map<number, readonly ClockChange[]>();
const changesOf = (year: number): readonly ClockChange[] => {
  const known = years.get(year);
  if (known !== undefined) return known;
  const made = rules.map(([month, which, by]): ClockChange => ({ day: sundayOf(year, month, which) - daysBefore, by }));
  if (years.size > 50) years.clear();
  years.set(year, made);
  return made;
};

/** The latest change that clocks somewhere have made shortly before a time. */
export const changeBefore = (timeMs: number): ClockChange | undefined => {
  const day = Math.floor(timeMs / dayMs);
  let latest: ClockChange | undefined;
  for (const change of changesOf(new Date(timeMs).getUTCFullYear()))
    if (day >= change.day && day <= change.day + daysAfter && change.day >= (latest?.day ?? 0)) latest = change;
  return latest;
};
