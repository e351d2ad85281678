import { z } from 'zod';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Plan } from '../../schemas/resources/plan.ts';
import {
  getQuotaWindow,
  getRejectThresholds,
  type Quota,
  type QuotaScope,
  type QuotaWindow,
  quotaScopes,
  quotaWindows,
} from '../../schemas/resources/quota.ts';
import { readVolumes, sumVolumes } from './ledger.ts';
import { toIsoTime } from './period.ts';

export const QuotaState = z.strictObject({
  window: z.enum(quotaWindows),
  scope: z.enum(quotaScopes),
  usedBytes: z.int().describe('Accepted bytes counted in this window so far'),
  warnBytes: z.int().nullable(),
  rejectBytes: z
    .int()
    .nullable()
    .describe("Effective threshold: the smaller of the quota and the plan's bytes per day"),
  setBy: z.enum(['quota', 'plan']).nullable(),
  state: z.enum(['ok', 'warning', 'rejecting']),
  resetsAt: z.string(),
});
export type QuotaState = z.output<typeof QuotaState>;

/** Accepted bytes by window and scope */
export type UsedBytes = Readonly<Record<QuotaWindow, Readonly<Record<QuotaScope, number>>>>;

export const readUsedBytes = async (columns: TenantColumns, nowMs: number): Promise<UsedBytes> => {
  const readWindow = async (window: QuotaWindow) => {
    const { fromMs, endMs } = getQuotaWindow(window, nowMs);
    const volumes = await readVolumes(columns, {}, { fromMs, toMs: endMs });
    const { logs, metrics, traces } = volumes;
    return {
      total: sumVolumes(volumes).accepted.bytes,
      logs: logs.accepted.bytes,
      metrics: metrics.accepted.bytes,
      traces: traces.accepted.bytes,
    };
  };
  const [day, month] = await Promise.all([readWindow('day'), readWindow('month')]);
  return { day, month };
};

const toState = (used: number, warn: number | null, reject: number | null): QuotaState['state'] => {
  if (reject !== null && used >= reject) return 'rejecting';
  return warn !== null && used >= warn ? 'warning' : 'ok';
};

/** Returns the state of every window and scope with a threshold. */
export const toQuotaStates = (quota: Quota, limits: Plan['limits'], used: UsedBytes, nowMs: number): QuotaState[] => {
  const rejectLimits = getRejectThresholds(limits, quota);
  const windowScopes = quotaWindows.flatMap((window) => quotaScopes.map((scope) => ({ window, scope })));
  return windowScopes.flatMap(({ window, scope }): QuotaState[] => {
    const { warnBytes } = quota[window][scope];
    const { bytes: rejectBytes = null, isPlan: isPlanLimit } =
      rejectLimits.find((rejectLimit) => rejectLimit.window === window && rejectLimit.scope === scope) ?? {};
    if (warnBytes === null && rejectBytes === null) return [];
    const usedBytes = used[window][scope];
    return [
      {
        window,
        scope,
        usedBytes,
        warnBytes,
        rejectBytes,
        setBy: rejectBytes === null ? null : isPlanLimit ? 'plan' : 'quota',
        state: toState(usedBytes, warnBytes, rejectBytes),
        resetsAt: toIsoTime(getQuotaWindow(window, nowMs).endMs),
      },
    ];
  });
};
