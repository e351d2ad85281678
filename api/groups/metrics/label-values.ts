import { z } from 'zod';
import {
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  int64Pattern,
  textPattern,
} from '../../../queries/cursor.ts';
import { LabelValue, listLabelValues } from '../../../queries/metrics/labels.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, rangeParameters, requireRetained } from '../../../queries/range.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { requireMetric } from './require-metric.ts';

const cursorKind = 'metric-label-values';

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
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const range = page ?? parseRetainedRange(query, { caller, signal: 'metrics', nowMs });
    if (page !== undefined) requireRetained(range, { caller, signal: 'metrics', nowMs, isFromCursor: true });
    const { limit, prefix, projectId, scope } = query;
    const reader = { columns: columns.forTenant(caller.tenantId) };
    const { items, nextValue } = await listLabelValues(reader, {
      metric: params.name,
      label: params.label,
      range,
      limit,
      prefix,
      projectId,
      scope,
      after: page?.after,
    });
    if (items.length === 0) await requireMetric(reader, params.name, { range, projectId, scope });
    return {
      items,
      nextCursor:
        nextValue === undefined ? null : encodeCursor(cursorKind, [range.from, range.to, encodeText(nextValue)]),
    };
  },
});

const parseCursor = (cursor: string): { from: bigint; to: bigint; after: string } => {
  const [from = '', to = '', after = ''] = decodeCursor(cursorKind, cursor, [int64Pattern, int64Pattern, textPattern]);
  return { from: BigInt(from), to: BigInt(to), after: decodeText(after) };
};
