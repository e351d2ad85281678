/**
 * Runs several aggregate queries over the records of one data source, with nearby ranges, in one statement.
 */
import { buildBucketSql, compareGroups, resolveGroups } from '../aggregate/aggregate.ts';
import { type Aggregation, buildAggregations } from '../aggregate/measures.ts';
import type { QueryOutcome } from '../outcome.ts';
import type { AggregateQuery } from '../query.ts';
import { buildSeriesResult, buildTableResult, type QueryContext, type ResultData } from '../query-result.ts';
import type { Range } from '../range.ts';
import { buildRangeCondition, buildRangeParameters } from '../records.ts';
import { buildSearchCondition } from '../search/condition.ts';
import { parseSearch } from '../search/parse.ts';
import { buildSteps, getRangeSeconds, type SeriesSteps } from '../steps.ts';
import type { TenantReader } from '../tenant-reader.ts';
import { ValueReader } from '../values.ts';

/** Maximum number of queries in one statement: each adds a condition that is evaluated for every record. */
export const maxAggregates = 32;
/** Maximum number of groups of all queries. */
const maxGroups = 20_000;
/** Maximum number of aggregated values of all steps. */
const maxAggregatedValues = 100_000;

/** Functions whose result does not depend on the order of records. */
const exactFunctions = new Set(['count', 'rate', 'distinct', 'min', 'max', 'percentile']);

/**
 * Series with steps aligned to the epoch are cached by hour (`../aggregate/points-cache.ts`), and groups of series are
 * selected over all steps.
 */
const isSharedSeries = ({ groupBy }: AggregateQuery, { stepsFrom }: QueryContext): boolean =>
  groupBy.length === 0 && stepsFrom === 'range';

/**
 * Returns a key that ranges share if their lengths differ by at most a factor of two and they end within the longer
 * length (rounded up to a power of two) of each other. One statement over all of them reads few additional records,
 * and saves the milliseconds of overhead
 * per statement.
 */
const toNearbyRangeKey = ({ from, to }: Range): readonly number[] => {
  const seconds = Number((to - from) / 1_000_000_000n) + 1;
  const width = 2 ** Math.ceil(Math.log2(seconds));
  return [width, Math.floor(Number(to / 1_000_000_000n) / width)];
};

/** Returns the key that queries of one batch share; undefined for a query that must run alone. */
export const toAggregateBatchKey = (query: AggregateQuery, context: QueryContext): string | undefined => {
  const { signal, projectId, groupBy, order, having, measures } = query;
  const { range, stepMs } = context;
  return (stepMs === undefined || isSharedSeries(query, context)) &&
    order === undefined &&
    having === undefined &&
    measures.every((measure) => exactFunctions.has(measure.function))
    ? JSON.stringify([
        ...[signal, projectId ?? null, groupBy],
        stepMs === undefined ? toNearbyRangeKey(range) : [String(range.from), String(range.to), stepMs],
      ])
    : undefined;
};

interface BatchMember {
  readonly query: AggregateQuery;
  readonly aggregations: readonly Aggregation[];
  readonly condition: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  /** SQL of the number of its records. */
  readonly countSql: string;
}

/** `range`: set if it differs from that of the statement. */
const buildMember = (
  query: AggregateQuery,
  index: number,
  values: ValueReader,
  range: Range | undefined,
): BatchMember => {
  const { signal, search, measures } = query;
  const prefix = `q${index}_`;
  const searchSql =
    search === undefined ? undefined : buildSearchCondition(parseSearch(search, signal), signal, { prefix });
  const conditions = [searchSql?.sql, range && buildRangeCondition(signal, prefix)].filter(
    (each) => each !== undefined,
  );
  const memberCondition =
    conditions.length === 0
      ? undefined
      : values.addColumn(`toBool(${conditions.map((sql) => `(${sql})`).join(' AND ')})`);
  const aggregations = buildAggregations(measures, signal, values, { sql: memberCondition, prefix });
  return {
    query,
    aggregations,
    condition: searchSql?.sql,
    parameters: Object.assign(
      {},
      searchSql?.parameters,
      range && buildRangeParameters(range, prefix),
      ...aggregations.map(({ parameters }) => parameters),
    ),
    countSql: memberCondition === undefined ? 'count()' : `countIf(${memberCondition})`,
  };
};

type Row = Readonly<Record<string, unknown>>;

/** Compares aggregated values: the largest first, missing values last. */
const compareResults = (left: unknown, right: unknown): number => {
  if (left === null || left === undefined) return right === null || right === undefined ? 0 : 1;
  if (right === null || right === undefined) return -1;
  return Number(right) - Number(left);
};

