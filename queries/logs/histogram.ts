/** Counts log records in each step of a range, by the values of a field. */

import type { QueryRequest } from '../query.ts';
import type { Range } from '../range.ts';
import type { Incompleteness } from '../result.ts';
import { run } from '../run.ts';
import type { toQueryParts } from '../search/query-parts.ts';
import { buildSteps } from '../steps.ts';
import type { TenantReader } from '../tenant-reader.ts';

export interface HistogramQuery {
  readonly records: ReturnType<typeof toQueryParts>;
  readonly range: Range;
  readonly stepMs: number;
  /** Field to group by; without it all records are one group. */
  readonly groupBy?: string | undefined;
  /** Maximum number of values, most records first. */
  readonly maxGroups: number;
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
  readonly otherCounts: readonly number[];
  readonly partial: readonly Incompleteness[];
  readonly hint?: string | undefined;
}

/**
 * Counts records in all steps, including empty ones. The counts of the listed values and of all other values add up
 * to the number of records.
 */
export const countLogs = async (
  reader: TenantReader,
  { records, range, stepMs, groupBy, maxGroups }: HistogramQuery,
): Promise<Histogram> => {
  const query: QueryRequest & { kind: 'aggregate' } = {
    kind: 'aggregate',
    signal: 'logs',
    measures: [{ function: 'count' }],
    ...records,
  };
  const countsByValue =
    groupBy === undefined
      ? undefined
      : await run({ ...query, groupBy: [groupBy], limit: maxGroups }, reader, { range, stepMs });
  const hasOmittedGroups = countsByValue?.partial.some(({ code }) => code === 'groups') ?? false;
  // If no value is omitted, there are no other records, and the total need not be counted.
  const totalCounts =
    countsByValue === undefined || hasOmittedGroups ? await run(query, reader, { range, stepMs }) : undefined;
  const totals = (totalCounts?.series[0]?.points ?? []).map(([, value]) => Number(value ?? 0));
  const valueSeries = (countsByValue?.series ?? []).map(({ labels, points }) => ({
    value: labels[groupBy ?? ''] ?? '',
    counts: points.map(([, value]) => Number(value ?? 0)),
  }));
  const otherCounts = hasOmittedGroups
    ? totals.map((value, step) =>
        Math.max(
          0,
          valueSeries.reduce((remaining, { counts }) => remaining - (counts[step] ?? 0), value),
        ),
      )
    : [];
  const { starts, partial: partialSteps } = buildSteps(range, stepMs);
  const partial = [...(totalCounts?.partial ?? []), ...(countsByValue?.partial ?? [])].filter(
    ({ code }) => code !== 'groups',
  );
  return {
    starts,
    partialSteps,
    otherCounts,
    partial,
    hint: (countsByValue ?? totalCounts)?.hint,
    series: countsByValue === undefined ? [{ value: '', counts: totals }] : valueSeries,
  };
};
