import { z } from 'zod';
import { requireEntitlement } from '../../../queries/entitlement.ts';
import { LogRecord, readLogs } from '../../../queries/logs/record.ts';
import { traceIs } from '../../../schemas/tables/search.ts';
import { notFound } from '../../kernel/errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

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
