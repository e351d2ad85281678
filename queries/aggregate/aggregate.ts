/** Aggregates log records or spans by group: a table, or series of steps. */
import type { QueryLimits } from '../../schemas/ports/columns.ts';
import { createValidationError } from '../errors.ts';
import { buildHavingClause } from '../having.ts';
import type { AggregateQuery } from '../query.ts';
import { buildSeriesResult, buildTableResult, type QueryContext, type ResultData } from '../query-result.ts';
import type { Range } from '../range.ts';
import { buildRangeParameters, buildRecordsCondition } from '../records.ts';
import type { Incompleteness, Series, TableColumn } from '../result.ts';
import { buildSteps, getRangeSeconds, type SeriesSteps } from '../steps.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { type Value, ValueReader } from '../values.ts';
import { type Aggregation, buildAggregations } from './measures.ts';
import { type Point, PointsCache } from './points-cache.ts';

/** Maximum number of points in all series of a result. */
const maxPoints = 250_000;

/** Grouping of an aggregation. */
export interface GroupByField {
  readonly name: string;
  readonly value: Value;
  readonly column: TableColumn;
}

/** Parts of the statement of a query. */
interface Plan {
  readonly groups: readonly GroupByField[];
  readonly aggregations: readonly Aggregation[];
  readonly from: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly order: Order;
  readonly having: HavingCondition | undefined;
}

/** Condition on an aggregation; `{having:Float64}` is its parameter. */
interface HavingCondition {
  readonly aggregationIndex: number;
  readonly threshold: number;
  buildSql(column: string): string;
}

interface Order {
  /** Index of the aggregation to sort by; otherwise `groupIndex` is set. */
  readonly aggregationIndex?: number;
  readonly groupIndex?: number;
  readonly direction: 'ASC' | 'DESC';
}

/** Aggregates records. A missing group value is the empty string. */
export const runAggregate = (
  query: AggregateQuery,
  reader: TenantReader,
  context: QueryContext,
): Promise<ResultData> =>
  context.stepMs === undefined
    ? runTable(query, reader, context)
    : runSeries(query, reader, context, buildSteps(context.range, context.stepMs, context.stepsFrom));

/** Returns the groups of a query. Throws `VALIDATION_FAILED` if a group is a time. */
export const resolveGroups = ({ groupBy }: Pick<AggregateQuery, 'groupBy'>, values: ValueReader): GroupByField[] =>
  groupBy.map((name, index) => {
    const value = values.getEachValue(name);
    if (value.reference.kind === 'field' && value.reference.field.type === 'time')
      throw createValidationError(`groupBy.${index}`, `${name} is a time: request series with a step instead`);
    return { name, value, column: { name, type: 'text', unit: '' } };
  });

const buildPlan = (
  query: AggregateQuery,
  { range }: QueryContext,
  limit: number,
  /** Registers additional values that the statement reads. */
  registerValues = (_values: ValueReader): void => {},
): Plan => {
  const { signal } = query;
  const values = new ValueReader(signal);
  registerValues(values);
  const groups = resolveGroups(query, values);
  const aggregations = buildAggregations(query.measures, signal, values);
  const condition = buildRecordsCondition(query);
  const having = resolveHaving(query, aggregations, range);
  return {
    having,
    groups,
    aggregations,
    limit,
    order: resolveOrder(query, aggregations, groups),
    from: values.buildSource(condition.sql),
    parameters: Object.assign(
      { ...buildRangeParameters(range), ...condition.parameters },
      having === undefined ? {} : { having: String(having.threshold) },
      ...aggregations.map(({ parameters }) => parameters),
    ),
  };
};

