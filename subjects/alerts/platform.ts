/**
 * Detects problems of the platform that affect an organization: rules that are not evaluated, and records that are
 * processed late.
 */
import { computePartition } from '../../schemas/partition.ts';
import type { GroupStatus } from '../../schemas/ports/group-status.ts';
import { buildTenantKeys } from '../../schemas/tenant-key.ts';
import { parseDurationMs } from './durations.ts';
import { findStaleSinceMs } from './staleness.ts';

/** A problem of an organization. */
export interface PlatformProblem {
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

/** Minimum delay of an evaluation that is reported: longer than a restart takes. */
export const minStaleMs = 90_000;

const ruleKindNames: Readonly<Record<WatchedRule['kind'], string>> = {
  alert: 'alert rules',
  recording: 'groups of recording rules',
};

const isoTime = (ms: number): string => new Date(ms).toISOString();

/**
 * Returns the problem of rules that are not evaluated, from the times of their last evaluations. After a period in
 * which nothing was monitored, rules may have just become due, so an alert starts only after three intervals of
 * monitoring. A firing alert continues regardless.
 */
export const findStaleRules = (
  rules: ReadonlyMap<string, WatchedRule>,
  evaluatedMs: ReadonlyMap<string, number>,
  {
    nowMs,
    watchedSinceMs,
    isFiring,
  }: { readonly nowMs: number; readonly watchedSinceMs: number; readonly isFiring: boolean },
): PlatformProblem | undefined => {
  let sinceMs = nowMs;
  const counts = { alert: { stale: 0, enabled: 0 }, recording: { stale: 0, enabled: 0 } };
  for (const [id, rule] of rules) {
    if (!rule.enabled) continue;
    const count = counts[rule.kind];
    count.enabled++;
    const lastEvaluatedMs = evaluatedMs.get(id) ?? 0;
    if (findStaleSinceMs(rule, lastEvaluatedMs, nowMs) === undefined) continue;
    const lastMs = Math.max(lastEvaluatedMs, Date.parse(rule.updatedAt));
    const waitedMs = nowMs - (isFiring ? lastMs : Math.max(lastMs, watchedSinceMs));
    if (waitedMs < (isFiring ? 0 : Math.max(minStaleMs, 3 * parseDurationMs(rule.interval)))) continue;
    count.stale++;
    sinceMs = Math.min(sinceMs, lastMs);
  }
  const staleRuleTexts = (Object.keys(counts) as WatchedRule['kind'][]).flatMap((kind) => {
    const { stale, enabled } = counts[kind];
    if (stale === 0) return [];
    return `${stale === enabled ? 'all' : `${stale} of`} ${enabled} ${ruleKindNames[kind]}`;
  });
  if (staleRuleTexts.length === 0) return undefined;
  const text = staleRuleTexts.join(' and ');
  const sentence = `${text[0]?.toUpperCase()}${text.slice(1)} have not been evaluated since ${isoTime(sinceMs)}`;
  return { sinceMs, reason: `${sentence}: alert states may be outdated` };
};

/** Records that wait longer than this are late. The alert ends when they wait less than half of it. */
const lateThresholdMs = 120_000;

/** Returns the reason if a record's wait is reportable; otherwise undefined. */
export const describeLateness = (ageMs: number, isFiring = false): string | undefined =>
  ageMs < (isFiring ? lateThresholdMs / 2 : lateThresholdMs)
    ? undefined
    : `the oldest record has been waiting for ${Math.round(ageMs / 1000)} seconds`;

/** Returns the problem of an organization's late records, from the lag of these consumer groups in its partitions. */
export const findLateRecords = (
  statuses: readonly GroupStatus[],
  options: {
    readonly tenantId: string;
    readonly shards: number;
    readonly nowMs: number;
    /** Whether it was already reported. */
    readonly isReported: boolean;
  },
): PlatformProblem | undefined => {
  const { tenantId, shards, nowMs, isReported } = options;
  let slowestGroup: { readonly group: string; readonly ageMs: number } | undefined;
  for (const { group, partitions } of statuses)
    for (const [, topicPartitions] of Map.groupBy(partitions, ({ topic }) => topic)) {
      const tenantPartitions = new Set(
        buildTenantKeys(tenantId, shards).map((key) => computePartition(key, topicPartitions.length)),
      );
      for (const { partition, ageMs } of topicPartitions)
        if (tenantPartitions.has(partition) && ageMs > (slowestGroup?.ageMs ?? 0)) slowestGroup = { group, ageMs };
    }
  const reason = slowestGroup && describeLateness(slowestGroup.ageMs, isReported);
  return slowestGroup === undefined || reason === undefined
    ? undefined
    : { sinceMs: nowMs - slowestGroup.ageMs, reason: `${slowestGroup.group} lags: ${reason}` };
};
