/**
 * Runs metric queries of the query builder. The points of each series are aggregated to one value per window, and
 * the series are
 * aggregated to groups. The README describes the functions.
 */

import { createValidationError } from '../errors.ts';
import type { MetricQuery } from '../query.ts';
import type { QueryContext, ResultData } from '../query-result.ts';
import { requireRetained } from '../range.ts';
import type { Incompleteness } from '../result.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { Cells, type CombineFunction } from './cells.ts';
import { computeClassicQuantiles } from './classic-histograms.ts';
import { HistogramCells } from './histograms.ts';
import { getResultUnit, planSeriesReads, type SeriesRead } from './kinds.ts';
import { buildMetricResult } from './metric-result.ts';
import {
  buildIncreaseSql,
  buildNewestInWindowsSql,
  buildPointsInWindowsSql,
  createObservationSource,
  createSampleSource,
  type NumberSource,
} from './numbers.ts';
import {
  type Group,
  type MetricLimits,
  type MetricPlan,
  metricLimits,
  type ReadValue,
  readInParts,
  requireCells,
} from './plan.ts';
import { findCommonUnit, type SelectedSeries, selectSeries } from './selection.ts';
import { createWindows, type PointSource, pointsCondition, type Windows } from './windows.ts';

/**
 * Runs a metric query. The result is series if the context has a step, otherwise a table. Throws a `QueryError` if the
 * function does not apply to the metric's type or the plan does not allow it. `partial` lists the limits that were
 * reached.
 */
export const runMetric = async (
  query: MetricQuery,
  reader: TenantReader,
  context: QueryContext,
  limits: MetricLimits = metricLimits,
): Promise<ResultData> => {
  requireRetained(context.range, { caller: reader, signal: 'metrics', nowMs: reader.nowMs });
  if (query.overTime === 'quantile' && query.quantile === undefined)
    throw createValidationError('quantile', 'is required for quantile, such as 0.95');
  if (query.across === 'none' && query.groupBy.length > 0)
    throw createValidationError('groupBy', 'must be empty where across is none: every series is a group by itself');
  const windows = createWindows(context);
  const partial: Incompleteness[] = [];
  const series = await selectQuerySeries(query, reader, context, limits, partial);
  const { groups, groupIndexes } = groupSeries(series);
  requireCells(groups.length, windows, limits);
  const deadline = performance.now() + limits.milliseconds;
  const plan = { query, reader, windows, series, groups, groupIndexes, limits, deadline, partial };
  const reads = planSeriesReads(series, query);
  const unit = getResultUnit(findCommonUnit(series, query.metric), reads[0]?.table ?? 'samples', query);
  const values = await computeValues(plan, reads);
  return buildMetricResult(plan, values, unit, context);
};

/**
 * Selects the series of a query. For a quantile of `latency` without series, uses the classic histogram
 * `latency_bucket`.
 */
const selectQuerySeries = async (
  query: MetricQuery,
  reader: TenantReader,
  { range }: QueryContext,
  limits: MetricLimits,
  partial: Incompleteness[],
): Promise<readonly SelectedSeries[]> => {
  const { metric, search, projectId, across } = query;
  const groupBy = across === 'none' ? 'every' : query.groupBy;
  const select = (name: string) =>
    selectSeries(reader, { metrics: [name], search, projectId, range, groupBy }, limits.series);
  const ownSeries = await select(metric);
  const isClassic = ownSeries.series.length === 0 && query.overTime === 'quantile';
  const selectedSeries = isClassic ? await select(`${metric}_bucket`) : ownSeries;
  if (selectedSeries.hasOmittedSeries)
    partial.push({
      code: 'rows',
      message: `${metric} has more than ${limits.series} series here: only the first are counted; narrow the query by a search`,
    });
  const isGroupedByHistogram =
    across === 'none' && selectedSeries.series.some(isClassicBucket) && query.overTime === 'quantile';
  return isGroupedByHistogram ? selectedSeries.series.map(removeBucketBound) : selectedSeries.series;
};

