import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseTraceId, readTrace, Trace } from '../../../queries/traces/trace.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';

export const showTrace = defineOperation({
  method: 'GET',
  path: '/api/traces/{id}',
  operationId: 'getTrace',
  summary: 'Get a trace: its spans by start time, its properties and its critical path',
  role: 'viewer',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  query: z.strictObject({ ...projectScopeParameters, cursor: cursorParameter }),
  response: Trace,
  async handler({ caller, params, query, signal }, ports) {
    const reader = createQueryReader(caller, ports);
    const traceId = parseTraceId(params.id);
    const trace =
      traceId === undefined
        ? undefined
        : await readTrace(reader, traceId, { scope: query, cursor: query.cursor, signal });
    if (trace === undefined) throw createNotFoundError('trace');
    return trace;
  },
});
