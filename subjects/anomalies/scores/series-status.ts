/** Status of a series, from the scores of its own points. */
import { getSignDirection } from './anomaly-text.ts';
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
const maxMissingSteps = 3;

/** Returns the anomaly that is active at the end: its start, and its rarest point. */
const findActiveAnomaly = (scored: readonly Scored[]) => {
  const before = scored.findLastIndex(({ isAnomalous }) => !isAnomalous);
  const [first, ...others] = scored.slice(before + 1);
  if (first === undefined) return undefined;
  const rarest = others.reduce(
    (best, point) => (point.score > best.score && point.sign !== null ? point : best),
    first,
  );
  return { first, rarest };
};

export const toSeriesStatus = (
  { labels, name, unit, fromMs, stepMs, values }: SeriesSteps,
  falseAlarmsPerWeek: number,
): SeriesStatus => {
  const points = values.map((value, index) => [fromMs + index * stepMs, value] as const);
  const { scored, state } = scoreSeries(points, { falseAlarmsPerWeek });
  const seriesFields = { labels, name, unit };
  const noAnomaly = { sign: null, direction: null, beginMs: null, expected: null, low: null, high: null, before: null };
  const last = values.findLastIndex((value) => value !== null);
  const value = values[last] ?? null;
  if (last < values.length - maxMissingSteps)
    return {
      ...seriesFields,
      ...noAnomaly,
      score: null,
      value: null,
      unknown: `it has no value in its last ${maxMissingSteps} steps`,
    };
  if (isLearning(state)) {
    const knownCount = values.filter((value) => value !== null).length;
    return { ...seriesFields, ...noAnomaly, score: null, value, unknown: `too few steps are known: ${knownCount}` };
  }
  const { expected = null, low = null, high = null } = scored[last] ?? {};
  const scoredFields = { ...seriesFields, ...noAnomaly, value, expected, low, high };
  const activeAnomaly = findActiveAnomaly(scored.slice(0, last + 1));
  const sign = activeAnomaly?.rarest.sign ?? null;
  if (activeAnomaly === undefined || sign === null) return { ...scoredFields, score: 0 };
  const { first, rarest } = activeAnomaly;
  return {
    ...scoredFields,
    score: rarest.score,
    sign,
    direction: getSignDirection(sign),
    beginMs: first.timeMs,
    before: first.expected,
  };
};
