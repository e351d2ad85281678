import { z } from 'zod';
import { readLastReceived } from '../../../subjects/onboarding/last-received.ts';
import { defineOperation } from '../../kernel/operation.ts';

const hourMs = 3_600_000;

const Time = z.iso.datetime().nullable();

export const showReceivedTelemetry = defineOperation({
  method: 'GET',
  path: '/api/onboarding/received',
  operationId: 'getReceivedTelemetry',
  summary: 'Get when each telemetry signal was last received since a time',
  role: 'viewer',
  query: z.strictObject({
    projectId: z.string().min(1).max(128).optional().describe('All projects by default'),
    since: z.iso
      .datetime()
      .optional()
      .describe('Earlier records do not count; an hour ago by default, at most a day ago'),
  }),
  response: z.strictObject({ logs: Time, metrics: Time, traces: Time }),
  async handler({ caller, query: { projectId, since } }, { columns, clock }) {
    const nowMs = clock.now();
    const sinceMs = since === undefined ? nowMs - hourMs : Math.max(Date.parse(since), nowMs - 24 * hourMs);
    return readLastReceived(columns.forTenant(caller.tenantId), { projectId, sinceMs });
  },
});
