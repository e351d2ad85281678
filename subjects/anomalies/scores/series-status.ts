/** Status of a series by its own past: the scorer's result up to its last point. */
import { directionOf } from './anomaly-text.ts';
import { isLearning, type Scored, scoreSeries } from './scorer.ts';
import type { SeriesStatus } from './status-table.ts';

export interface SeriesSteps {
  readonly labels: Readonly<Record<string, string>>;
  readonly name: string;
  readonly unit: string;
  readonly fromMs: number;
  readonly stepMs: number;
  readonly values: readonly (number | null)[];
}

/** Number of last steps without a value after which a series counts as unknown. */
const silentSteps = 3;

/** Returns the anomaly that is active at the end: its start, and its rarest point. */
const lastingOf = (scored: readonly Scored[]) => {
  const before = scored.findLastIndex(({ isAnomalous }) => !isAnomalous);
  const [first, ...others] = scored.slice(before + 1);
  if (first === undefined) return undefined;
  const rarest = others.reduce((best, one) => (one.score > best.score && one.sign !== null ? one : best), first);
  return { first, rarest };
};

export const toSeriesStatus = (
  { labels, name, unit, fromMs, stepMs, values }: SeriesSteps,
  falseAlarmsPerWeek: number,
): SeriesStatus => {
  const points = values.map((value, index) => [fromMs + index * stepMs, value] as const);
  const { scored, state } = scoreSeries(points, { falseAlarmsPerWeek });
  const own = { labels, name, unit };
  const none = { sign: null, direction: null, beginMs: null, expected: null, low: null, high: null, before: null };
  const last = values.findLastIndex((value) => value !== null);
  const value = values[last] ?? null;
  if (last < values.length - silentSteps)
    return { ...own, ...none, score: null, value: null, unknown: `it has no value in its last ${silentSteps} steps` };
  if (isLearning(state)) {
    const known = values.filter((each) => each !== null).length;
    return { ...own, ...none, score: null, value, unknown: `too few steps are known: ${known}` };
  }
  const { expected = null, low = null, high = null } = scored[last] ?? {};
  const seen = { ...own, ...none, value, expected, low, high };
  const lasting = lastingOf(scored.slice(0, last + 1));
  const sign = lasting?.rarest.sign ?? null;
  if (lasting === undefined || sign === null) return { ...seen, score: 0 };
  const { first, rarest } = lasting;
  return {
    ...seen,
    score: rarest.score,
    sign,
    direction: directionOf(sign),
    beginMs: first.timeMs,
    before: first.expected,
  };
};
