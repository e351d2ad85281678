/** Query kinds with form fields; all other queries are edited as JSON */
import type { Having, Query } from '../../queries/query.ts';

export const queryKindTitles = {
  promql: 'PromQL',
  metric: 'Metric',
  'count logs': 'Log count',
  'count traces': 'Span count',
  'figure logs': 'Log records, aggregated',
  'figure traces': 'Spans, aggregated',
  'rows logs': 'Logs',
  'rows traces': 'Spans',
  json: 'Any query (JSON)',
} as const;
export type QueryKind = keyof typeof queryKindTitles;

/** Kinds of queries that return records, not aggregates */
export const recordKinds: readonly QueryKind[] = ['rows logs', 'rows traces'];

type MetricQuery = Extract<Query, { kind: 'metric' }>;
export type TimeAggregation = MetricQuery['overTime'];

/** Titles of aggregations of a metric over time */
export const timeAggregationTitles: Readonly<Record<TimeAggregation, string>> = {
  rate: 'rate',
  increase: 'increase',
  avg: 'average',
  last: 'last value',
  min: 'min',
  max: 'max',
  sum: 'sum',
  count: 'count',
  quantile: 'p95',
};
export const isTimeAggregation = (text: string): text is TimeAggregation => Object.hasOwn(timeAggregationTitles, text);

/** Titles of aggregations over a field of records */
export const aggregationTitles = {
  p50: 'median',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
  avg: 'average',
  min: 'min',
  max: 'max',
  sum: 'sum',
  distinct: 'count distinct',
} as const;
export type AggregationFunction = keyof typeof aggregationTitles;
export const isAggregationFunction = (text: string): text is AggregationFunction =>
  Object.hasOwn(aggregationTitles, text);

/** Parameters of a query in addition to its kind, as in the form fields */
export interface QueryParams {
  /** An expression, a search, or the name of a metric */
  readonly text: string;
  readonly groupBy: readonly string[];
  readonly aggregation: AggregationFunction;
  readonly field: string;
  readonly overTime: TimeAggregation;
  /** Condition on the labels of a metric */
  readonly filter: string;
  /** Condition on the values of groups */
  readonly having: Having | undefined;
}

/** Titles of comparisons of a group's value */
export const havingTitles: Readonly<Record<Having['operator'], string>> = {
  above: 'above',
  'at-least': 'at least',
  below: 'below',
  'at-most': 'at most',
};
export const isHavingOperator = (text: string): text is Having['operator'] => Object.hasOwn(havingTitles, text);

const toMeasure = ({ aggregation, field }: QueryParams): object =>
  /^p\d+$/.test(aggregation)
    ? { function: 'percentile', field, percentile: Number(aggregation.slice(1)) }
    : { function: aggregation, field };

/** Builds the query from its parameters; `undefined` for JSON. The API fills in omitted fields. */
export const toQuery = (kind: QueryKind, written: QueryParams, previousQuery?: Query): Query | undefined => {
  const { text, overTime, filter, having } = written;
  const groups = { groupBy: written.groupBy, ...(having === undefined ? {} : { having }) };
  const projectId = previousQuery !== undefined && 'projectId' in previousQuery ? previousQuery.projectId : undefined;
  const scope = { ...(projectId === undefined ? {} : { projectId }) };
  const records = { ...scope, ...(text === '' ? {} : { search: text }) };
  const isRate = overTime === 'rate' || overTime === 'increase';
  const queries = {
    promql: { kind: 'promql', expression: text },
    metric: {
      kind: 'metric',
      metric: text,
      overTime,
      across: isRate ? 'sum' : 'avg',
      ...groups,
      ...scope,
      ...(filter === '' ? {} : { search: filter }),
      ...(overTime === 'quantile' ? { quantile: 0.95 } : {}),
    },
    'count logs': { kind: 'aggregate', signal: 'logs', ...records, measures: [{ function: 'count' }], ...groups },
    'count traces': { kind: 'aggregate', signal: 'traces', ...records, measures: [{ function: 'count' }], ...groups },
    'figure logs': { kind: 'aggregate', signal: 'logs', ...records, measures: [toMeasure(written)], ...groups },
    'figure traces': { kind: 'aggregate', signal: 'traces', ...records, measures: [toMeasure(written)], ...groups },
    'rows logs': { kind: 'rows', signal: 'logs', ...records },
    'rows traces': { kind: 'rows', signal: 'traces', ...records },
    json: undefined,
  }[kind];
  return queries as Query | undefined;
};

