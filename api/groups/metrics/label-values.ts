import { z } from 'zod';
import { anyText, decodeCursor, encodeCursor, integer, textIn, textPart } from '../../../queries/cursor.ts';
import { LabelValue, labelValuesOf } from '../../../queries/metrics/labels.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention } from '../../../queries/range.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { requireMetric } from './require-metric.ts';

const kind = 'metric-label-values';

export const listMetricLabelValues = defineOperation({
  method: 'GET',
  path: '/api/metrics/catalogue/{name}/labels/{label}/values',
  operationId: 'listMetricLabelValues',
  summary: 'List the values of a label of a metric, sorted, with the number of series for each',
  role: 'viewer',
  cache: listCache,
  params: z.strictObject({
    name: z.string().min(1).max(1024),
    label: z
      .string()
      .min(1)
      .max(512)
      .describe('A label, otherwise an attribute of the resource; attribute.<name> and resource.<name> are explicit'),
  }),
  query: z.strictObject({
    ...rangeParameters,
    ...projectScopeParameters,
    prefix: z.string().max(512).optional().describe('Prefix of the values'),
  }),
  response: z.strictObject({ items: z.array(LabelValue), nextCursor: z.string().nullable() }),
  async handler({ caller, params, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const range = page ?? rangeOf(query, { caller, signal: 'metrics', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller, signal: 'metrics', nowMs, wasListed: true });
    const { limit, prefix, projectId, scope } = query;
    const reading = { columns: columns.of(caller.tenantId) };
    const { items, more } = await labelValuesOf(reading, {
      metric: params.name,
      label: params.label,
      range,
      limit,
      prefix,
      projectId,
      scope,
      after: page?.after,
    });
    if (items.length === 0) await requireMetric(reading, params.name, { range, projectId, scope });
    return {
      items,
      nextCursor: more === undefined ? null : encodeCursor(kind, [range.from, range.to, textPart(more)]),
    };
  },
});

const pageOf = (cursor: string): { from: bigint; to: bigint; after: string } => {
  const [from = '', to = '', after = ''] = decodeCursor(kind, cursor, [integer, integer, anyText]);
  return { from: BigInt(from), to: BigInt(to), after: textIn(after) };
};
