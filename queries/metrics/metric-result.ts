/** Converts values by group and window to the common result format. */

import { satisfiesHaving } from '../having.ts';
import type { MetricQuery } from '../query.ts';
import { buildSeriesResult, buildTableResult, type QueryContext, type ResultData } from '../query-result.ts';
import type { Incompleteness } from '../result.ts';
import { roundNoise } from '../round-numbers.ts';
import type { Cell } from './cells.ts';
import type { MetricPlan, ReadValue } from './plan.ts';

/** Returns whether values are those of points and not computed. */
const returnsPointValues = ({ overTime, across }: MetricQuery): boolean =>
  ['last', 'min', 'max'].includes(overTime) && ['none', 'min', 'max'].includes(across);

/** Returns a value for JSON; numbers that JSON cannot represent are text. */
const formatValue = (query: MetricQuery, cell: Cell): number | string | null => {
  if (cell === undefined) return null;
  if (typeof cell === 'bigint') return String(cell);
  if (!Number.isFinite(cell)) return String(cell);
  return returnsPointValues(query) ? cell : roundNoise(cell);
};

/** Builds the result from the values of a plan: the first groups in their order, as series or as a table. */
export const buildMetricResult = (
  { query, windows, groups, limits, partial }: Pick<MetricPlan, 'query' | 'windows' | 'groups' | 'limits' | 'partial'>,
  readValue: ReadValue,
  unit: string,
  { stepMs }: QueryContext,
): ResultData => {
  const isAscending = query.order === 'ascending';
  const rankedGroups = groups
    .map(({ labels }, group) => ({ labels, group, size: computeMeanValue(readValue, group, windows.count) }))
    .filter(({ size }) => size !== undefined && satisfiesHaving(query.having, size))
    .sort(
      (left, right) =>
        (isAscending ? compareDescending(right.size, left.size) : compareDescending(left.size, right.size)) ||
        (JSON.stringify(left.labels) < JSON.stringify(right.labels) ? -1 : 1),
    );
  const maxGroups = Math.max(1, Math.min(query.limit, Math.floor(limits.resultValues / windows.count)));
  if (rankedGroups.length > maxGroups) {
    const reason = maxGroups < query.limit ? `, because an answer has at most ${limits.resultValues} points` : '';
    partial.push({
      code: 'groups',
      message: `there are ${rankedGroups.length} groups: these are the ${maxGroups} with the ${isAscending ? 'smallest' : 'largest'} values${reason}`,
    });
  }
  const shownGroups = rankedGroups.slice(0, maxGroups);
  if (stepMs === undefined) return buildTable(query, shownGroups, readValue, unit, partial);
  return buildSeriesResult(
    shownGroups.map(({ labels, group }) => ({
      name: query.metric,
      labels,
      unit,
      points: windows.starts.map((start, window) => [start, formatValue(query, readValue(group, window))]),
    })),
    windows.partial,
    partial,
  );
};

const compareDescending = (left = 0, right = 0): number => (left === right ? 0 : left > right ? -1 : 1);

interface RankedGroup {
  readonly labels: Readonly<Record<string, string>>;
  readonly group: number;
}

const buildTable = (
  query: MetricQuery,
  returnedGroups: readonly RankedGroup[],
  readValue: ReadValue,
  unit: string,
  partial: readonly Incompleteness[],
): ResultData => {
  const names =
    query.across === 'none'
      ? [...new Set(returnedGroups.flatMap(({ labels }) => Object.keys(labels)))].sort()
      : query.groupBy;
  return buildTableResult(
    [...names.map((name) => ({ name, type: 'text' as const, unit: '' })), { name: query.metric, type: 'number', unit }],
    returnedGroups.map(({ labels, group }) => [
      ...names.map((name) => labels[name] ?? ''),
      formatValue(query, readValue(group, 0)),
    ]),
    partial,
  );
};

/** Returns the mean of a group's values, by which groups are ranked; undefined without values. */
const computeMeanValue = (readValue: ReadValue, group: number, windows: number): number | undefined => {
  let sum = 0;
  let count = 0;
  let hasValue = false;
  for (let window = 0; window < windows; window++) {
    const value = readValue(group, window);
    if (value === undefined) continue;
    hasValue = true;
    if (Number.isNaN(Number(value))) continue;
    sum += Number(value);
    count++;
  }
  if (!hasValue) return undefined;
  return count === 0 ? Number.NEGATIVE_INFINITY : sum / count;
};
