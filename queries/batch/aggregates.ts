/**
 * Aggregates of several queries over the records of one data source, with ranges near to each other, in one statement.
 */
import { bucketOf, compareGroups, groupsOf } from '../aggregate/aggregate.ts';
import { type Figure, figuresOf } from '../aggregate/measures.ts';
import { type Answer, type QueryContext, seriesAnswer, tableAnswer } from '../answer.ts';
import type { Outcome } from '../outcome.ts';
import type { AggregateQuery } from '../query.ts';
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { rangeValues, withinRange } from '../records.ts';
import { searchCondition } from '../search/condition.ts';
import { parseSearch } from '../search/parse.ts';
import { type Steps, secondsIn, stepsOf } from '../steps.ts';
import { ValueReader } from '../values.ts';

/** Maximum number of queries in one statement: each adds a condition that is evaluated for every record. */
export const maxAggregates = 32;
/** Maximum number of groups of all queries. */
const maxGroups = 20_000;
/** Maximum number of figures of all steps. */
const maxFigures = 100_000;

/** Functions whose result does not depend on the order of records. */
const exact = new Set(['count', 'rate', 'distinct', 'min', 'max', 'percentile']);

/**
 * Series with steps aligned to the epoch are cached by hour (`../aggregate/points-cache.ts`), and groups of series are
 * selected over all steps.
 */
const isSharedSeries = ({ groupBy }: AggregateQuery, { stepsFrom }: QueryContext): boolean =>
  groupBy.length === 0 && stepsFrom === 'range';

/**
 * Returns a key shared by near ranges: their lengths differ by at most a factor of two, and they end within twice the
 * longer length. One statement over all of them reads few additional records, and saves the milliseconds of overhead
 * per statement.
 */
const nearKey = ({ from, to }: Range): readonly number[] => {
  const seconds = Number((to - from) / 1_000_000_000n) + 1;
  const width = 2 ** Math.ceil(Math.log2(seconds));
  return [width, Math.floor(Number(to / 1_000_000_000n) / width)];
};

/** Returns the key that queries of one batch share; undefined for a query that must run alone. */
export const aggregatesKey = (query: AggregateQuery, context: QueryContext): string | undefined => {
  const { signal, projectId, groupBy, order, measures } = query;
  const { range, stepMs } = context;
  return (stepMs === undefined || isSharedSeries(query, context)) &&
    order === undefined &&
    measures.every((measure) => exact.has(measure.function))
    ? JSON.stringify([
        ...[signal, projectId ?? null, groupBy],
        stepMs === undefined ? nearKey(range) : [String(range.from), String(range.to), stepMs],
      ])
    : undefined;
};

interface Member {
  readonly query: AggregateQuery;
  readonly figures: readonly Figure[];
  readonly condition: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  /** SQL of the number of its records. */
  readonly count: string;
}

/** `range`: set if it differs from that of the statement. */
const memberOf = (query: AggregateQuery, index: number, values: ValueReader, range: Range | undefined): Member => {
  const { signal, search, measures } = query;
  const prefix = `q${index}_`;
  const found = search === undefined ? undefined : searchCondition(parseSearch(search, signal), signal, { prefix });
  const conditions = [found?.sql, range && withinRange(signal, prefix)].filter((each) => each !== undefined);
  const own =
    conditions.length === 0 ? undefined : values.column(`toBool(${conditions.map((sql) => `(${sql})`).join(' AND ')})`);
  const figures = figuresOf(measures, signal, values, { sql: own, prefix });
  return {
    query,
    figures,
    condition: found?.sql,
    parameters: Object.assign(
      {},
      found?.parameters,
      range && rangeValues(range, prefix),
      ...figures.map(({ parameters }) => parameters),
    ),
    count: own === undefined ? 'count()' : `countIf(${own})`,
  };
};

type Row = Readonly<Record<string, unknown>>;

/** Compares figures: largest first, missing ones last. */
const byFigure = (one: unknown, other: unknown): number => {
  if (one === null || one === undefined) return other === null || other === undefined ? 0 : 1;
  if (other === null || other === undefined) return -1;
  return Number(other) - Number(one);
};

/** Returns one series per figure, as for a query that runs alone. */
const seriesOf = (
  { figures }: Member,
  index: number,
  { starts, secondsOf, partial }: Steps,
  rows: ReadonlyMap<number, Row>,
): Answer =>
  seriesAnswer(
    figures.map((figure, at) => ({
      name: figure.name,
      labels: {},
      unit: figure.column.unit,
      points: starts.map((start, step) => {
        const row = rows.get(step);
        const answer = row === undefined || row[`n${index}`] === '0' ? figure.ofNone : row[`m${index}_${at}`];
        return [start, figure.read(answer, secondsOf(step), 'series') as number | null];
      }),
    })),
    partial,
  );

