/** Queries with dedicated input fields; all other queries are edited as JSON */
import type { Query } from '../../queries/query.ts';

export const questions = {
  promql: 'PromQL',
  metric: 'Metric',
  'count logs': 'Log count',
  'count traces': 'Span count',
  'figure logs': 'Log records, aggregated',
  'figure traces': 'Spans, aggregated',
  'rows logs': 'Logs',
  'rows traces': 'spans',
  json: 'Any query (JSON)',
} as const;
export type QuestionKind = keyof typeof questions;

/** Kinds that return records, not aggregates */
export const ofRecords: readonly QuestionKind[] = ['rows logs', 'rows traces'];

type MetricQuery = Extract<Query, { kind: 'metric' }>;
export type OverTimeOf = MetricQuery['overTime'];

/** Titles of aggregations of a metric's points over time */
export const overTimes: Readonly<Record<OverTimeOf, string>> = {
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
export const isOverTime = (text: string): text is OverTimeOf => Object.hasOwn(overTimes, text);

/** Titles of aggregations over a field of records */
export const figures = {
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
export type Figure = keyof typeof figures;
export const isFigure = (text: string): text is Figure => Object.hasOwn(figures, text);

/** Input of a query in addition to its kind */
export interface Written {
  /** An expression, a search, or the name of a metric */
  readonly text: string;
  readonly groupBy: readonly string[];
  readonly figure: Figure;
  readonly field: string;
  readonly overTime: OverTimeOf;
}

const measureOf = ({ figure, field }: Written): object =>
  /^p\d+$/.test(figure)
    ? { function: 'percentile', field, percentile: Number(figure.slice(1)) }
    : { function: figure, field };

/** Returns the query of the input; `undefined` for JSON. The API fills in omitted fields. */
export const queryOf = (kind: QuestionKind, written: Written, before?: Query): Query | undefined => {
  const { text, groupBy, overTime } = written;
  const projectId = before !== undefined && 'projectId' in before ? before.projectId : undefined;
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
      groupBy,
      ...scope,
      ...(overTime === 'quantile' ? { quantile: 0.95 } : {}),
    },
    'count logs': { kind: 'aggregate', signal: 'logs', ...records, measures: [{ function: 'count' }], groupBy },
    'count traces': { kind: 'aggregate', signal: 'traces', ...records, measures: [{ function: 'count' }], groupBy },
    'figure logs': { kind: 'aggregate', signal: 'logs', ...records, measures: [measureOf(written)], groupBy },
    'figure traces': { kind: 'aggregate', signal: 'traces', ...records, measures: [measureOf(written)], groupBy },
    'rows logs': { kind: 'rows', signal: 'logs', ...records },
    'rows traces': { kind: 'rows', signal: 'traces', ...records },
    json: undefined,
  }[kind];
  return queries as Query | undefined;
};

/** JSON input may have any form. */
const listIn = <Item>(value: readonly Item[] | undefined): readonly Item[] => (Array.isArray(value) ? value : []);

type QueryOf<Kind extends Query['kind']> = Extract<Query, { readonly kind: Kind }>;

/** Input fields that can represent a query without loss, and their input. */
interface ParsedInput extends Partial<Written> {
  readonly kind: QuestionKind;
}

const parseFigure = ({ measures }: QueryOf<'aggregate'>): Figure | undefined => {
  const measure = listIn(measures)[0];
  const name = measure?.function === 'percentile' ? `p${measure.percentile}` : (measure?.function ?? '');
  return isFigure(name) ? name : undefined;
};

const getAggregateKind = (query: QueryOf<'aggregate'>): QuestionKind => {
  const [measure, ...others] = listIn(query.measures);
  const { signal } = query;
  const isPlain = others.length === 0 && measure?.search === undefined && query.order === undefined;
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
  metric: ({ metric, search, quantile = 0.95, overTime, groupBy }) => ({
    kind: search === undefined && quantile === 0.95 ? 'metric' : 'json',
    text: metric,
    overTime,
    groupBy: listIn(groupBy),
  }),
  rows: ({ signal, search = '' }) => ({
    kind: signal === 'logs' || signal === 'traces' ? `rows ${signal}` : 'json',
    text: search,
  }),
  aggregate: (query) => ({
    kind: getAggregateKind(query),
    text: query.search ?? '',
    groupBy: listIn(query.groupBy),
    figure: parseFigure(query) ?? 'p95',
    field: listIn(query.measures)[0]?.field ?? 'duration',
  }),
};

const parseQuery = (query: Query | undefined): ParsedInput => {
  const parse = query === undefined ? undefined : (parsers[query.kind] as (query: Query) => ParsedInput);
  return query === undefined || parse === undefined ? { kind: 'json' } : parse(query);
};

/** Returns the kind whose input fields can represent the query without loss. */
export const kindOf = (query: Query | undefined): QuestionKind => parseQuery(query).kind;

/** Returns the input of a query. */
export const writtenOf = (query: Query | undefined): Written => {
  const { text = '', groupBy = [], figure = 'p95', field = 'duration', overTime = 'avg' } = parseQuery(query);
  return {
    text,
    groupBy,
    figure,
    field,
    overTime,
  };
};

/** Parses `service, host.name` to names. */
export const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Returns the query in the URL; `undefined` if there is none that can be parsed. The API reports its errors. */
export const questionIn = (text: string): Query | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Query) : undefined;
  } catch {
    return undefined;
  }
};
