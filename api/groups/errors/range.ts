import type { Reading } from '../../../queries/reading.ts';

interface Asked {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const dayMs = 86_400_000;

/** The range that is asked for; without a beginning, from when the group was first seen, as far as anything is kept. */
export const rangeOfGroup = (
  asked: Asked,
  { firstSeen }: { readonly firstSeen: bigint },
  { plan, nowMs }: Reading,
): Asked => {
  if (asked.from !== undefined) return asked;
  const { logs, traces } = plan.retentionDays;
  const kept = (signal: 'logs' | 'traces', days: number): number => (plan.entitlements.includes(signal) ? days : 0);
  const keptFromMs = nowMs - Math.max(kept('logs', logs), kept('traces', traces)) * dayMs;
  return { ...asked, from: String(Math.max(Math.ceil(keptFromMs), Number(firstSeen / 1_000_000n))) };
};
