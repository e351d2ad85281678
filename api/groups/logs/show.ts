import { z } from 'zod';
import { atPosition } from '../../../queries/logs/context.ts';
import { readLogs } from '../../../queries/logs/pages.ts';
import { LogRecord, logPositionOf } from '../../../queries/signals/log-record.ts';
import { notFound } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';

export const showLog = defineOperation({
  method: 'GET',
  path: '/api/logs/{id}',
  operationId: 'getLog',
  summary: 'Get a log record',
  role: 'viewer',
  entitlement: 'logs',
  params: z.strictObject({ id: z.string().min(1).max(128) }),
  response: LogRecord,
  async handler({ caller, params }, { columns }) {
    const position = logPositionOf(params.id);
    if (position === undefined) throw notFound('log record');
    const [found] = await readLogs(columns.of(caller.tenantId), atPosition, { ...position }, 1);
    if (found === undefined) throw notFound('log record');
    return found.record;
  },
});
