/** Stalled parts of the platform, as an organization experiences them: its rules, or its records. */
import { partitionOf } from '../../schemas/partition.ts';
import type { GroupStatus } from '../../schemas/ports/group-status.ts';
import { tenantKeys } from '../../schemas/tenant-key.ts';
import { msOf } from './durations.ts';
import { staleSinceMs } from './staleness.ts';

/** A problem of an organization. */
export interface Finding {
  readonly sinceMs: number;
  readonly reason: string;
}

/** An alert rule or a group of recording rules, with the data that determines when it is due. */
export interface WatchedRule {
  readonly kind: 'alert' | 'recording';
  readonly enabled: boolean;
  readonly interval: string;
  readonly updatedAt: string;
}

/** Longer than a restart. */
export const minStaleMs = 90_000;

const named: Readonly<Record<WatchedRule['kind'], string>> = {
  alert: 'alert rules',
  recording: 'groups of recording rules',
};

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Returns the finding about rules from the times of their last evaluations. Rules that were not evaluated while nothing
 * monitored them may only become due now. So an alert starts after three intervals of monitoring, and a firing alert
 * continues regardless.
 */
export const rulesFinding = (
  rules: ReadonlyMap<string, WatchedRule>,
  evaluatedMs: ReadonlyMap<string, number>,
  {
    nowMs,
    watchedSinceMs,
    fires,
  }: { readonly nowMs: number; readonly watchedSinceMs: number; readonly fires: boolean },
): Finding | undefined => {
  let sinceMs = nowMs;
  const counts = { alert: { stale: 0, enabled: 0 }, recording: { stale: 0, enabled: 0 } };
  for (const [id, rule] of rules) {
    if (!rule.enabled) continue;
    const count = counts[rule.kind];
    count.enabled++;
    const evaluated = evaluatedMs.get(id) ?? 0;
    if (staleSinceMs(rule, evaluated, nowMs) === undefined) continue;
    const lastMs = Math.max(evaluated, Date.parse(rule.updatedAt));
    const waitedMs = nowMs - (fires ? lastMs : Math.max(lastMs, watchedSinceMs));
    if (waitedMs < (fires ? 0 : Math.max(minStaleMs, 3 * msOf(rule.interval)))) continue;
    count.stale++;
    sinceMs = Math.min(sinceMs, lastMs);
  }
  const which = (Object.keys(counts) as WatchedRule['kind'][]).flatMap((kind) => {
    const { stale, enabled } = counts[kind];
    if (stale === 0) return [];
    return `${stale === enabled ? 'all' : `${stale} of`} ${enabled} ${named[kind]}`;
  });
  if (which.length === 0) return undefined;
  const text = which.join(' and ');
  const since = `${text[0]?.toUpperCase()}${text.slice(1)} have not been evaluated since ${iso(sinceMs)}`;
  return { sinceMs, reason: `${since}: alert states may be outdated` };
};

/** Records are late above this wait, and no longer late below half of it. */
const lateMs = 120_000;

/** Returns the reason if a record's wait is reportable; otherwise undefined. */
export const latenessReason = (ageMs: number, fires = false): string | undefined =>
  ageMs < (fires ? lateMs / 2 : lateMs)
    ? undefined
    : `the oldest record has been waiting for ${Math.round(ageMs / 1000)} seconds`;

/** Returns the finding about an organization's records from the progress of these groups in its partitions. */
export const latenessOf = (
  statuses: readonly GroupStatus[],
  options: {
    readonly tenantId: string;
    readonly shards: number;
    readonly nowMs: number;
    /** Whether it was already reported. */
    readonly fires: boolean;
  },
): Finding | undefined => {
  const { tenantId, shards, nowMs, fires } = options;
  let worst: { readonly group: string; readonly ageMs: number } | undefined;
  for (const { group, partitions } of statuses)
    for (const [, ofTopic] of Map.groupBy(partitions, ({ topic }) => topic)) {
      const own = new Set(tenantKeys(tenantId, shards).map((key) => partitionOf(key, ofTopic.length)));
      for (const { partition, ageMs } of ofTopic)
        if (own.has(partition) && ageMs > (worst?.ageMs ?? 0)) worst = { group, ageMs };
    }
  const reason = worst && latenessReason(worst.ageMs, fires);
  return worst === undefined || reason === undefined
    ? undefined
    : { sinceMs: nowMs - worst.ageMs, reason: `${worst.group} is behind: ${reason}` };
};
