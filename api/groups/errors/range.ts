import type { TenantReader } from '../../../queries/tenant-reader.ts';

interface RangeQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const dayMs = 86_400_000;

/** Returns the requested range; by default it starts at the first occurrence of the group, within the retention. */
export const withGroupRange = (
  query: RangeQuery,
  { firstSeen }: { readonly firstSeen: bigint },
  { plan, nowMs }: TenantReader,
): RangeQuery => {
  if (query.from !== undefined) return query;
  const { logs, traces } = plan.retentionDays;
  const retentionDaysIfEntitled = (signal: 'logs' | 'traces', days: number): number =>
    plan.entitlements.includes(signal) ? days : 0;
  const retainedFromMs =
    nowMs - Math.max(retentionDaysIfEntitled('logs', logs), retentionDaysIfEntitled('traces', traces)) * dayMs;
  return { ...query, from: String(Math.max(Math.ceil(retainedFromMs), Number(firstSeen / 1_000_000n))) };
};