/** Removes the label `le`, so that the buckets of one classic histogram are one group. */
const removeBucketBound = (series: SelectedSeries): SelectedSeries => {
  const { le: _bound, ...labels } = series.labels;
  return { ...series, labels };
};

const isClassicBucket = ({ le }: SelectedSeries): boolean => le !== '';

/** Returns the groups of series, and the group of each series. */
export const groupSeries = (series: readonly SelectedSeries[]): { groups: Group[]; groupIndexes: number[] } => {
  const byKey = new Map<string, number>();
  const groups: Group[] = [];
  const groupIndexes = series.map(({ labels }, member) => {
    const key = JSON.stringify(labels);
    const groupIndex = byKey.get(key) ?? groups.length;
    if (groupIndex === groups.length) {
      byKey.set(key, groupIndex);
      groups.push({ labels, members: [] });
    }
    groups[groupIndex]?.members.push(member);
    return groupIndex;
  });
  return { groups, groupIndexes };
};

const computeValues = async (plan: MetricPlan, reads: readonly SeriesRead[]): Promise<ReadValue> => {
  const { query } = plan;
  const table = reads[0]?.table;
  const quantile = table === 'histograms' ? getHistogramQuantile(query) : undefined;
  if (quantile !== undefined) return computeHistogramQuantiles(plan, reads, quantile);
  const isClassic = query.overTime === 'quantile' && table === 'samples' && plan.series.some(isClassicBucket);
  return isClassic ? computeClassicQuantiles(plan, reads, query.quantile ?? 0) : combineNumbers(plan, reads);
};

/** Minimum and maximum of a histogram are its quantiles 0 and 1. */
const getHistogramQuantile = ({ overTime, quantile }: MetricQuery): number | undefined => {
  if (overTime === 'min') return 0;
  if (overTime === 'max') return 1;
  return overTime === 'quantile' ? (quantile ?? 0) : undefined;
};

const combineNumbers = async (plan: MetricPlan, reads: readonly SeriesRead[]): Promise<ReadValue> => {
  const { query, windows, groups, groupIndexes } = plan;
  const { isMean, by } = resolveCombining(query, reads);
  const cells = new Cells(groups.length, windows.count, by);
  for (const read of reads)
    await readInParts(plan, read, cells, (source, part) => {
      const sql = buildSeriesSql(query, read, source, windows);
      const seriesSql =
        isMean && by !== 'ratio' ? `SELECT series_id, w, a / b AS a, b, i, points FROM (${sql}) WHERE b != 0` : sql;
      return cells.add(
        plan.reader.columns,
        seriesSql,
        { metrics: source.metrics },
        { ...part, groups: part.members.map((memberIndex) => groupIndexes[memberIndex] ?? 0), members: source.ids },
      );
    });
  if (cells.points === 0 && reads[0]?.table === 'summaries' && query.overTime === 'quantile')
    await rejectUnknownQuantile(plan, reads);
  return readCellValues(cells, query, windows);
};

/** Throws if no sender computed the requested quantile of a summary: other quantiles cannot be derived from it. */
const rejectUnknownQuantile = async ({ query, reader, series, windows }: MetricPlan, reads: readonly SeriesRead[]) => {
  const ids = reads.flatMap(({ members }) => members.flatMap((member) => series[member]?.id ?? []));
  const source: PointSource = { table: 'summaries', metrics: [query.metric], ids };
  const rows = await reader.columns.query<{ quantile: string }>(
    `SELECT toString(arrayJoin(summaries.quantiles)) AS quantile FROM summaries WHERE ${pointsCondition(source, windows, windows.staleAfterNs)}
    GROUP BY quantile ORDER BY toFloat64(quantile) LIMIT 20`,
    { metrics: source.metrics },
  );
  const availableQuantiles = rows.map(({ quantile }) => quantile);
  if (availableQuantiles.length === 0 || availableQuantiles.includes(String(query.quantile))) return;
  throw createValidationError(
    'quantile',
    `${query.metric} is a summary, for which senders compute ${availableQuantiles.join(', ')}: use one of these`,
  );
};