const resolveOrder = (
  query: AggregateQuery,
  aggregations: readonly Aggregation[],
  groups: readonly GroupByField[],
): Order => {
  const { by, direction = 'descending' } = query.order ?? {};
  const sqlDirection = direction === 'descending' ? 'DESC' : 'ASC';
  if (by === undefined) return { aggregationIndex: 0, direction: sqlDirection };
  const aggregationIndex = aggregations.findIndex(({ name }) => name === by);
  if (aggregationIndex >= 0) return { aggregationIndex, direction: sqlDirection };
  const groupIndex = groups.findIndex(({ name }) => name === by);
  if (groupIndex >= 0) return { groupIndex, direction: sqlDirection };
  const names = [...aggregations, ...groups].map(({ name }) => name);
  throw createValidationError('order.by', `must be one of ${names.join(', ')}`);
};

/** Returns the index of the compared aggregation. Throws `VALIDATION_FAILED` if there is none, or if it is a time. */
export const resolveHavingIndex = (
  { measure }: NonNullable<AggregateQuery['having']>,
  aggregations: readonly Aggregation[],
): number => {
  const names = aggregations.map(({ name }) => name);
  const index = measure === undefined ? 0 : names.indexOf(measure);
  if (index < 0) throw createValidationError('having.measure', `must be one of ${names.join(', ')}`);
  if (aggregations[index]?.column.type === 'time')
    throw createValidationError('having.measure', `${names[index]} is a time, which has no comparison`);
  return index;
};

const resolveHaving = (
  { having, measures }: AggregateQuery,
  aggregations: readonly Aggregation[],
  range: Range,
): HavingCondition | undefined => {
  if (having === undefined) return undefined;
  const aggregationIndex = resolveHavingIndex(having, aggregations);
  // ClickHouse counts; only results are divided by the length of the range.
  const factor = measures[aggregationIndex]?.function === 'rate' ? getRangeSeconds(range) : 1;
  return {
    aggregationIndex,
    threshold: having.value * factor,
    buildSql: (column) => buildHavingClause(having, column),
  };
};

const buildGroupColumns = (groups: readonly GroupByField[]): string[] =>
  groups.map(({ value }, index) => `${value.text} AS g${index}`);
const listGroupAliases = (groups: readonly GroupByField[]): string[] => groups.map((_group, index) => `g${index}`);

/**
 * Returns the ORDER BY clause. Groups with equal values are ordered by name, so equal queries have equal results.
 */
const buildOrderClause = (
  { aggregationIndex, groupIndex, direction }: Order,
  groups: readonly GroupByField[],
): string => {
  const firstSortKey = aggregationIndex === undefined ? `g${groupIndex}` : `m${aggregationIndex}`;
  return `ORDER BY ${[`${firstSortKey} ${direction} NULLS LAST`, ...listGroupAliases(groups)].join(', ')}`;
};

const buildGroupClause = (names: readonly string[]): string =>
  names.length === 0 ? '' : `GROUP BY ${names.join(', ')}`;

const runTable = async (query: AggregateQuery, reader: TenantReader, context: QueryContext): Promise<ResultData> => {
  const plan = buildPlan(query, context, query.limit);
  const { groups, aggregations, limit } = plan;
  const columns = [
    ...buildGroupColumns(groups),
    ...aggregations.map((aggregation, index) => `${aggregation.callSql('')} AS m${index}`),
  ];
  const rows = await reader.columns.query<Record<string, unknown>>(
    `SELECT ${columns.join(', ')} FROM ${plan.from} ${buildGroupClause(listGroupAliases(groups))}
    ${plan.having?.buildSql(`m${plan.having.aggregationIndex}`) ?? ''} ${buildOrderClause(plan.order, groups)} LIMIT ${limit + 1}`,
    plan.parameters,
    { maxResultRows: limit + 1 },
  );
  const seconds = getRangeSeconds(context.range);
  return buildTableResult(
    [...groups, ...aggregations].map(({ column }) => column),
    rows
      .slice(0, limit)
      .map((row) => [
        ...groups.map((_group, index) => row[`g${index}`]),
        ...aggregations.map((aggregation, index) => aggregation.toValue(row[`m${index}`], seconds, 'table')),
      ]),
    describeOmittedGroups(query, plan, rows.length),
  );
};

