import { z } from 'zod';
import { requireEntitlement } from '../../../queries/entitlement.ts';
import { LogRecord, readLogs } from '../../../queries/logs/record.ts';
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

export const traceLogs = defineOperation({
  method: 'GET',
  path: '/api/traces/{id}/logs',
  operationId: 'listTraceLogs',
  summary: 'List log records of a trace, newest first',
  role: 'viewer',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  query: z.strictObject({ limit: z.coerce.number().int().min(1).max(1000).default(100) }),
  response: z.strictObject({ items: z.array(LogRecord), nextCursor: z.null() }),
  async handler({ caller, params, query }, { columns }) {
    requireEntitlement(caller, 'logs');
    const traceId = params.id.toLowerCase();
    if (!/^[0-9a-f]{32}$/.test(traceId)) throw notFound('trace');
    const reader = columns.of(caller.tenantId);
    const found = await readLogs(reader, traceIs('{trace:String}'), { trace: traceId }, query.limit);
    if (found.length === 0 && !(await exists(reader, traceId))) throw notFound('trace');
    return { items: found.map(({ record }) => record), nextCursor: null };
  },
});

const exists = async (reader: Parameters<typeof readLogs>[0], trace: string): Promise<boolean> =>
  (
    await reader.query(
      `SELECT 1 AS one FROM spans WHERE tenant_id = {tenant:String} AND ${traceIs('{trace:String}')} LIMIT 1`,
      { trace },
    )
  ).length > 0;