/** Returns how values of series are combined into groups. `isMean`: each value has a count to divide by. */
export const resolveCombining = (
  { overTime, across }: Pick<MetricQuery, 'overTime' | 'across'>,
  reads: readonly SeriesRead[],
): { readonly isMean: boolean; readonly by: CombineFunction } => {
  const isMean = overTime === 'avg' && reads[0]?.table !== 'samples';
  return { isMean, by: isMean && (across === 'sum' || across === 'none') ? 'ratio' : across };
};

/** Returns the values of groups from combined cells. */
export const readCellValues = (cells: Cells, { overTime, across }: MetricQuery, windows: Windows): ReadValue => {
  if (overTime !== 'rate' || across === 'count') return (group, window) => cells.get(group, window);
  return (group, window) => {
    const value = cells.get(group, window);
    return value === undefined ? undefined : Number(value) / windows.getSeconds(window);
  };
};

/** Returns SQL of the value of each series in each window; `isInOrder` as in `buildPointsInWindowsSql`. */
export const buildSeriesSql = (
  query: MetricQuery,
  { table, temporality }: SeriesRead,
  source: PointSource,
  windows: Windows,
  isInOrder = false,
): string => {
  const { overTime, quantile = 0 } = query;
  const isIncrease = overTime === 'rate' || overTime === 'increase';
  if (table === 'summaries' && overTime === 'quantile')
    return buildNewestInWindowsSql(createSummaryQuantileSource(source, quantile), windows);
  if (table !== 'samples') return buildIncreaseSql(createObservationSource(source, overTime), windows, temporality);
  if (isIncrease) return buildIncreaseSql(createSampleSource(source), windows, temporality);
  if (overTime === 'last') return buildNewestInWindowsSql(createSampleSource(source), windows);
  return buildPointsInWindowsSql(createSampleSource(source), windows, overTime, { quantile, isInOrder });
};

/** Reads the quantiles that the sender computed; no value if it did not compute this one. */
const createSummaryQuantileSource = (source: PointSource, quantile: number): NumberSource => ({
  source,
  value: `summaries.quantile_values[indexOf(summaries.quantiles, toFloat64(${quantile}))]`,
  condition: `has(summaries.quantiles, toFloat64(${quantile}))`,
  integer: 'toInt64(0)',
  counter: 'toFloat64(0)',
});

/**
 * Computes quantiles of histograms. If series are summed, their histograms are added first; otherwise each series has
 * its own quantile.
 */
const computeHistogramQuantiles = async (
  plan: MetricPlan,
  reads: readonly SeriesRead[],
  quantile: number,
): Promise<ReadValue> => {
  const { query, windows, groups, groupIndexes, series } = plan;
  const isSummed = query.across === 'sum' || query.across === 'none';
  const histograms = new HistogramCells();
  for (const read of reads)
    await readInParts(plan, read, histograms, (source, { members }) =>
      histograms.add(
        plan.reader.columns,
        { source, windows, temporality: read.temporality },
        {
          members: source.ids,
          groups: isSummed ? members.map((memberIndex) => groupIndexes[memberIndex] ?? 0) : members,
        },
      ),
    );
  if (isSummed) return (group, window) => histograms.computeQuantileOf(group, window, quantile);
  const cells = new Cells(groups.length, windows.count, query.across);
  for (const member of series.keys())
    for (let window = 0; window < windows.count; window++) {
      const value = histograms.computeQuantileOf(member, window, quantile);
      if (value !== undefined) cells.addValue(groupIndexes[member] ?? 0, window, value);
    }
  return (group, window) => cells.get(group, window);
};
