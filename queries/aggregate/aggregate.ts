/** Aggregates log records or spans by group: a table, or series of steps. */
import type { QueryLimits } from '../../schemas/ports/columns.ts';
import { type Answer, type QueryContext, seriesAnswer, tableAnswer } from '../answer.ts';
import { invalid } from '../errors.ts';
import type { AggregateQuery } from '../query.ts';
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { rangeValues, recordsCondition } from '../records.ts';
import type { Incompleteness, Series, TableColumn } from '../result.ts';
import { type Steps, secondsIn, stepsOf } from '../steps.ts';
import { type Value, ValueReader } from '../values.ts';
import { type Figure, figuresOf } from './measures.ts';
import { type Point, PointsMemory } from './points-cache.ts';

/** Maximum number of points in all series of an answer. */
const maxPoints = 250_000;

/** Grouping of an aggregation. */
export interface Group {
  readonly name: string;
  readonly value: Value;
  readonly column: TableColumn;
}

/** Parts of the statement of a query. */
interface Plan {
  readonly groups: readonly Group[];
  readonly figures: readonly Figure[];
  readonly from: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly order: Order;
}

interface Order {
  /** A figure by index, or a group. */
  readonly figure?: number;
  readonly group?: number;
  readonly direction: 'ASC' | 'DESC';
}

/** Aggregates records. Values that a group lacks are the empty string. */
export const runAggregate = (query: AggregateQuery, reading: Reading, context: QueryContext): Promise<Answer> =>
  context.stepMs === undefined
    ? table(query, reading, context)
    : series(query, reading, context, stepsOf(context.range, context.stepMs, context.stepsFrom));

/** Returns the groups of a query. Throws `VALIDATION_FAILED` for a time. */
export const groupsOf = ({ groupBy }: Pick<AggregateQuery, 'groupBy'>, values: ValueReader): Group[] =>
  groupBy.map((name, index) => {
    const value = values.each(name);
    if (value.reference.kind === 'field' && value.reference.field.type === 'time')
      throw invalid(`groupBy.${index}`, `${name} is a time: request series with a step instead`);
    return { name, value, column: { name, type: 'text', unit: '' } };
  });

const planOf = (
  query: AggregateQuery,
  { range }: QueryContext,
  limit: number,
  /** Registers additional values that the statement reads. */
  bucket = (_values: ValueReader): void => {},
): Plan => {
  const { signal } = query;
  const values = new ValueReader(signal);
  bucket(values);
  const groups = groupsOf(query, values);
  const figures = figuresOf(query.measures, signal, values);
  const condition = recordsCondition(query);
  return {
    groups,
    figures,
    limit,
    order: orderOf(query, figures, groups),
    from: values.from(condition.sql),
    parameters: Object.assign(
      { ...rangeValues(range), ...condition.parameters },
      ...figures.map(({ parameters }) => parameters),
    ),
  };
};

const orderOf = (query: AggregateQuery, figures: readonly Figure[], groups: readonly Group[]): Order => {
  const { by, direction = 'descending' } = query.order ?? {};
  const way = direction === 'descending' ? 'DESC' : 'ASC';
  if (by === undefined) return { figure: 0, direction: way };
  const figure = figures.findIndex(({ name }) => name === by);
  if (figure >= 0) return { figure, direction: way };
  const group = groups.findIndex(({ name }) => name === by);
  if (group >= 0) return { group, direction: way };
  const names = [...figures, ...groups].map(({ name }) => name);
  throw invalid('order.by', `must be one of ${names.join(', ')}`);
};

const groupSelection = (groups: readonly Group[]): string[] =>
  groups.map(({ value }, index) => `${value.text} AS g${index}`);
const groupNames = (groups: readonly Group[]): string[] => groups.map((_group, index) => `g${index}`);

/** Returns the order. Groups with equal figures are ordered by name, so that equal queries have equal answers. */
const orderBy = ({ figure, group, direction }: Order, groups: readonly Group[]): string => {
  const first = figure === undefined ? `g${group}` : `m${figure}`;
  return `ORDER BY ${[`${first} ${direction} NULLS LAST`, ...groupNames(groups)].join(', ')}`;
};

