import { z } from 'zod';
import { PromqlError } from '../../../queries/promql/errors.ts';
import { labelNames, labelValues, listSeries } from '../../../queries/promql/fetch/label-reads.ts';
import { byGet, byGetAndPost, cut } from './answer.ts';
import { limited, limitOf, selectors, setsOf, shared, timeRange } from './parameters.ts';
import { scopeOf, windowOf } from './scope.ts';

const parameters = { ...selectors, ...timeRange, ...limited, ...shared };

export const showSeries = byGetAndPost({
  path: 'series',
  operationId: 'listPrometheusSeries',
  summary: 'List the label sets of the series that match selectors',
  parameters,
  async answer(request, ports) {
    const sets = setsOf(request.given, true);
    if (sets.length === 0) throw new PromqlError('bad_data', 'no match[] parameter provided');
    const limit = limitOf(request.given);
    return cut(await listSeries({ scope: scopeOf(request, ports), window: windowOf(request, ports), sets }), limit);
  },
});

export const showLabels = byGetAndPost({
  path: 'labels',
  operationId: 'listPrometheusLabels',
  summary: 'List label names',
  parameters,
  async answer(request, ports) {
    const limit = limitOf(request.given);
    const question = { scope: scopeOf(request, ports), window: windowOf(request, ports), sets: setsOf(request.given) };
    return cut(await labelNames(question), limit);
  },
});

/**
 * A name in a path, in which characters other than letters, digits and underscores are escaped: `U__http_2e_method`.
 */
const unescaped = (name: string): string => {
  if (!name.startsWith('U__')) return name;
  const inner = name
    .slice(3)
    .replaceAll(/__|_([0-9a-fA-F]{1,6})_/g, (found, hex: string | undefined) =>
      hex === undefined
        ? '_'
        : Number.parseInt(hex, 16) > 0x10ffff
          ? found
          : String.fromCodePoint(Number.parseInt(hex, 16)),
    );
  return inner;
};

export const showLabelValues = byGet({
  path: 'label/{name}/values',
  operationId: 'listPrometheusLabelValues',
  summary: 'List the values of a label',
  params: z.strictObject({ name: z.string().min(1).max(1024) }),
  parameters,
  async answer(request, ports) {
    const name = unescaped(request.params['name'] ?? '');
    if (name === '') throw new PromqlError('bad_data', 'invalid label name: ""');
    const limit = limitOf(request.given);
    const question = { scope: scopeOf(request, ports), window: windowOf(request, ports), sets: setsOf(request.given) };
    return cut(await labelValues(question, name), limit);
  },
});
