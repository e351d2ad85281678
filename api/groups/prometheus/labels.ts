import { z } from 'zod';
import { PromqlError } from '../../../queries/promql/errors.ts';
import { listSeries, readLabelNames, readLabelValues } from '../../../queries/promql/fetch/label-reads.ts';
import { defineGetAndPostOperations, defineGetOperation, limitItems } from './define-operation.ts';
import {
  getLimit,
  limitParameters,
  parseMatcherSets,
  projectParameters,
  selectorParameters,
  timeRangeParameters,
} from './parameters.ts';
import { createScope, parseWindow } from './scope.ts';

const parameters = { ...selectorParameters, ...timeRangeParameters, ...limitParameters, ...projectParameters };

export const showSeries = defineGetAndPostOperations({
  path: 'series',
  operationId: 'listPrometheusSeries',
  summary: 'List the label sets of the series that match selectors',
  parameters,
  async run(request, ports) {
    const matcherSets = parseMatcherSets(request.parameterValues, true);
    if (matcherSets.length === 0) throw new PromqlError('bad_data', 'no match[] parameter provided');
    const limit = getLimit(request.parameterValues);
    return limitItems(
      await listSeries({ scope: createScope(request, ports), window: parseWindow(request, ports), matcherSets }),
      limit,
    );
  },
});

export const showLabels = defineGetAndPostOperations({
  path: 'labels',
  operationId: 'listPrometheusLabels',
  summary: 'List label names',
  parameters,
  async run(request, ports) {
    const limit = getLimit(request.parameterValues);
    const labelsQuery = {
      scope: createScope(request, ports),
      window: parseWindow(request, ports),
      matcherSets: parseMatcherSets(request.parameterValues),
    };
    return limitItems(await readLabelNames(labelsQuery), limit);
  },
});

/**
 * Decodes a name in a path, in which characters other than letters, digits and underscores are escaped, such as
 * `U__http_2e_method`.
 */
const unescapeName = (name: string): string => {
  if (!name.startsWith('U__')) return name;
  const decodedName = name
    .slice(3)
    .replaceAll(/__|_([0-9a-fA-F]{1,6})_/g, (escapeSequence, hex: string | undefined) =>
      hex === undefined
        ? '_'
        : Number.parseInt(hex, 16) > 0x10ffff
          ? escapeSequence
          : String.fromCodePoint(Number.parseInt(hex, 16)),
    );
  return decodedName;
};

export const showLabelValues = defineGetOperation({
  path: 'label/{name}/values',
  operationId: 'listPrometheusLabelValues',
  summary: 'List the values of a label',
  params: z.strictObject({ name: z.string().min(1).max(1024) }),
  parameters,
  async run(request, ports) {
    const name = unescapeName(request.params['name'] ?? '');
    if (name === '') throw new PromqlError('bad_data', 'invalid label name: ""');
    const limit = getLimit(request.parameterValues);
    const labelValuesQuery = {
      scope: createScope(request, ports),
      window: parseWindow(request, ports),
      matcherSets: parseMatcherSets(request.parameterValues),
    };
    return limitItems(await readLabelValues(labelValuesQuery, name), limit);
  },
});
