/** Questions that can be written in fields of their own; any other query is written as JSON. */
import type { Query } from '../../queries/query.ts';

export const questions = {
  promql: 'PromQL',
  metric: 'one metric',
  'count logs': 'number of log records',
  'count traces': 'number of spans',
  'figure logs': 'a figure of log records',
  'figure traces': 'a figure of spans',
  'rows logs': 'log records',
  'rows traces': 'spans',
  json: 'any query, as JSON',
} as const;
export type QuestionKind = keyof typeof questions;

/** Those that answer records, and no figures. */
export const ofRecords: readonly QuestionKind[] = ['rows logs', 'rows traces'];

type MetricQuery = Extract<Query, { kind: 'metric' }>;
export type OverTimeOf = MetricQuery['overTime'];

/** How points of a metric become one value for each step, in words. */
export const overTimes: Readonly<Record<OverTimeOf, string>> = {
  rate: 'rate per second',
  increase: 'increase',
  avg: 'average',
  last: 'last value',
  min: 'least',
  max: 'most',
  sum: 'sum',
  count: 'number of points',
  quantile: 'p95',
};
export const isOverTime = (text: string): text is OverTimeOf => Object.hasOwn(overTimes, text);

/** Figures over a field of records, in words. */
export const figures = {
  p50: 'the median of',
  p90: 'the 90th percentile of',
  p95: 'the 95th percentile of',
  p99: 'the 99th percentile of',
  avg: 'the average of',
  min: 'the least of',
  max: 'the most of',
  sum: 'the sum of',
  distinct: 'how many values there are of',
} as const;
export type Figure = keyof typeof figures;
export const isFigure = (text: string): text is Figure => Object.hasOwn(figures, text);

/** What is written of a question, beside its kind. */
export interface Written {
  /** An expression, a search, or the name of a metric. */
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

/** The query of what is written; undefined where it is JSON. The API fills in what is left out. */
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

/** What is written as JSON may be of any form. */
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

/** In which fields a query can be written without losing a part of it. */
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

/** What is written of a query. */
export const writtenOf = (query: Query | undefined): Written => ({
  text: textIn(query),
  groupBy: query !== undefined && 'groupBy' in query ? listIn(query.groupBy) : [],
  figure: figureIn(query) ?? 'p95',
  field: (query?.kind === 'aggregate' ? listIn(query.measures)[0]?.field : undefined) ?? 'duration',
  overTime: query?.kind === 'metric' ? query.overTime : 'avg',
});

/** `service, host.name` as names. */
export const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** A question of the address; undefined where it has none that can be read. The API says what is wrong in one. */
export const questionIn = (text: string): Query | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Query) : undefined;
  } catch {
    return undefined;
  }
};
