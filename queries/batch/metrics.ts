/**
 * Runs several metric queries over one range with few statements: one for the series of all queries, and one per
 * function for the values.
 */

import { Cells, parseClickHouseNumber } from '../metrics/cells.ts';
import { getResultUnit, planSeriesReads, type SeriesRead } from '../metrics/kinds.ts';
import { buildSeriesSql, groupSeries, readCellValues, resolveCombining } from '../metrics/metric.ts';
import { buildMetricResult } from '../metrics/metric-result.ts';
import { type Group, metricLimits } from '../metrics/plan.ts';
import { findCommonUnit, type SelectedSeries, selectSeriesBatch } from '../metrics/selection.ts';
import { createWindows, type Windows } from '../metrics/windows.ts';
import type { QueryOutcome } from '../outcome.ts';
import type { MetricQuery } from '../query.ts';
import type { QueryContext, ResultData } from '../query-result.ts';
import type { TenantReader } from '../tenant-reader.ts';

/**
 * Maximum number of queries in one statement: each adds a condition that is evaluated for every series of its metrics.
 */
export const maxMetrics = 128;
/**
 * Maximum number of series of all queries, and of values (one per series and window): this process aggregates them, not
 * ClickHouse.
 */
const maxSeries = 10_000;
const maxValues = 50_000;

/** Returns whether a query can be batched. Quantiles of histograms run alone. */
export const isBatchableMetric = ({ overTime, across }: MetricQuery, context: QueryContext): boolean =>
  overTime !== 'quantile' && across !== 'none' && createWindows(context).count <= 1000;

/** A query with its series. */
interface Member {
  readonly query: MetricQuery;
  readonly series: readonly SelectedSeries[];
  readonly groups: readonly Group[];
  readonly groupIndexes: readonly number[];
  readonly reads: readonly SeriesRead[];
  readonly unit: string;
}

/** The minimum and maximum of histograms are computed as quantiles, which are not batched. */
const mustRunAlone = ({ overTime }: MetricQuery, [first]: readonly SeriesRead[]): boolean =>
  first?.table === 'histograms' && (overTime === 'min' || overTime === 'max');

const buildMember = (query: MetricQuery, series: readonly SelectedSeries[]): Member => {
  const reads = planSeriesReads(series, query);
  const unit = getResultUnit(findCommonUnit(series, query.metric), reads[0]?.table ?? 'samples', query);
  return { query, series, ...groupSeries(series), reads, unit };
};

/** Value of one series in one window. */
interface Value {
  readonly id: string;
  readonly window: number;
  readonly a: number | string;
  readonly b: number | string;
  readonly i: string;
}

/** Reads values of series of one table by one function. */
interface ValueQuery {
  readonly read: SeriesRead;
  readonly query: MetricQuery;
  readonly metrics: Set<string>;
  readonly ids: Set<string>;
}

const toValueQueryKey = ({ overTime }: MetricQuery, { table, temporality }: SeriesRead): string =>
  `${overTime} ${table} ${temporality}`;

const groupReads = (members: readonly Member[]): Map<string, ValueQuery> => {
  const valueQueries = new Map<string, ValueQuery>();
  for (const { query, reads, series } of members)
    for (const read of reads) {
      const key = toValueQueryKey(query, read);
      const valueQuery = valueQueries.get(key) ?? { read, query, metrics: new Set(), ids: new Set() };
      valueQueries.set(key, valueQuery);
      for (const member of read.members) {
        const { id, metric } = series[member] as SelectedSeries;
        valueQuery.ids.add(id);
        valueQuery.metrics.add(metric);
      }
    }
  return valueQueries;
};

type ValuesById = ReadonlyMap<string, readonly Value[]>;

