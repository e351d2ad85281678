/**
 * Runs several metric queries over one range with few statements: one for the series of all queries, and one per
 * function for the values.
 */
import type { Answer, QueryContext } from '../answer.ts';
import { Cells, parseClickHouseNumber } from '../metrics/cells.ts';
import { answerUnit, planSeriesReads, type SeriesRead } from '../metrics/kinds.ts';
import { buildSeriesSql, groupSeries, readCellValues, resolveCombining } from '../metrics/metric.ts';
import { buildMetricAnswer } from '../metrics/metric-answer.ts';
import { type Group, metricLimits } from '../metrics/plan.ts';
import { findCommonUnit, type SelectedSeries, selectSeriesBatch } from '../metrics/selection.ts';
import { type Windows, windowsOf } from '../metrics/windows.ts';
import type { QueryOutcome } from '../outcome.ts';
import type { MetricQuery } from '../query.ts';
import type { Reading } from '../reading.ts';

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
  overTime !== 'quantile' && across !== 'none' && windowsOf(context).count <= 1000;

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
  const unit = answerUnit(findCommonUnit(series, query.metric), reads[0]?.table ?? 'samples', query);
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

const readerKey = ({ overTime }: MetricQuery, { table, temporality }: SeriesRead): string =>
  `${overTime} ${table} ${temporality}`;

const groupReads = (members: readonly Member[]): Map<string, ValueQuery> => {
  const readers = new Map<string, ValueQuery>();
  for (const { query, reads, series } of members)
    for (const read of reads) {
      const key = readerKey(query, read);
      const reader = readers.get(key) ?? { read, query, metrics: new Set(), ids: new Set() };
      readers.set(key, reader);
      for (const member of read.members) {
        const { id, metric } = series[member] as SelectedSeries;
        reader.ids.add(id);
        reader.metrics.add(metric);
      }
    }
  return readers;
};

type ValuesById = ReadonlyMap<string, readonly Value[]>;

const readValues = async (
  { read, query, metrics, ids }: ValueQuery,
  { columns }: Pick<Reading, 'columns'>,
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
    const known = byId.get(row.id);
    if (known === undefined) byId.set(row.id, [row]);
    else known.push(row);
  }
  return byId;
};

const buildMemberAnswer = (
  member: Member,
  valuesBy: (read: SeriesRead) => ValuesById,
  windows: Windows,
  context: QueryContext,
): Answer => {
  const { query, series, groups, groupIndexes, reads, unit } = member;
  const { isMean, by } = resolveCombining(query, reads);
  const cells = new Cells(groups.length, windows.count, by);
  for (const memberRead of reads) {
    const values = valuesBy(memberRead);
    for (const seriesIndex of memberRead.members)
      for (const { window, a, b, i } of values.get((series[seriesIndex] as SelectedSeries).id) ?? []) {
        const divisor = parseClickHouseNumber(b);
        const value = isMean && by !== 'ratio' ? parseClickHouseNumber(a) / divisor : parseClickHouseNumber(a);
        cells.addSeriesValue(groupIndexes[seriesIndex] ?? 0, window, { a: value, b: divisor, i: BigInt(i) });
      }
  }
  const plan = { query, windows, groups, limits: metricLimits, partial: [] };
  return buildMetricAnswer(plan, readCellValues(cells, query, windows), unit, context);
};

/** Returns the results of `runMetric` for each query. Throws if a search is invalid; each query must then run alone. */
export const runMetricBatch = async (
  queries: readonly MetricQuery[],
  reading: Reading,
  context: QueryContext,
): Promise<QueryOutcome[]> => {
  const seriesQueries = queries.map(({ metric, search, projectId, groupBy }) => ({
    metric,
    search,
    projectId,
    groupBy,
    range: context.range,
  }));
  const selected = await selectSeriesBatch(reading, seriesQueries, maxSeries);
  if (selected === undefined) return queries.map(() => undefined);
  const windows = windowsOf(context);
  const outcomes: QueryOutcome[] = queries.map(() => undefined);
  const members = new Map<number, Member>();
  for (const [index, query] of queries.entries())
    try {
      const member = buildMember(query, selected[index] ?? []);
      if (!mustRunAlone(query, member.reads)) members.set(index, member);
    } catch (error) {
      outcomes[index] = { error };
    }
  const readers = groupReads([...members.values()]);
  const exceedsMaxValues = ({ ids }: ValueQuery): boolean => ids.size * windows.count > maxValues;
  const valuesByReader = new Map<string, ValuesById>();
  await Promise.all(
    [...readers].map(async ([key, reader]) => {
      if (!exceedsMaxValues(reader)) valuesByReader.set(key, await readValues(reader, reading, windows));
    }),
  );
  for (const [index, member] of members)
    if (member.reads.every((each) => valuesByReader.has(readerKey(member.query, each)))) {
      const valuesBy = (each: SeriesRead): ValuesById => valuesByReader.get(readerKey(member.query, each)) ?? new Map();
      outcomes[index] = { answer: buildMemberAnswer(member, valuesBy, windows, context) };
    }
  return outcomes;
};