/** Returns the list, or an empty one for any other value, because a query from JSON input can have any shape. */
const toList = <Item>(value: readonly Item[] | undefined): readonly Item[] => (Array.isArray(value) ? value : []);

type QueryOf<Kind extends Query['kind']> = Extract<Query, { readonly kind: Kind }>;

/** Input fields that can represent a query without loss, and their input. */
interface ParsedInput extends Partial<QueryParams> {
  readonly kind: QueryKind;
}

const parseFigure = ({ measures }: QueryOf<'aggregate'>): AggregationFunction | undefined => {
  const measure = toList(measures)[0];
  const name = measure?.function === 'percentile' ? `p${measure.percentile}` : (measure?.function ?? '');
  return isAggregationFunction(name) ? name : undefined;
};

const getAggregateKind = (query: QueryOf<'aggregate'>): QueryKind => {
  const [measure, ...others] = toList(query.measures);
  const { signal } = query;
  const isPlain =
    others.length === 0 &&
    measure?.search === undefined &&
    query.order === undefined &&
    query.having?.measure === undefined;
  if (!isPlain || (signal !== 'logs' && signal !== 'traces')) return 'json';
  if (measure?.function === 'count') return `count ${signal}`;
  return parseFigure(query) === undefined ? 'json' : `figure ${signal}`;
};

/** Parsers of the kinds with dedicated input fields */
const parsers: { readonly [Kind in Query['kind']]?: (query: QueryOf<Kind>) => ParsedInput } = {
  promql: ({ expression }) => ({
    kind: 'promql',
    text: expression,
  }),
  metric: ({ metric, search = '', quantile = 0.95, overTime, groupBy, having }) => ({
    kind: quantile === 0.95 ? 'metric' : 'json',
    text: metric,
    filter: search,
    overTime,
    groupBy: toList(groupBy),
    having,
  }),
  rows: ({ signal, search = '' }) => ({
    kind: signal === 'logs' || signal === 'traces' ? `rows ${signal}` : 'json',
    text: search,
  }),
  aggregate: (query) => ({
    kind: getAggregateKind(query),
    text: query.search ?? '',
    groupBy: toList(query.groupBy),
    having: query.having,
    aggregation: parseFigure(query) ?? 'p95',
    field: toList(query.measures)[0]?.field ?? 'duration',
  }),
};

const parseQuery = (query: Query | undefined): ParsedInput => {
  const parse = query === undefined ? undefined : (parsers[query.kind] as (query: Query) => ParsedInput);
  return query === undefined || parse === undefined ? { kind: 'json' } : parse(query);
};

/** Returns the kind whose form fields can represent the query without loss. */
export const toQueryKind = (query: Query | undefined): QueryKind => parseQuery(query).kind;

/** Returns the parameters of a query. */
export const toQueryParams = (query: Query | undefined): QueryParams => {
  const {
    text = '',
    groupBy = [],
    aggregation = 'p95',
    field = 'duration',
    overTime = 'avg',
    filter = '',
    having,
  } = parseQuery(query);
  return {
    text,
    groupBy,
    aggregation,
    field,
    overTime,
    filter,
    having,
  };
};

/** Parses comma-separated names, for example `service, host.name`. */
export const parseNames = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Parses the query in the URL; `undefined` if it is not a JSON object. The API validates the query. */
export const parseQueryText = (text: string): Query | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Query) : undefined;
  } catch {
    return undefined;
  }
};
