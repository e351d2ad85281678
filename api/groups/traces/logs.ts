import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { LogRecord } from '../../../queries/signals/log-record.ts';
import { readTraceLogs } from '../../../queries/traces/logs.ts';
import { parseTraceId } from '../../../queries/traces/trace.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

export const listTraceLogs = defineOperation({
  method: 'GET',
  path: '/api/traces/{id}/logs',
  operationId: 'listTraceLogs',
  summary: 'List log records of a trace, newest first, from an hour before its first span to an hour after its last',
  role: 'viewer',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  query: z.strictObject({
    ...projectScopeParameters,
    spanId: z
      .string()
      .regex(/^[0-9a-fA-F]{16}$/, 'must be 16 hexadecimal digits')
      .optional()
      .describe('Only records of this span'),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: cursorParameter,
  }),
  response: z.strictObject({ items: z.array(LogRecord), nextCursor: z.string().nullable() }),
  async handler({ caller, params, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const traceId = parseTraceId(params.id);
    const { limit, cursor, spanId } = query;
    const logsPage =
      traceId === undefined ? undefined : await readTraceLogs(reader, traceId, { scope: query, spanId, limit, cursor });
    if (logsPage === undefined) throw createNotFoundError('trace');
    return { ...logsPage, items: [...logsPage.items] };
  },
});