/** Returns the range from the earliest start to the latest end. */
const spanOf = (contexts: readonly QueryContext[]): Range => {
  const ranges = contexts.map(({ range }) => range);
  const earlier = (one: bigint, other: bigint): bigint => (one < other ? one : other);
  const later = (one: bigint, other: bigint): bigint => (one > other ? one : other);
  return { from: ranges.map(({ from }) => from).reduce(earlier), to: ranges.map(({ to }) => to).reduce(later) };
};

/**
 * Returns the results of `runAggregate` for each query. All queries share one `aggregatesKey`. Throws if one of them is
 * invalid, or if they have too many groups; each must then run alone.
 */
export const runAggregateBatch = async (
  queries: readonly AggregateQuery[],
  reading: Reading,
  contexts: readonly [QueryContext, ...QueryContext[]],
): Promise<Outcome[]> => {
  const [{ signal, projectId, groupBy }] = queries as readonly [AggregateQuery];
  const [{ stepMs, stepsFrom }] = contexts;
  const range = spanOf(contexts);
  const steps = stepMs === undefined ? undefined : stepsOf(range, stepMs, stepsFrom);
  const figureCount = queries.reduce((sum, { measures }) => sum + measures.length, 0);
  if (steps !== undefined && steps.count * figureCount > maxFigures) return queries.map(() => undefined);
  const values = new ValueReader(signal);
  const bucket = steps && values.column(bucketOf(steps.stepNs));
  const groups = groupsOf({ groupBy }, values);
  const isWhole = ({ from, to }: Range): boolean => from === range.from && to === range.to;
  const members = queries.map((query, index) => {
    const { range: own } = contexts[index] ?? contexts[0];
    return memberOf(query, index, values, isWhole(own) ? undefined : own);
  });
  const conditions = members.map(({ condition }) => condition);
  const either = conditions.includes(undefined) ? 'true' : `(${conditions.map((sql) => `(${sql})`).join(' OR ')})`;
  const project = projectId === undefined ? '' : 'project_id = {project:String} AND ';
  const names = [...groups.map((_group, index) => `g${index}`), ...(bucket === undefined ? [] : ['bucket'])];
  const selected = [
    ...(bucket === undefined ? [] : [`${bucket} AS bucket`]),
    ...groups.map(({ value }, index) => `${value.text} AS g${index}`),
    ...members.flatMap(({ count, figures }, index) => [
      `${count} AS n${index}`,
      ...figures.map((figure, at) => `${figure.call('')} AS m${index}_${at}`),
    ]),
  ];
  const rows = await reading.columns.query<Row>(
    `SELECT ${selected.join(', ')} FROM ${values.from(`${project}${either}`)}
    ${names.length === 0 ? '' : `GROUP BY ${names.join(', ')}`} LIMIT ${maxGroups + 1}`,
    Object.assign(
      {
        ...rangeValues(range),
        ...(projectId !== undefined && { project: projectId }),
        ...(steps !== undefined && { begin: String(steps.beginNs) }),
      },
      ...members.map(({ parameters }) => parameters),
    ),
    { maxResultRows: maxGroups + 1 },
  );
  if (rows.length > maxGroups) return queries.map(() => undefined);
  if (steps !== undefined) {
    const byStep = new Map(rows.map((row) => [Number(row['bucket']), row]));
    return members.map((member, index) => ({ answer: seriesOf(member, index, steps, byStep) }));
  }
  const valuesOf = (row: Row): unknown[] => names.map((name) => row[name]);
  const answerOf = ({ query, figures }: Member, index: number): Answer | undefined => {
    const own = names.length === 0 ? rows : rows.filter((row) => Number(row[`n${index}`]) > 0);
    if (own.length > query.limit) return undefined;
    const seconds = secondsIn((contexts[index] ?? contexts[0]).range);
    const inOrder = own.toSorted(
      (one, other) =>
        byFigure(one[`m${index}_0`], other[`m${index}_0`]) || compareGroups(valuesOf(one), valuesOf(other)),
    );
    return tableAnswer(
      [...groups, ...figures].map(({ column }) => column),
      inOrder.map((row) => [
        ...valuesOf(row),
        ...figures.map((figure, at) => figure.read(row[`m${index}_${at}`], seconds, 'table')),
      ]),
    );
  };
  return members.map((member, index) => {
    const answer = answerOf(member, index);
    return answer && { answer };
  });
};
