import type { Columns } from '../../schemas/ports/columns.ts';
import type { QuotaScope } from '../../schemas/resources/quota.ts';

/** Returns the bytes that the ledger counts as accepted since a time. It may lag by the requests in flight. */
export type ReadUsedBytes = (tenantId: string, scope: QuotaScope, fromMs: number) => Promise<number>;

export const createUsedBytesReader =
  (columns: Pick<Columns, 'forTenant'>): ReadUsedBytes =>
  async (tenantId, scope, fromMs) => {
    const [row] = await columns.forTenant(tenantId).query<{ used: string }>(
      `SELECT toString(sum(bytes)) AS used FROM usage FINAL
WHERE tenant_id = {tenant:String} AND outcome = 'accepted' AND hour >= toDateTime({from:UInt32}, 'UTC') AND ({scope:String} = 'total' OR signal = {scope:String})`,
      { from: Math.floor(fromMs / 1000), scope },
      { maxExecutionSeconds: 10 },
    );
    return Number(row?.used ?? 0);
  };
