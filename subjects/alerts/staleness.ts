/** Detects rules that are not evaluated in time. */
import { parseDurationMs } from './durations.ts';
import type { AlertRule } from './rule.ts';

type ScheduledRule = Pick<AlertRule, 'enabled' | 'interval'> & { readonly updatedAt: string };

/**
 * Returns since when a rule has not been evaluated, if that is longer than three of its intervals; undefined if it is
 * current. Disabled rules are not evaluated.
 */
export const findStaleSinceMs = (
  { enabled, interval, updatedAt }: ScheduledRule,
  evaluatedMs: number,
  nowMs: number,
): number | undefined => {
  const sinceMs = Math.max(evaluatedMs, Date.parse(updatedAt));
  return enabled && nowMs - sinceMs > 3 * parseDurationMs(interval) ? evaluatedMs : undefined;
};
