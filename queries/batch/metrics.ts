/**
 * Runs several metric queries over one range with few statements: one for all their series, and one for all values that
 * share a function.
 */
import type { Answer, QueryContext } from '../answer.ts';
import { Cells, numberOf } from '../metrics/cells.ts';
import { answerUnit, type Reads, readsOf } from '../metrics/kinds.ts';
import { combiningOf, groupsOf, sqlOf, valuesIn } from '../metrics/metric.ts';
import { answerOf } from '../metrics/metric-answer.ts';
import { type Group, metricLimits } from '../metrics/plan.ts';
import { type SelectedSeries, selectSeriesBatch, unitOf } from '../metrics/selection.ts';
import { type Windows, windowsOf } from '../metrics/windows.ts';
import type { Outcome } from '../outcome.ts';
import type { MetricQuery } from '../query.ts';
import type { Reading } from '../reading.ts';

/**
 * Maximum number of queries in one statement: each adds a condition that is evaluated for every series of its metrics.
 */
export const maxMetrics = 128;
/**
 * Maximum number of series of all queries, and of values per series and window: they are aggregated here, not in the
 * engine.
 */
const maxSeries = 10_000;
const maxValues = 50_000;

/** Returns whether a query can be batched. Quantiles of histograms run alone. */
export const isSharedMetric = ({ overTime, across }: MetricQuery, context: QueryContext): boolean =>
  overTime !== 'quantile' && across !== 'none' && windowsOf(context).count <= 1000;

/** A query with its series. */
interface Member {
  readonly query: MetricQuery;
  readonly series: readonly SelectedSeries[];
  readonly groups: readonly Group[];
  readonly groupOf: readonly number[];
  readonly reads: readonly Reads[];
  readonly unit: string;
}

/** Minimum and maximum of histograms are quantiles. */
const isAlone = ({ overTime }: MetricQuery, [first]: readonly Reads[]): boolean =>
  first?.table === 'histograms' && (overTime === 'min' || overTime === 'max');

const memberOf = (query: MetricQuery, series: readonly SelectedSeries[]): Member => {
  const reads = readsOf(series, query);
  const unit = answerUnit(unitOf(series, query.metric), reads[0]?.table ?? 'samples', query);
  return { query, series, ...groupsOf(series), reads, unit };
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
interface Reader {
  readonly read: Reads;
  readonly query: MetricQuery;
  readonly metrics: Set<string>;
  readonly ids: Set<string>;
}

const readerKey = ({ overTime }: MetricQuery, { table, temporality }: Reads): string =>
  `${overTime} ${table} ${temporality}`;

const readersOf = (members: readonly Member[]): Map<string, Reader> => {
  const readers = new Map<string, Reader>();
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

const valuesOf = async (
  { read, query, metrics, ids }: Reader,
  { columns }: Pick<Reading, 'columns'>,
  windows: Windows,
): Promise<ValuesById> => {
  const source = { table: read.table, metrics: [...metrics], ids: [...ids] };
  const rows = await columns.query<Value>(
    `SELECT toString(series_id) AS id, toUInt32(w) AS window, a, b, toString(i) AS i FROM (${sqlOf(query, read, source, windows, true)})`,
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

const answerTo = (
  member: Member,
  valuesBy: (read: Reads) => ValuesById,
  windows: Windows,
  context: QueryContext,
): Answer => {
  const { query, series, groups, groupOf, reads, unit } = member;
  const { isMean, by } = combiningOf(query, reads);
  const cells = new Cells(groups.length, windows.count, by);
  for (const read of reads) {
    const values = valuesBy(read);
    for (const at of read.members)
      for (const { window, a, b, i } of values.get((series[at] as SelectedSeries).id) ?? []) {
        const divisor = numberOf(b);
        const value = isMean && by !== 'ratio' ? numberOf(a) / divisor : numberOf(a);
        cells.setSeries(groupOf[at] ?? 0, window, { a: value, b: divisor, i: BigInt(i) });
      }
  }
  const plan = { query, windows, groups, limits: metricLimits, partial: [] };
  return answerOf(plan, valuesIn(cells, query, windows), unit, context);
};

/** Returns the results of `runMetric` for each query. Throws if a search is invalid; each query must then run alone. */
export const runMetricBatch = async (
  queries: readonly MetricQuery[],
  reading: Reading,
  context: QueryContext,
): Promise<Outcome[]> => {
  const questions = queries.map(({ metric, search, projectId, groupBy }) => ({
    metric,
    search,
    projectId,
    groupBy,
    range: context.range,
  }));
  const selected = await selectSeriesBatch(reading, questions, maxSeries);
  if (selected === undefined) return queries.map(() => undefined);
  const windows = windowsOf(context);
  const outcomes: Outcome[] = queries.map(() => undefined);
  const members = new Map<number, Member>();
  for (const [index, query] of queries.entries())
    try {
      const member = memberOf(query, selected[index] ?? []);
      if (!isAlone(query, member.reads)) members.set(index, member);
    } catch (error) {
      outcomes[index] = { error };
    }
  const readers = readersOf([...members.values()]);
  const isTooMuch = ({ ids }: Reader): boolean => ids.size * windows.count > maxValues;
  const read = new Map<string, ValuesById>();
  await Promise.all(
    [...readers].map(async ([key, reader]) => {
      if (!isTooMuch(reader)) read.set(key, await valuesOf(reader, reading, windows));
    }),
  );
  for (const [index, member] of members)
    if (member.reads.every((each) => read.has(readerKey(member.query, each)))) {
      const valuesBy = (each: Reads): ValuesById => read.get(readerKey(member.query, each)) ?? new Map();
      outcomes[index] = { answer: answerTo(member, valuesBy, windows, context) };
    }
  return outcomes;
};
