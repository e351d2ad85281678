/** Panels of templates that would show data: those whose required names have landed recently. */

import type { Reading } from '../../../queries/reading.ts';
import { type QuerySignal, type ReadSignal, signals } from '../../../queries/signals/index.ts';
import { anyRow } from '../../../schemas/tables/any-row.ts';
import { type Condition, isNeed, type Need, type NeedyPanel, needsIn } from './needs.ts';

/** Age up to which a name counts as landed. */
export const landedHours = 24;

/** Landed data for a set of needs. */
export interface Landed {
  has(need: Need): boolean;
  /** Returns whether the plan includes the telemetry signal. */
  includes(signal: ReadSignal): boolean;
}

const topicOf = (signal: QuerySignal): string | undefined => signals[signal].countedBy?.name;

/** Metrics that have series. Remote-write senders may send no metadata of a metric, or send it a minute later. */
const withSeries = async (
  metrics: readonly string[],
  { columns }: Pick<Reading, 'columns'>,
  since: string,
): Promise<string[]> => {
  if (metrics.length === 0) return [];
  const rows = await columns.query<{ name: string }>(
    `SELECT DISTINCT toString(metric) AS name FROM series WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)}
    AND series.last_seen >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`,
    { metrics, since },
  );
  return rows.map(({ name }) => name);
};

/**
 * Returns the landed data for needs. Runs one statement for all needs, and one for metrics without metadata. Reads
 * names and hours, never a record or a point.
 */
export const landedOf = async (reading: Reading, needs: readonly Need[]): Promise<Landed> => {
  const { columns, plan, nowMs } = reading;
  const since = String(nowMs - landedHours * 3_600_000);
  const metrics = new Set(needs.flatMap((need) => (need.is === 'metric' ? [need.name] : [])));
  const keys = new Set(needs.flatMap((need) => (need.is === 'attribute' ? [need.name] : [])));
  const rows = await columns.query<{ what: string; kind: string; name: string }>(
    `SELECT 'metric' AS what, '' AS kind, toString(metric) AS name FROM metric_metadata
    WHERE tenant_id = {tenant:String} AND metric IN {metrics:Array(String)}
      AND metric_metadata.last_seen >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') GROUP BY ALL
    UNION ALL
    SELECT toString(topic) AS what, toString(fields.kind) AS kind, toString(key) AS name FROM fields
    WHERE tenant_id = {tenant:String} AND hour >= toDateTime(fromUnixTimestamp64Milli({since:Int64}, 'UTC'))
      AND (fields.kind = 'record' OR key IN {keys:Array(String)}) GROUP BY ALL
    UNION ALL
    SELECT 'detections' AS what, 'record' AS kind, '' AS name FROM
      (SELECT 1 FROM signals WHERE tenant_id = {tenant:String} AND time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') ${anyRow})`,
    { metrics: [...metrics], keys: [...keys], since },
  );
  const found = new Set(rows.map(({ what, kind, name }) => `${what} ${kind} ${name}`));
  const unmatched = [...metrics].filter((name) => !found.has(`metric  ${name}`));
  for (const name of await withSeries(unmatched, reading, since)) found.add(`metric  ${name}`);
  const includes = (signal: ReadSignal): boolean => plan.entitlements.includes(signals[signal].entitlement);
  return {
    includes,
    has(need) {
      if (need.is === 'metric') return includes('metrics') && found.has(`metric  ${need.name}`);
      const topic = topicOf(need.signal) ?? need.signal;
      if (!includes(need.signal)) return false;
      return need.is === 'records'
        ? found.has(`${topic} record `)
        : need.kinds.some((kind) => found.has(`${topic} ${kind} ${need.name}`));
    },
  };
};

const called = (need: Need, landed: Landed): string => {
  const signal = need.is === 'metric' ? 'metrics' : need.signal;
  const beyond = landed.includes(signal) ? '' : ` (the plan does not include ${signal})`;
  if (need.is === 'metric') return `the metric ${need.name}${beyond}`;
  return `${need.is === 'records' ? signals[need.signal].records : `the attribute ${need.name} of ${need.signal}`}${beyond}`;
};

/** Missing data for a condition, in words; empty if it holds. */
const missingFor = (condition: Condition, landed: Landed): string[] => {
  if (isNeed(condition)) return landed.has(condition) ? [] : [called(condition, landed)];
  if (condition.is === 'all') return [...new Set(condition.of.flatMap((part) => missingFor(part, landed)))];
  const missing = condition.of.map((part) => missingFor(part, landed));
  if (missing.some(({ length }) => length === 0)) return [];
  return [[...new Set(missing.map((each) => each.join(' and ')))].join(', or ')];
};

export interface PanelFit {
  readonly id: string;
  readonly title: string;
  /** Missing data in words; empty if the panel would show data. */
  readonly missing: string[];
}

export const fitOf = (panels: readonly NeedyPanel[], landed: Landed): PanelFit[] =>
  panels.map(({ id, title, needs }) => ({ id, title, missing: missingFor(needs, landed) }));

/** Returns all needs of panels. */
export const needsOf = (panels: readonly NeedyPanel[]): Need[] => panels.flatMap(({ needs }) => needsIn(needs));