/** Returns the SQL of a bucket number, counted from `{begin:Int64}`, the first step, so that it is never negative. */
export const buildBucketSql = (stepNs: bigint): string =>
  `intDiv(toUnixTimestamp64Nano(timestamp) - {begin:Int64}, ${stepNs})`;

type SeriesRow = { readonly points: readonly (readonly unknown[])[] } & Record<string, unknown>;

const runSeries = async (
  query: AggregateQuery,
  reader: TenantReader,
  context: QueryContext,
  steps: SeriesSteps,
): Promise<ResultData> => {
  const maxSeries = Math.max(1, Math.floor(maxPoints / (steps.count * query.measures.length)));
  const limit = Math.min(query.limit, maxSeries);
  let bucket = '';
  const plan = buildPlan(query, context, limit, (values) => {
    bucket = values.addColumn(buildBucketSql(steps.stepNs));
  });
  const { groups, aggregations, order, having } = plan;
  const names = listGroupAliases(groups);
  const states = aggregations.map((aggregation, index) => `${aggregation.callSql('State')} AS s${index}`);
  const stepStatement = `SELECT ${[...buildGroupColumns(groups), `${bucket} AS bucket`, ...states].join(', ')}
    FROM ${plan.from} ${buildGroupClause([...names, 'bucket'])}`;
  const mergedIndexes = [...new Set([order.aggregationIndex, having?.aggregationIndex])];
  const mergedColumns = mergedIndexes.flatMap((index) =>
    index === undefined ? [] : [`${aggregations[index]?.mergeSql(`s${index}`)} AS m${index}`],
  );
  const finalColumns = aggregations.map((_figure, index) => `finalizeAggregation(s${index})`);
  const statement = `SELECT ${[...names, ...mergedColumns, `groupArray(tuple(bucket, ${finalColumns.join(', ')})) AS points`].join(', ')}
    FROM (${stepStatement}) ${buildGroupClause(names)}
    ${having?.buildSql(`m${having.aggregationIndex}`) ?? ''} ${buildOrderClause(order, groups)} LIMIT ${limit + 1}`;
  const read = (range: Range, limits: QueryLimits = {}): Promise<SeriesRow[]> =>
    reader.columns.query<SeriesRow>(
      statement,
      { ...plan.parameters, ...buildRangeParameters(range), begin: String(steps.beginNs) },
      { maxResultRows: limit + 1, ...limits },
    );
  const rows = await readCached(read, { query, reader, context, steps, plan, statement });
  return buildSeriesResult(
    rows.slice(0, limit).flatMap((row) => toSeries(row, plan, steps)),
    steps.partial,
    describeOmittedGroups(query, plan, rows.length),
  );
};

const pointsCache = new PointsCache(() => performance.now());

/**
 * Reads the rows of a range, from cached hours where possible. The cache is correct for two reasons: a step depends
 * only on its own records, and hourly counts add up to the ranking of the groups. If an hour has more groups than the
 * limit, its cached groups are not sufficient, and the query runs without the cache.
 */
const readCached = async (
  read: (range: Range, limits?: QueryLimits) => Promise<SeriesRow[]>,
  cacheContext: {
    readonly query: AggregateQuery;
    readonly reader: TenantReader;
    readonly context: QueryContext;
    readonly steps: SeriesSteps;
    readonly plan: Plan;
    readonly statement: string;
  },
): Promise<SeriesRow[]> => {
  const { query, reader, context, steps, plan, statement } = cacheContext;
  const { groups, limit, order } = plan;
  const rankingFunction = query.measures[order.aggregationIndex ?? -1]?.function;
  const isAdditive = groups.length === 0 || rankingFunction === 'count' || rankingFunction === 'rate';
  if (context.stepsFrom === 'range' || !isAdditive || query.having !== undefined) return read(context.range);
  const { from: _from, to: _to, ...parameters } = plan.parameters;
  const pointsQuery = {
    signal: query.signal,
    range: context.range,
    stepNs: steps.stepNs,
    key: JSON.stringify([statement, parameters]),
    maxGroups: limit,
  };
  const first = steps.beginNs / steps.stepNs;
  const points = await pointsCache.getPoints(reader.columns, pointsQuery, async (part) => {
    const rows = await read(part);
    return rows.length > limit ? undefined : rows.flatMap((row) => toPoints(row, groups, first));
  });
  if (points !== undefined) return toSeriesRows(points, plan, first);
  let bytes = 0;
  const rows = await read(context.range, { onCost: ({ bytesRead }) => (bytes += bytesRead) });
  pointsCache.recordCost(reader.columns, pointsQuery, bytes);
  return rows;
};

