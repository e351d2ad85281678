/** Describes a query in a sentence, from the query alone and without words of the question */
import { type AggregateQuery, type Measure, type MetricQuery, Query } from '../../queries/query.ts';
import type { Range } from '../../queries/range.ts';
import type { QueryRequest } from '../../queries/run.ts';
import { type QuerySignal, signals } from '../../queries/signals/index.ts';
import { lengthText, momentText } from './format.ts';
import { searchText } from './search-text.ts';

export interface SentenceInput {
  readonly query: QueryRequest;
  readonly range: Range;
  readonly stepMs: number | undefined;
  readonly timeZone: string;
}

const list = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;

/** Returns one sentence, which begins with the result and ends with the range. */
export const sentenceOf = ({ query: request, range, stepMs, timeZone }: SentenceInput): string => {
  const query = Query.parse(request);
  const what = textOf(query);
  const step = stepMs === undefined ? '' : `, in steps of ${lengthText(stepMs)}`;
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}${step}, ${rangeText(range, timeZone)}.`;
};

/**
 * Ends of ranges are inclusive. A range that ends one nanosecond before an hour is displayed as ending at that hour.
 */
const rangeText = ({ from, to }: Range, timeZone: string): string => {
  const end = momentText(to % 1_000_000n === 999_999n ? to + 1n : to, timeZone);
  return `from ${momentText(from, timeZone)} to ${end} (${timeZone})`;
};

const textOf = (query: Query): string => {
  switch (query.kind) {
    case 'rows': {
      const order = query.order === 'newest' ? 'newest' : 'oldest';
      return `the ${query.limit} ${order} ${recordsText(query.signal, query.search)}`;
    }
    case 'aggregate':
      return aggregateText(query);
    case 'metric':
      return metricText(query);
    case 'promql':
      return `the PromQL expression ${query.expression}`;
    case 'slo':
      return `${query.figure} of the SLO ${query.sloId}`;
    case 'check':
      return `state of the synthetic check ${query.checkId}`;
    case 'anomaly':
      return query.query === undefined
        ? `anomalies of the detector ${query.detectorId}`
        : `anomalies of ${textOf(query.query)}`;
    case 'forecast': {
      const [side, limit] = Object.entries(query.until)[0] ?? [];
      return `probability within ${query.horizon} of ${side} ${limit} for ${textOf(query.query)}`;
    }
    default:
      return formulaText(query);
  }
};

const recordsText = (signal: QuerySignal, search: string | undefined): string => {
  const { records } = signals[signal];
  const condition = search === undefined ? '' : searchText(search, signal);
  return condition === '' ? records : `${records} where ${condition}`;
};

const functions: Readonly<Record<Exclude<Measure['function'], 'percentile' | 'count' | 'rate'>, string>> = {
  distinct: 'number of distinct values of',
  sum: 'sum of',
  avg: 'average of',
  min: 'minimum of',
  max: 'maximum of',
};

const measureText = ({ function: name, field, percentile, search }: Measure, signal: QuerySignal): string => {
  const only = search === undefined ? '' : ` of those where ${searchText(search, signal)}`;
  if (name === 'count') return `number${field === undefined ? '' : ` with ${field}`}${only}`;
  if (name === 'rate') return `number a second${only}`;
  return `${name === 'percentile' ? `${percentile}th percentile of` : functions[name]} ${field}${only}`;
};

const aggregateText = (query: Extract<Query, { kind: 'aggregate' }>): string => {
  const { signal, search, measures } = query;
  const [measure] = measures;
  // The condition of a single measure is displayed with the conditions of all records.
  if (measure?.search !== undefined && measures.length === 1) {
    const { search: own, ...figure } = measure;
    return aggregateText({ ...query, measures: [figure], search: search === undefined ? own : `(${search}) (${own})` });
  }
  const figures = list(measures.map((each) => measureText(each, signal)));
  return `${figures} of ${recordsText(signal, search)}${groupsText(query)}`;
};

const defaultLimit = 100;

const groupsText = ({ groupBy, limit, order }: Pick<AggregateQuery, 'groupBy' | 'limit' | 'order'>): string => {
  if (groupBy.length === 0) return '';
  const limitText =
    limit === defaultLimit ? '' : `, the ${limit} ${order?.direction === 'ascending' ? 'smallest' : 'largest'}`;
  return `, by ${list(groupBy)}${limitText}`;
};

const overTimes: Readonly<Record<MetricQuery['overTime'], string>> = {
  last: 'last value',
  avg: 'average',
  min: 'minimum',
  max: 'maximum',
  sum: 'sum',
  count: 'number of points',
  rate: 'rate a second',
  increase: 'increase',
  quantile: 'quantile',
};
const acrosses: Readonly<Record<MetricQuery['across'], string>> = {
  sum: 'over all its series',
  avg: 'averaged over its series',
  min: 'minimum of its series',
  max: 'maximum of its series',
  count: 'as the number of its series',
  none: 'for each series separately',
};

const metricText = (query: MetricQuery): string => {
  const { metric, overTime, across, quantile, search } = query;
  const figure =
    quantile === undefined ? overTimes[overTime] : `${Number((quantile * 100).toPrecision(6))}th percentile`;
  const condition = search === undefined ? '' : ` where ${searchText(search, 'metrics')}`;
  return `${figure} of the metric ${metric}${condition}, ${acrosses[across]}${groupsText(query)}`;
};

const formulaText = ({ expression, queries }: Extract<Query, { kind: 'formula' }>): string => {
  const parts = Object.entries(queries).map(([name, query]) => `${name} is the ${textOf(query)}`);
  return `${expression}, where ${list(parts)}`;
};
