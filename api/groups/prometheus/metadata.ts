import { PromqlError } from '../../../queries/promql/errors.ts';
import { readExemplarsOf } from '../../../queries/promql/fetch/exemplar-reads.ts';
import { readMetadata } from '../../../queries/promql/fetch/metadata-reads.ts';
import { numberText } from '../../../queries/promql/fetch/numbers.ts';
import type { Matcher } from '../../../queries/promql/series.ts';
import { parseExpression } from '../../../queries/promql/syntax/parse.ts';
import { walk } from '../../../queries/promql/syntax/tree.ts';
import { byGet, byGetAndPost } from './answer.ts';
import { parameter, plainNumberOf, shared, textOf, timeOf, timeRange } from './parameters.ts';
import { scopeOf, windowOf } from './scope.ts';

/** Prometheus treats a value below the minimum as no limit. */
const orAll = (limit = -1, min: number): number => (limit < min ? Number.POSITIVE_INFINITY : limit);

export const showMetadata = byGet({
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
    const limit = orAll(plainNumberOf(request.given, 'limit'), 0);
    const perMetric = orAll(plainNumberOf(request.given, 'limit_per_metric'), 1);
    const metric = textOf(request.given, 'metric');
    const all = await readMetadata(scopeOf(request, ports), windowOf({ ...request, given: {} }, ports));
    const chosen = [...all].filter(([name]) => metric === '' || name === metric);
    return {
      data: Object.fromEntries(chosen.slice(0, limit).map(([name, entries]) => [name, entries.slice(0, perMetric)])),
    };
  },
});

/** Matchers of all selectors of an expression */
const setsIn = (text: string): (readonly Matcher[])[] => {
  const sets: (readonly Matcher[])[] = [];
  walk(parseExpression(text), (node) => {
    if (node.kind === 'selector') sets.push(node.matchers);
  });
  return sets;
};

export const showExemplars = byGetAndPost({
  path: 'query_exemplars',
  operationId: 'listPrometheusExemplars',
  summary: 'List exemplars of the series in an expression',
  parameters: { query: parameter('An expression'), ...timeRange, ...shared },
  async answer(request, ports) {
    const start = timeOf(request.given, 'start', Number.NEGATIVE_INFINITY);
    const end = timeOf(request.given, 'end', Number.POSITIVE_INFINITY);
    if (end < start) throw new PromqlError('bad_data', 'end timestamp must not be before start timestamp');
    const sets = setsIn(textOf(request.given, 'query'));
    const found = await readExemplarsOf(scopeOf(request, ports), windowOf(request, ports), sets);
    return {
      data: found.map(({ labels, exemplars }) => ({
        seriesLabels: labels,
        exemplars: exemplars.map((exemplar) => ({
          labels: exemplar.labels,
          value: numberText(exemplar.value),
          timestamp: exemplar.timeMs / 1000,
        })),
      })),
    };
  },
});