/** Returns one series per aggregation, as for a query that runs alone. */
const toSeriesResult = (
  { aggregations }: BatchMember,
  index: number,
  { starts, getSeconds, partial }: SeriesSteps,
  rows: ReadonlyMap<number, Row>,
): ResultData =>
  buildSeriesResult(
    aggregations.map((aggregation, aggregationIndex) => ({
      name: aggregation.name,
      labels: {},
      unit: aggregation.column.unit,
      points: starts.map((start, step) => {
        const row = rows.get(step);
        const result =
          row === undefined || row[`n${index}`] === '0'
            ? aggregation.emptyResult
            : row[`m${index}_${aggregationIndex}`];
        return [start, aggregation.toValue(result, getSeconds(step), 'series') as number | null];
      }),
    })),
    partial,
  );

/** Returns the range from the earliest start to the latest end. */
const computeCoveringRange = (contexts: readonly QueryContext[]): Range => {
  const ranges = contexts.map(({ range }) => range);
  const earlier = (left: bigint, right: bigint): bigint => (left < right ? left : right);
  const later = (left: bigint, right: bigint): bigint => (left > right ? left : right);
  return { from: ranges.map(({ from }) => from).reduce(earlier), to: ranges.map(({ to }) => to).reduce(later) };
};

/**
 * Returns the results of `runAggregate` for each query. All queries share one batch key. Throws if one of them is
 * invalid, or if they have too many groups; each must then run alone.
 */
export const runAggregateBatch = async (
  queries: readonly AggregateQuery[],
  reader: TenantReader,
  contexts: readonly [QueryContext, ...QueryContext[]],
): Promise<QueryOutcome[]> => {
  const [{ signal, projectId, groupBy }] = queries as readonly [AggregateQuery];
  const [{ stepMs, stepsFrom }] = contexts;
  const range = computeCoveringRange(contexts);
  const steps = stepMs === undefined ? undefined : buildSteps(range, stepMs, stepsFrom);
  const aggregationCount = queries.reduce((sum, { measures }) => sum + measures.length, 0);
  if (steps !== undefined && steps.count * aggregationCount > maxAggregatedValues) return queries.map(() => undefined);
  const values = new ValueReader(signal);
  const bucket = steps && values.addColumn(buildBucketSql(steps.stepNs));
  const groups = resolveGroups({ groupBy }, values);
  const isBatchRange = ({ from, to }: Range): boolean => from === range.from && to === range.to;
  const members = queries.map((query, index) => {
    const { range: memberRange } = contexts[index] ?? contexts[0];
    return buildMember(query, index, values, isBatchRange(memberRange) ? undefined : memberRange);
  });
  const conditions = members.map(({ condition }) => condition);
  const anyCondition = conditions.includes(undefined)
    ? 'true'
    : `(${conditions.map((sql) => `(${sql})`).join(' OR ')})`;
  const project = projectId === undefined ? '' : 'project_id = {project:String} AND ';
  const groupNames = [...groups.map((_group, index) => `g${index}`), ...(bucket === undefined ? [] : ['bucket'])];
  const selectedColumns = [
    ...(bucket === undefined ? [] : [`${bucket} AS bucket`]),
    ...groups.map(({ value }, index) => `${value.text} AS g${index}`),
    ...members.flatMap(({ countSql, aggregations }, index) => [
      `${countSql} AS n${index}`,
      ...aggregations.map(
        (aggregation, aggregationIndex) => `${aggregation.callSql('')} AS m${index}_${aggregationIndex}`,
      ),
    ]),
  ];
  const rows = await reader.columns.query<Row>(
    `SELECT ${selectedColumns.join(', ')} FROM ${values.buildSource(`${project}${anyCondition}`)}
    ${groupNames.length === 0 ? '' : `GROUP BY ${groupNames.join(', ')}`} LIMIT ${maxGroups + 1}`,
    Object.assign(
      {
        ...buildRangeParameters(range),
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
    return members.map((member, index) => ({ result: toSeriesResult(member, index, steps, byStep) }));
  }
  const readGroupValues = (row: Row): unknown[] => groupNames.map((name) => row[name]);
  const toTableResult = ({ query, aggregations }: BatchMember, index: number): ResultData | undefined => {
    const memberRows = groupNames.length === 0 ? rows : rows.filter((row) => Number(row[`n${index}`]) > 0);
    if (memberRows.length > query.limit) return undefined;
    const seconds = getRangeSeconds((contexts[index] ?? contexts[0]).range);
    const sortedRows = memberRows.toSorted(
      (left, right) =>
        compareResults(left[`m${index}_0`], right[`m${index}_0`]) ||
        compareGroups(readGroupValues(left), readGroupValues(right)),
    );
    return buildTableResult(
      [...groups, ...aggregations].map(({ column }) => column),
      sortedRows.map((row) => [
        ...readGroupValues(row),
        ...aggregations.map((aggregation, aggregationIndex) =>
          aggregation.toValue(row[`m${index}_${aggregationIndex}`], seconds, 'table'),
        ),
      ]),
    );
  };
  return members.map((member, index) => {
    const result = toTableResult(member, index);
    return result && { result };
  });
};
