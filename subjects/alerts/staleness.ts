/** Whether what an evaluation found still says how things are. */
import { msOf } from './durations.ts';
import type { AlertRule } from './rule.ts';

type Timed = Pick<AlertRule, 'enabled' | 'interval'> & { readonly updatedAt: string };

/**
 * Since when a rule has not been evaluated, where that is longer than three of its intervals; undefined where it is current. Rules that
 * are switched off are not evaluated.
 */
export const staleSinceMs = (
  { enabled, interval, updatedAt }: Timed,
  evaluatedMs: number,
  nowMs: number,
): number | undefined => {
  const sinceMs = Math.max(evaluatedMs, Date.parse(updatedAt));
  return enabled && nowMs - sinceMs > 3 * msOf(interval) ? evaluatedMs : undefined;
};