const readValues = async (
  { read, query, metrics, ids }: ValueQuery,
  { columns }: Pick<TenantReader, 'columns'>,
  windows: Windows,
): Promise<ValuesById> => {
  const source = { table: read.table, metrics: [...metrics], ids: [...ids] };
  const rows = await columns.query<Value>(
    `SELECT toString(series_id) AS id, toUInt32(w) AS window, a, b, toString(i) AS i FROM (${buildSeriesSql(query, read, source, windows, true)})`,
    { metrics: source.metrics },
    { maxResultRows: maxValues },
  );
  const byId = new Map<string, Value[]>();
  for (const row of rows) {
    const rowsOfSeries = byId.get(row.id);
    if (rowsOfSeries === undefined) byId.set(row.id, [row]);
    else rowsOfSeries.push(row);
  }
  return byId;
};

/** Adds the values of a series. A mean without observations is not a value. */
const addSeriesValues = (
  cells: Cells,
  group: number,
  values: readonly Value[],
  { isMean, by }: ReturnType<typeof resolveCombining>,
): void => {
  for (const { window, a, b, i } of values) {
    const sum = parseClickHouseNumber(a);
    const divisor = parseClickHouseNumber(b);
    if (isMean && divisor === 0) continue;
    cells.addSeriesValue(group, window, {
      a: isMean && by !== 'ratio' ? sum / divisor : sum,
      b: divisor,
      i: BigInt(i),
    });
  }
};

const buildMemberResult = (
  member: Member,
  getValues: (read: SeriesRead) => ValuesById,
  windows: Windows,
  context: QueryContext,
): ResultData => {
  const { query, series, groups, groupIndexes, reads, unit } = member;
  const combining = resolveCombining(query, reads);
  const groupValues = new Cells(groups.length, windows.count, combining.by);
  for (const memberRead of reads) {
    const values = getValues(memberRead);
    for (const seriesIndex of memberRead.members)
      addSeriesValues(
        groupValues,
        groupIndexes[seriesIndex] ?? 0,
        values.get((series[seriesIndex] as SelectedSeries).id) ?? [],
        combining,
      );
  }
  const plan = { query, windows, groups, limits: metricLimits, partial: [] };
  return buildMetricResult(plan, readCellValues(groupValues, query, windows), unit, context);
};

/** Returns the results of `runMetric` for each query. Throws if a search is invalid; each query must then run alone. */
export const runMetricBatch = async (
  queries: readonly MetricQuery[],
  reader: TenantReader,
  context: QueryContext,
): Promise<QueryOutcome[]> => {
  const seriesQueries = queries.map(({ metric, search, projectId, groupBy }) => ({
    metric,
    search,
    projectId,
    groupBy,
    range: context.range,
  }));
  const selectedSeries = await selectSeriesBatch(reader, seriesQueries, maxSeries);
  if (selectedSeries === undefined) return queries.map(() => undefined);
  const windows = createWindows(context);
  const outcomes: QueryOutcome[] = queries.map(() => undefined);
  const members = new Map<number, Member>();
  for (const [index, query] of queries.entries())
    try {
      const member = buildMember(query, selectedSeries[index] ?? []);
      if (!mustRunAlone(query, member.reads)) members.set(index, member);
    } catch (error) {
      outcomes[index] = { error };
    }
  const valueQueries = groupReads([...members.values()]);
  const exceedsMaxValues = ({ ids }: ValueQuery): boolean => ids.size * windows.count > maxValues;
  const valuesByKey = new Map<string, ValuesById>();
  await Promise.all(
    [...valueQueries].map(async ([key, valueQuery]) => {
      if (!exceedsMaxValues(valueQuery)) valuesByKey.set(key, await readValues(valueQuery, reader, windows));
    }),
  );
  for (const [index, member] of members)
    if (member.reads.every((read) => valuesByKey.has(toValueQueryKey(member.query, read)))) {
      const getValues = (seriesRead: SeriesRead): ValuesById =>
        valuesByKey.get(toValueQueryKey(member.query, seriesRead)) ?? new Map();
      outcomes[index] = { result: buildMemberResult(member, getValues, windows, context) };
    }
  return outcomes;
};
