/** Counts log records in each step of a range, by the values of a field. */

import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import type { Incompleteness } from '../result.ts';
import { type QueryRequest, run } from '../run.ts';
import type { queryPartsOf } from '../search/query-parts.ts';
import { stepsOf } from '../steps.ts';

export interface HistogramQuestion {
  readonly records: ReturnType<typeof queryPartsOf>;
  readonly range: Range;
  readonly stepMs: number;
  /** Field to group by; without it all records are one group. */
  readonly groupBy?: string | undefined;
  /** Maximum number of values, most records first. */
  readonly groups: number;
}

export interface HistogramSeries {
  /** Empty for records without a value. */
  readonly value: string;
  readonly counts: readonly number[];
}

export interface Histogram {
  /** Starts of the steps, in epoch milliseconds. */
  readonly starts: readonly number[];
  readonly partialSteps: readonly number[];
  readonly series: readonly HistogramSeries[];
  /** Records of all other values; empty if there are none. */
  readonly rest: readonly number[];
  readonly partial: readonly Incompleteness[];
  readonly hint?: string | undefined;
}

/** Returns counts of all steps, including those without records. Values and rest add up to all records. */
export const logHistogram = async (
  reading: Reading,
  { records, range, stepMs, groupBy, groups }: HistogramQuestion,
): Promise<Histogram> => {
  const query: QueryRequest & { kind: 'aggregate' } = {
    kind: 'aggregate',
    signal: 'logs',
    measures: [{ function: 'count' }],
    ...records,
  };
  const byValue =
    groupBy === undefined
      ? undefined
      : await run({ ...query, groupBy: [groupBy], limit: groups }, reading, { range, stepMs });
  const isCut = byValue?.partial.some(({ code }) => code === 'groups') ?? false;
  // If no value is omitted, there is no rest, and the total need not be counted.
  const all = byValue === undefined || isCut ? await run(query, reading, { range, stepMs }) : undefined;
  const totals = (all?.series[0]?.points ?? []).map(([, value]) => Number(value ?? 0));
  const found = (byValue?.series ?? []).map(({ labels, points }) => ({
    value: labels[groupBy ?? ''] ?? '',
    counts: points.map(([, value]) => Number(value ?? 0)),
  }));
  const rest = isCut
    ? totals.map((value, step) =>
        Math.max(
          0,
          found.reduce((left, { counts }) => left - (counts[step] ?? 0), value),
        ),
      )
    : [];
  const { starts, partial: partialSteps } = stepsOf(range, stepMs);
  const partial = [...(all?.partial ?? []), ...(byValue?.partial ?? [])].filter(({ code }) => code !== 'groups');
  return {
    starts,
    partialSteps,
    rest,
    partial,
    hint: (byValue ?? all)?.hint,
    series: byValue === undefined ? [{ value: '', counts: totals }] : found,
  };
};
