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

const figureIn = (query: Query | undefined): Figure | undefined => {
  const measure = query?.kind === 'aggregate' ? listIn(query.measures)[0] : undefined;
  const name = measure?.function === 'percentile' ? `p${measure.percentile}` : (measure?.function ?? '');
  return isFigure(name) ? name : undefined;
};

const kindOfAggregate = (query: Extract<Query, { kind: 'aggregate' }>): QuestionKind => {
  const [measure, ...others] = listIn(query.measures);
  const { signal } = query;
  const isPlain = others.length === 0 && measure?.search === undefined && query.order === undefined;
  if (!isPlain || (signal !== 'logs' && signal !== 'traces')) return 'json';
  if (measure?.function === 'count') return `count ${signal}`;
  return figureIn(query) === undefined ? 'json' : `figure ${signal}`;
};

/** Returns the kind whose input fields can represent the query without loss. */
export const kindOf = (query: Query | undefined): QuestionKind => {
  switch (query?.kind) {
    case 'promql':
      return 'promql';
    case 'rows':
      return query.signal === 'logs' || query.signal === 'traces' ? `rows ${query.signal}` : 'json';
    case 'aggregate':
      return kindOfAggregate(query);
    case 'metric':
      return query.search === undefined && (query.quantile ?? 0.95) === 0.95 ? 'metric' : 'json';
    default:
      return 'json';
  }
};

const textIn = (query: Query | undefined): string => {
  if (query?.kind === 'promql') return query.expression;
  if (query?.kind === 'metric') return query.metric;
  return query !== undefined && 'search' in query ? (query.search ?? '') : '';
};

/** Returns the input of a query. */
export const writtenOf = (query: Query | undefined): Written => ({
  text: textIn(query),
  groupBy: query !== undefined && 'groupBy' in query ? listIn(query.groupBy) : [],
  figure: figureIn(query) ?? 'p95',
  field: (query?.kind === 'aggregate' ? listIn(query.measures)[0]?.field : undefined) ?? 'duration',
  overTime: query?.kind === 'metric' ? query.overTime : 'avg',
});

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
