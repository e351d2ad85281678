import { z } from 'zod';
import { positionCondition } from '../../../queries/logs/context.ts';
import { readLogs } from '../../../queries/logs/pages.ts';
import { LogRecord, parseLogId } from '../../../queries/signals/log-record.ts';
import { createNotFoundError } from '../../errors.ts';
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
    const position = parseLogId(params.id);
    if (position === undefined) throw createNotFoundError('log record');
    const [found] = await readLogs(columns.forTenant(caller.tenantId), positionCondition, { ...position }, 1);
    if (found === undefined) throw createNotFoundError('log record');
    return found.record;
  },
});
