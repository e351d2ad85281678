/** Suggestions for metrics: their names, and the names and values of their labels */
import type { listMetricLabelValues } from '../../api/groups/metrics/label-values.ts';
import type { listMetrics } from '../../api/groups/metrics/list.ts';
import type { showMetric } from '../../api/groups/metrics/show.ts';
import { declareCall } from '../client/call.ts';
import { request } from '../client/request.ts';
import { projectScope } from '../frame/project.ts';
import { timeRange } from '../frame/time-range.ts';
import type { Suggest } from './suggestions.ts';

export const metricsCall = declareCall<typeof listMetrics>('GET', '/api/metrics');
const metricCall = declareCall<typeof showMetric>('GET', '/api/metrics/catalogue/{name}');
const labelValuesCall = declareCall<typeof listMetricLabelValues>(
  'GET',
  '/api/metrics/catalogue/{name}/labels/{label}/values',
);

const maxSuggestions = 12;
const numberFormat = new Intl.NumberFormat('en');
const formatSeriesCount = (count: number): string => `${numberFormat.format(count)} series`;

export const suggestMetricNames: Suggest = async ({ prefix }, signal) => {
  const query = { ...timeRange.peek(), ...projectScope.peek(), search: prefix || undefined, limit: maxSuggestions };
  const { items } = await request(metricsCall, { query }, signal);
  return items.map(({ name, type }) => ({ text: name, note: type }));
};

/** Returns suggestions of the labels of a metric and their values, for filters and for grouping. */
export const createLabelSuggest =
  (metric: string): Suggest =>
  async (input, signal) => {
    if (metric === '') return [];
    const scope = { ...timeRange.peek(), ...projectScope.peek() };
    if (input.kind === 'value') {
      const params = { name: metric, label: input.name };
      const query = { ...scope, prefix: input.prefix || undefined, limit: maxSuggestions };
      const { items } = await request(labelValuesCall, { params, query }, signal);
      return items.map(({ value, series }) => ({ text: value, note: formatSeriesCount(series) }));
    }
    const { labels } = await request(metricCall, { params: { name: metric }, query: scope }, signal);
    const prefix = input.prefix.toLowerCase();
    return [...new Map(labels.map((label) => [label.name, label])).values()]
      .filter(({ name }) => name.toLowerCase().includes(prefix))
      .slice(0, maxSuggestions)
      .map(({ name, values }) => ({ text: name, note: `${numberFormat.format(values)} values` }));
  };
