import { z } from 'zod';
import { defineOperation } from '../../../api/kernel/operation.ts';
import { parseRetainedRange, rangeParameters } from '../../../queries/range.ts';

const Count = z.strictObject({ service: z.string(), minute: z.string(), errors: z.int() });

export const listErrorCounts = defineOperation({
  method: 'GET',
  path: '/api/newcomer/error-counts',
  operationId: 'listErrorCounts',
  summary: 'Count error logs by service and minute',
  role: 'viewer',
  query: z.strictObject({ from: rangeParameters.from, to: rangeParameters.to }),
  response: z.strictObject({ items: z.array(Count) }),
  async handler({ caller, query }, { columns, clock }) {
    const { from, to } = parseRetainedRange(query, { caller, signal: 'logs', nowMs: clock.now() });
    const rows = await columns.forTenant(caller.tenantId).query<{ service: string; at: string; total: string }>(
      `SELECT service, toString(toUnixTimestamp64Milli(minute)) AS at, toString(sum(errors)) AS total
      FROM newcomer_error_counts WHERE tenant_id = {tenant:String}
        AND minute BETWEEN fromUnixTimestamp64Nano({from:Int64}) AND fromUnixTimestamp64Nano({to:Int64})
      GROUP BY service, minute ORDER BY minute, service LIMIT 10000`,
      { from: String(from), to: String(to) },
    );
    const items = rows.map(({ service, at, total }) => ({
      service,
      minute: new Date(Number(at)).toISOString(),
      errors: Number(total),
    }));
    return { items };
  },
});
