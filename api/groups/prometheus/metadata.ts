import { PromqlError } from '../../../queries/promql/errors.ts';
import { readSeriesExemplars } from '../../../queries/promql/fetch/exemplar-reads.ts';
import { readMetadata } from '../../../queries/promql/fetch/metadata-reads.ts';
import { formatPrometheusNumber } from '../../../queries/promql/fetch/numbers.ts';
import type { Matcher } from '../../../queries/promql/series.ts';
import { parseExpression } from '../../../queries/promql/syntax/parse.ts';
import { visitExpressions } from '../../../queries/promql/syntax/tree.ts';
import { defineGetAndPostOperations, defineGetOperation } from './answer.ts';
import { getInteger, getText, getTimeMs, parameter, shared, timeRange } from './parameters.ts';
import { createScope, parseWindow } from './scope.ts';

/** Prometheus treats a value below the minimum as no limit. */
const limitOrInfinity = (limit = -1, min: number): number => (limit < min ? Number.POSITIVE_INFINITY : limit);

export const showMetadata = defineGetOperation({
  path: 'metadata',
  operationId: 'showPrometheusMetadata',
  summary: 'Get type, help and unit of metrics',
  parameters: {
    limit: parameter('Maximum number of metrics in the answer'),
    limit_per_metric: parameter('Maximum number of entries per metric'),
    metric: parameter('One metric'),
    ...shared,
  },
  async answer(request, ports) {
    const limit = limitOrInfinity(getInteger(request.given, 'limit'), 0);
    const perMetric = limitOrInfinity(getInteger(request.given, 'limit_per_metric'), 1);
    const metric = getText(request.given, 'metric');
    const allMetadata = await readMetadata(createScope(request, ports), parseWindow({ ...request, given: {} }, ports));
    const matchingMetadata = [...allMetadata].filter(([name]) => metric === '' || name === metric);
    return {
      data: Object.fromEntries(
        matchingMetadata.slice(0, limit).map(([name, entries]) => [name, entries.slice(0, perMetric)]),
      ),
    };
  },
});

/** Returns the matchers of each selector in an expression. */
const collectMatcherSets = (text: string): (readonly Matcher[])[] => {
  const sets: (readonly Matcher[])[] = [];
  visitExpressions(parseExpression(text), (node) => {
    if (node.kind === 'selector') sets.push(node.matchers);
  });
  return sets;
};

export const showExemplars = defineGetAndPostOperations({
  path: 'query_exemplars',
  operationId: 'listPrometheusExemplars',
  summary: 'List exemplars of the series in an expression',
  parameters: { query: parameter('An expression'), ...timeRange, ...shared },
  async answer(request, ports) {
    const start = getTimeMs(request.given, 'start', Number.NEGATIVE_INFINITY);
    const end = getTimeMs(request.given, 'end', Number.POSITIVE_INFINITY);
    if (end < start) throw new PromqlError('bad_data', 'end timestamp must not be before start timestamp');
    const sets = collectMatcherSets(getText(request.given, 'query'));
    const exemplarSeries = await readSeriesExemplars(createScope(request, ports), parseWindow(request, ports), sets);
    return {
      data: exemplarSeries.map(({ labels, exemplars }) => ({
        seriesLabels: labels,
        exemplars: exemplars.map((exemplar) => ({
          labels: exemplar.labels,
          value: formatPrometheusNumber(exemplar.value),
          timestamp: exemplar.timeMs / 1000,
        })),
      })),
    };
  },
});