const toPoints = (row: SeriesRow, groups: readonly GroupByField[], first: bigint): Point[] => {
  const group = JSON.stringify(listGroupAliases(groups).map((name) => row[name]));
  return row.points.map(([bucket, ...results]) => ({ group, step: first + BigInt(bucket as string), results }));
};

/** Converts points to rows, in the order in which ClickHouse returns them. */
const toSeriesRows = (points: readonly Point[], { groups, order }: Plan, first: bigint): SeriesRow[] => {
  if (groups.length === 0) return [{ points: points.map(({ step, results }) => [step - first, ...results]) }];
  const sign = order.direction === 'DESC' ? -1 : 1;
  return [...Map.groupBy(points, ({ group }) => group)]
    .map(([group, groupPoints]) => {
      const values = JSON.parse(group) as readonly unknown[];
      const total = groupPoints.reduce((sum, { results }) => sum + Number(results[order.aggregationIndex ?? 0]), 0);
      const row = Object.fromEntries(listGroupAliases(groups).map((name, index) => [name, values[index]]));
      return {
        values,
        total,
        row: { ...row, points: groupPoints.map(({ step, results }) => [step - first, ...results]) },
      };
    })
    .toSorted((left, right) => sign * (left.total - right.total) || compareGroups(left.values, right.values))
    .map(({ row }) => row);
};

/** Compares groups by their values in the engine's order: strings byte by byte. */
export const compareGroups = (left: readonly unknown[], right: readonly unknown[]): number => {
  const bytes = (text: unknown): Buffer => Buffer.from(String(text));
  return left.map((text, index) => Buffer.compare(bytes(text), bytes(right[index]))).find((order) => order !== 0) ?? 0;
};

/** Returns one series per aggregation of a group. For steps without records, counts are 0 and averages are missing. */
const toSeries = (row: SeriesRow, { groups, aggregations }: Plan, steps: SeriesSteps): Series[] => {
  const labels = Object.fromEntries(groups.map(({ name }, index) => [name, String(row[`g${index}`])]));
  const byStep = new Map(row.points.map(([bucket, ...results]) => [Number(bucket), results]));
  return aggregations.map((aggregation, index) => ({
    name: aggregation.name,
    labels,
    unit: aggregation.column.unit,
    points: steps.starts.map((start, step) => {
      const result = byStep.get(step)?.[index] ?? aggregation.emptyResult;
      return [start, aggregation.toValue(result, steps.getSeconds(step), 'series') as number | null];
    }),
  }));
};

const describeOmittedGroups = (
  { limit: requestedLimit, order }: AggregateQuery,
  { limit, aggregations, order: by }: Plan,
  foundGroupCount: number,
): Incompleteness[] => {
  if (foundGroupCount <= limit) return [];
  const includedGroups =
    by.aggregationIndex === undefined || order?.direction === 'ascending'
      ? `the first ${limit} by ${order?.by}`
      : `the ${limit} with the largest ${aggregations[by.aggregationIndex]?.name}`;
  const reason = limit < requestedLimit ? `, because a result has at most ${maxPoints} points` : '';
  return [{ code: 'groups', message: `there are more groups: these are ${includedGroups}${reason}` }];
};