const groupBy = (names: readonly string[]): string => (names.length === 0 ? '' : `GROUP BY ${names.join(', ')}`);

const table = async (query: AggregateQuery, reading: Reading, context: QueryContext): Promise<Answer> => {
  const plan = planOf(query, context, query.limit);
  const { groups, figures, limit } = plan;
  const columns = [...groupSelection(groups), ...figures.map((figure, index) => `${figure.call('')} AS m${index}`)];
  const found = await reading.columns.query<Record<string, unknown>>(
    `SELECT ${columns.join(', ')} FROM ${plan.from} ${groupBy(groupNames(groups))}
    ${orderBy(plan.order, groups)} LIMIT ${limit + 1}`,
    plan.parameters,
    { maxResultRows: limit + 1 },
  );
  const seconds = secondsIn(context.range);
  return tableAnswer(
    [...groups, ...figures].map(({ column }) => column),
    found
      .slice(0, limit)
      .map((row) => [
        ...groups.map((_group, index) => row[`g${index}`]),
        ...figures.map((figure, index) => figure.read(row[`m${index}`], seconds, 'table')),
      ]),
    cutGroups(query, plan, found.length),
  );
};

/** Returns the SQL of a bucket number, counted from `{begin:Int64}`, the first step, so that it is never negative. */
export const bucketOf = (stepNs: bigint): string =>
  `intDiv(toUnixTimestamp64Nano(timestamp) - {begin:Int64}, ${stepNs})`;

type SeriesRow = { readonly points: readonly (readonly unknown[])[] } & Record<string, unknown>;

const series = async (
  query: AggregateQuery,
  reading: Reading,
  context: QueryContext,
  steps: Steps,
): Promise<Answer> => {
  const maxSeries = Math.max(1, Math.floor(maxPoints / (steps.count * query.measures.length)));
  const limit = Math.min(query.limit, maxSeries);
  let bucket = '';
  const plan = planOf(query, context, limit, (values) => {
    bucket = values.column(bucketOf(steps.stepNs));
  });
  const { groups, figures, order } = plan;
  const names = groupNames(groups);
  const states = figures.map((figure, index) => `${figure.call('State')} AS s${index}`);
  const perStep = `SELECT ${[...groupSelection(groups), `${bucket} AS bucket`, ...states].join(', ')}
    FROM ${plan.from} ${groupBy([...names, 'bucket'])}`;
  const ordered =
    order.figure === undefined ? [] : [`${figures[order.figure]?.merge(`s${order.figure}`)} AS m${order.figure}`];
  const finals = figures.map((_figure, index) => `finalizeAggregation(s${index})`);
  const statement = `SELECT ${[...names, ...ordered, `groupArray(tuple(bucket, ${finals.join(', ')})) AS points`].join(', ')}
    FROM (${perStep}) ${groupBy(names)} ${orderBy(order, groups)} LIMIT ${limit + 1}`;
  const read = (range: Range, limits: QueryLimits = {}): Promise<SeriesRow[]> =>
    reading.columns.query<SeriesRow>(
      statement,
      { ...plan.parameters, ...rangeValues(range), begin: String(steps.beginNs) },
      { maxResultRows: limit + 1, ...limits },
    );
  const found = await readCached(read, { query, reading, context, steps, plan, statement });
  return seriesAnswer(
    found.slice(0, limit).flatMap((row) => seriesOf(row, plan, steps)),
    steps.partial,
    cutGroups(query, plan, found.length),
  );
};

const memory = new PointsMemory(() => performance.now());

/**
 * Reads the rows of a range from cached hours where possible. A step depends only on its own records, and the top
 * groups depend on additive numbers. If there are more groups than requested, the groups of an hour are not sufficient.
 */
