import { PromqlError } from '../../../queries/promql/errors.ts';
import { readSeriesExemplars } from '../../../queries/promql/fetch/exemplar-reads.ts';
import { readMetadata } from '../../../queries/promql/fetch/metadata-reads.ts';
import { formatPrometheusNumber } from '../../../queries/promql/fetch/numbers.ts';
import type { Matcher } from '../../../queries/promql/series.ts';
import { parseExpression } from '../../../queries/promql/syntax/parse.ts';
import { visitExpressions } from '../../../queries/promql/syntax/tree.ts';
import { defineGetAndPostOperations, defineGetOperation } from './define-operation.ts';
import {
  createParameterSchema,
  getInteger,
  getText,
  getTimeMs,
  projectParameters,
  timeRangeParameters,
} from './parameters.ts';
import { createScope, parseWindow } from './scope.ts';

/** Prometheus treats a value below the minimum as no limit. */
const toEffectiveLimit = (limit = -1, min: number): number => (limit < min ? Number.POSITIVE_INFINITY : limit);

export const showMetadata = defineGetOperation({
  path: 'metadata',
  operationId: 'showPrometheusMetadata',
  summary: 'Get type, help and unit of metrics',
  parameters: {
    limit: createParameterSchema('Maximum number of metrics in the response'),
    limit_per_metric: createParameterSchema('Maximum number of entries per metric'),
    metric: createParameterSchema('One metric'),
    ...projectParameters,
  },
  async run(request, ports) {
    const limit = toEffectiveLimit(getInteger(request.parameterValues, 'limit'), 0);
    const perMetric = toEffectiveLimit(getInteger(request.parameterValues, 'limit_per_metric'), 1);
    const metric = getText(request.parameterValues, 'metric');
    const allMetadata = await readMetadata(
      createScope(request, ports),
      parseWindow({ ...request, parameterValues: {} }, ports),
    );
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
  const matcherSets: (readonly Matcher[])[] = [];
  visitExpressions(parseExpression(text), (node) => {
    if (node.kind === 'selector') matcherSets.push(node.matchers);
  });
  return matcherSets;
};

export const showExemplars = defineGetAndPostOperations({
  path: 'query_exemplars',
  operationId: 'listPrometheusExemplars',
  summary: 'List exemplars of the series in an expression',
  parameters: { query: createParameterSchema('An expression'), ...timeRangeParameters, ...projectParameters },
  async run(request, ports) {
    const start = getTimeMs(request.parameterValues, 'start', Number.NEGATIVE_INFINITY);
    const end = getTimeMs(request.parameterValues, 'end', Number.POSITIVE_INFINITY);
    if (end < start) throw new PromqlError('bad_data', 'end timestamp must not be before start timestamp');
    const matcherSets = collectMatcherSets(getText(request.parameterValues, 'query'));
    const exemplarSeries = await readSeriesExemplars(
      createScope(request, ports),
      parseWindow(request, ports),
      matcherSets,
    );
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
