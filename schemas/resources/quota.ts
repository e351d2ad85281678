import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import type { Plan } from './plan.ts';

const byteThreshold = z.int().positive().nullable().default(null);

/** Decompressed bytes per window, in the sender's encoding; null for no threshold. */
const Threshold = z.strictObject({
  warnBytes: byteThreshold.describe('Threshold for warnings'),
  rejectBytes: byteThreshold.describe('Threshold above which requests are rejected with 429'),
});
export type Threshold = z.output<typeof Threshold>;

export const quotaScopes = ['total', 'logs', 'metrics', 'traces'] as const;
export type QuotaScope = (typeof quotaScopes)[number];
export const quotaWindows = ['day', 'month'] as const;
export type QuotaWindow = (typeof quotaWindows)[number];

const emptyThreshold: Threshold = { warnBytes: null, rejectBytes: null };
const thresholdSchema = Threshold.default(emptyThreshold);
const WindowQuota = z.strictObject({
  total: thresholdSchema,
  logs: thresholdSchema,
  metrics: thresholdSchema,
  traces: thresholdSchema,
});
const emptyThresholds = {
  total: emptyThreshold,
  logs: emptyThreshold,
  metrics: emptyThreshold,
  traces: emptyThreshold,
};

/**
 * An organization's own limits of ingested data, below those of its plan. Days and months are in UTC. One document per
 * organization.
 */
export const Quota = z.strictObject({
  day: WindowQuota.default(emptyThresholds),
  month: WindowQuota.default(emptyThresholds),
});
export type Quota = z.output<typeof Quota>;

export const quotas = defineCollection<Quota>({ name: 'quotas' });
export const quotaId = 'quota';
export const emptyQuota: Quota = { day: emptyThresholds, month: emptyThresholds };

const dayMs = 86_400_000;

/** Returns the start and end of the window that contains a time. */
export const getQuotaWindow = (
  window: QuotaWindow,
  nowMs: number,
): { readonly fromMs: number; readonly endMs: number } => {
  if (window === 'day') {
    const fromMs = nowMs - (nowMs % dayMs);
    return { fromMs, endMs: fromMs + dayMs };
  }
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { fromMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) };
};

/** A threshold that causes the status 429. */
export interface RejectThreshold {
  readonly window: QuotaWindow;
  readonly scope: QuotaScope;
  readonly bytes: number;
  /** Whether this is the limit of the plan instead of one that the organization set. */
  readonly isPlan: boolean;
}

/** Returns the effective reject thresholds: the organization's, and the plan's bytes per day if those are fewer. */
export const getRejectThresholds = (limits: Pick<Plan['limits'], 'bytesPerDay'>, quota: Quota): RejectThreshold[] => {
  const thresholds: RejectThreshold[] = [];
  for (const window of quotaWindows) {
    for (const scope of quotaScopes) {
      const quotaBytes = quota[window][scope].rejectBytes;
      const planBytes = window === 'day' && scope === 'total' ? limits.bytesPerDay : null;
      const isPlanLimit = planBytes !== null && (quotaBytes === null || planBytes <= quotaBytes);
      const limit = isPlanLimit ? planBytes : quotaBytes;
      if (limit !== null) thresholds.push({ window, scope, bytes: limit, isPlan: isPlanLimit });
    }
  }
  return thresholds;
};