const readCached = async (
  read: (range: Range, limits?: QueryLimits) => Promise<SeriesRow[]>,
  about: {
    readonly query: AggregateQuery;
    readonly reading: Reading;
    readonly context: QueryContext;
    readonly steps: Steps;
    readonly plan: Plan;
    readonly statement: string;
  },
): Promise<SeriesRow[]> => {
  const { query, reading, context, steps, plan, statement } = about;
  const { groups, limit, order } = plan;
  const ranked = query.measures[order.figure ?? -1]?.function;
  const addsUp = groups.length === 0 || ranked === 'count' || ranked === 'rate';
  if (context.stepsFrom === 'range' || !addsUp) return read(context.range);
  const { from: _from, to: _to, ...parameters } = plan.parameters;
  const question = {
    signal: query.signal,
    range: context.range,
    stepNs: steps.stepNs,
    key: JSON.stringify([statement, parameters]),
    maxGroups: limit,
  };
  const first = steps.beginNs / steps.stepNs;
  const points = await memory.points(reading.columns, question, async (part) => {
    const rows = await read(part);
    return rows.length > limit ? undefined : rows.flatMap((row) => pointsOf(row, groups, first));
  });
  if (points !== undefined) return rowsOf(points, plan, first);
  let bytes = 0;
  const found = await read(context.range, { onCost: ({ bytesRead }) => (bytes += bytesRead) });
  memory.learn(reading.columns, question, bytes);
  return found;
};

const pointsOf = (row: SeriesRow, groups: readonly Group[], first: bigint): Point[] => {
  const group = JSON.stringify(groupNames(groups).map((name) => row[name]));
  return row.points.map(([bucket, ...answers]) => ({ group, step: first + BigInt(bucket as string), answers }));
};

/** Returns rows in the order of the engine. */
const rowsOf = (points: readonly Point[], { groups, order }: Plan, first: bigint): SeriesRow[] => {
  if (groups.length === 0) return [{ points: points.map(({ step, answers }) => [step - first, ...answers]) }];
  const sign = order.direction === 'DESC' ? -1 : 1;
  return [...Map.groupBy(points, ({ group }) => group)]
    .map(([group, its]) => {
      const values = JSON.parse(group) as readonly unknown[];
      const total = its.reduce((sum, { answers }) => sum + Number(answers[order.figure ?? 0]), 0);
      const row = Object.fromEntries(groupNames(groups).map((name, index) => [name, values[index]]));
      return { values, total, row: { ...row, points: its.map(({ step, answers }) => [step - first, ...answers]) } };
    })
    .toSorted((one, other) => sign * (one.total - other.total) || compareGroups(one.values, other.values))
    .map(({ row }) => row);
};

/** Compares groups by their values in the engine's order: strings byte by byte. */
export const compareGroups = (one: readonly unknown[], other: readonly unknown[]): number => {
  const bytes = (text: unknown): Buffer => Buffer.from(String(text));
  return one.map((text, index) => Buffer.compare(bytes(text), bytes(other[index]))).find((order) => order !== 0) ?? 0;
};

/** Returns one series per figure of a group. Steps without records count 0, and have no average. */
const seriesOf = (row: SeriesRow, { groups, figures }: Plan, steps: Steps): Series[] => {
  const labels = Object.fromEntries(groups.map(({ name }, index) => [name, String(row[`g${index}`])]));
  const byStep = new Map(row.points.map(([bucket, ...answers]) => [Number(bucket), answers]));
  return figures.map((figure, index) => ({
    name: figure.name,
    labels,
    unit: figure.column.unit,
    points: steps.starts.map((start, step) => {
      const answer = byStep.get(step)?.[index] ?? figure.ofNone;
      return [start, figure.read(answer, steps.secondsOf(step), 'series') as number | null];
    }),
  }));
};

const cutGroups = (
  { limit: requestedLimit, order }: AggregateQuery,
  { limit, figures, order: by }: Plan,
  found: number,
): Incompleteness[] => {
  if (found <= limit) return [];
  const which =
    by.figure === undefined || order?.direction === 'ascending'
      ? `the first ${limit} by ${order?.by}`
      : `the ${limit} with the largest ${figures[by.figure]?.name}`;
  const reason = limit < requestedLimit ? `, because an answer has at most ${maxPoints} points` : '';
  return [{ code: 'groups', message: `there are more groups: these are ${which}${reason}` }];
};
