import { z } from 'zod';
import { defineCollection } from '../ports/documents.ts';
import type { Plan } from './plan.ts';

const bytes = z.int().positive().nullable().default(null);

/** Decompressed bytes per window, in the sender's encoding; null for no threshold. */
const Threshold = z.strictObject({
  warnBytes: bytes.describe('Threshold for warnings'),
  rejectBytes: bytes.describe('Threshold above which requests are answered with 429'),
});
export type Threshold = z.output<typeof Threshold>;

export const quotaScopes = ['total', 'logs', 'metrics', 'traces'] as const;
export type QuotaScope = (typeof quotaScopes)[number];
export const quotaWindows = ['day', 'month'] as const;
export type QuotaWindow = (typeof quotaWindows)[number];

const noThreshold: Threshold = { warnBytes: null, rejectBytes: null };
const threshold = Threshold.default(noThreshold);
const QuotaOfWindow = z.strictObject({ total: threshold, logs: threshold, metrics: threshold, traces: threshold });
const noThresholds = { total: noThreshold, logs: noThreshold, metrics: noThreshold, traces: noThreshold };

/**
 * An organization's own limits of ingested data, below those of its plan. Days and months are in UTC. One document per
 * organization.
 */
export const Quota = z.strictObject({
  day: QuotaOfWindow.default(noThresholds),
  month: QuotaOfWindow.default(noThresholds),
});
export type Quota = z.output<typeof Quota>;

export const quotas = defineCollection<Quota>({ name: 'quotas' });
export const quotaId = 'quota';
export const noQuota: Quota = { day: noThresholds, month: noThresholds };

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
      const isPlan = planBytes !== null && (quotaBytes === null || planBytes <= quotaBytes);
      const limit = isPlan ? planBytes : quotaBytes;
      if (limit !== null) thresholds.push({ window, scope, bytes: limit, isPlan });
    }
  }
  return thresholds;
};
