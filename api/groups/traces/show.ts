import { z } from 'zod';
import { projectScopeCondition, projectScopeParameters, projectScopeValues } from '../../../queries/project-scope.ts';
import { resourcesOf } from '../../../queries/resources.ts';
import { Span, type SpanRow, spanOf, spanSelection } from '../../../queries/traces/span.ts';
import { traceIs } from '../../../schemas/tables/search.ts';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

const maxSpans = 10_000;

export const showTrace = defineOperation({
  method: 'GET',
  path: '/api/traces/{id}',
  operationId: 'getTrace',
  summary: 'Get all spans of a trace, by start time',
  role: 'viewer',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  query: z.strictObject(projectScopeParameters),
  response: z.strictObject({
    traceId: z.string(),
    spans: z.array(Span),
    truncated: z.boolean().describe(`Whether there are more than ${maxSpans} spans`),
  }),
  async handler({ caller, params, query }, { columns }) {
    const traceId = params.id.toLowerCase();
    if (!/^[0-9a-f]{32}$/.test(traceId)) throw notFound('trace');
    const reader = columns.of(caller.tenantId);
    const rows = await reader.query<SpanRow>(
      `SELECT ${spanSelection} FROM spans WHERE tenant_id = {tenant:String} AND ${traceIs('{trace:String}')}${projectScopeCondition(query)}
      ORDER BY timestamp, span_id, partition, offset, ordinal LIMIT ${maxSpans + 1}`,
      { trace: traceId, ...projectScopeValues(query) },
    );
    if (rows.length === 0) throw notFound('trace');
    const shown = rows.slice(0, maxSpans);
    const resources = await resourcesOf(
      reader,
      shown.map(({ resource }) => resource),
    );
    return {
      traceId,
      spans: shown.map((row) => spanOf(row, resources.get(row.resource))),
      truncated: rows.length > maxSpans,
    };
  },
});
