/** Durations of tests, parsed from ava's output. */

export interface Duration {
  readonly title: string;
  readonly ms: number;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Returns the title and duration of a passed test from ava's line `title (1m 20.8s)`; 0 if the line has no duration.
 */
export const durationIn = (line: string): Duration => {
  const [durationText = '', parts = ''] = / \(((?: ?[\d.]+(?:ms|s|m|h)){1,3})\)$/.exec(line) ?? [];
  const ms = [...parts.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce(
    (sum, [, number, unit = '']) => sum + Number(number) * (unitMs[unit] ?? 0),
    0,
  );
  return { title: line.slice(0, line.length - durationText.length), ms };
};

/** Returns the tests with the longest durations, one a line. */
export const slowest = (durations: readonly Duration[], count: number): string[] =>
  durations
    .filter(({ ms }) => ms > 0)
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, count)
    .map(({ title, ms }) => `${(ms / 1_000).toFixed(1).padStart(6)} s  ${title}`);
