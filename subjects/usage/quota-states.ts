import { z } from 'zod';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import type { Plan } from '../../schemas/resources/plan.ts';
import {
  type Quota,
  type QuotaScope,
  type QuotaWindow,
  quotaScopes,
  quotaWindowAt,
  quotaWindows,
  rejectThresholds,
} from '../../schemas/resources/quota.ts';
import { readVolumes, totalOf } from './ledger.ts';
import { iso } from './period.ts';

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
export type Used = Readonly<Record<QuotaWindow, Readonly<Record<QuotaScope, number>>>>;

export const readUsed = async (columns: TenantColumns, nowMs: number): Promise<Used> => {
  const of = async (window: QuotaWindow) => {
    const { fromMs, endMs } = quotaWindowAt(window, nowMs);
    const volumes = await readVolumes(columns, {}, { fromMs, toMs: endMs });
    const { logs, metrics, traces } = volumes;
    return {
      total: totalOf(volumes).accepted.bytes,
      logs: logs.accepted.bytes,
      metrics: metrics.accepted.bytes,
      traces: traces.accepted.bytes,
    };
  };
  const [day, month] = await Promise.all([of('day'), of('month')]);
  return { day, month };
};

const stateOf = (used: number, warn: number | null, reject: number | null): QuotaState['state'] => {
  if (reject !== null && used >= reject) return 'rejecting';
  return warn !== null && used >= warn ? 'warning' : 'ok';
};

/** Returns the state of every window and scope with a threshold. */
export const quotaStates = (quota: Quota, limits: Plan['limits'], used: Used, nowMs: number): QuotaState[] => {
  const rejecting = rejectThresholds(limits, quota);
  const all = quotaWindows.flatMap((window) => quotaScopes.map((scope) => ({ window, scope })));
  return all.flatMap(({ window, scope }): QuotaState[] => {
    const { warnBytes } = quota[window][scope];
    const { bytes: rejectBytes = null, isPlan } =
      rejecting.find((each) => each.window === window && each.scope === scope) ?? {};
    if (warnBytes === null && rejectBytes === null) return [];
    const usedBytes = used[window][scope];
    return [
      {
        window,
        scope,
        usedBytes,
        warnBytes,
        rejectBytes,
        setBy: rejectBytes === null ? null : isPlan ? 'plan' : 'quota',
        state: stateOf(usedBytes, warnBytes, rejectBytes),
        resetsAt: iso(quotaWindowAt(window, nowMs).endMs),
      },
    ];
  });
};
