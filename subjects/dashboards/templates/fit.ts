/** Determines which panels of a template would show data: those whose metrics and attributes were received recently. */

import { type QuerySignal, type ReadSignal, signalDefinitions } from '../../../queries/signals/index.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { anyRowClause } from '../../../schemas/tables/any-row.ts';
import { type Condition, collectConditionNeeds, type DataNeed, isNeed, type PanelNeeds } from './needs.ts';

/** Maximum age in hours of data that counts as available. */
export const recentHours = 24;

/** Available data for a set of needs. */
export interface AvailableData {
  has(need: DataNeed): boolean;
  /** Returns whether the plan includes the telemetry signal. */
  includes(signal: ReadSignal): boolean;
}

const getSignalTopic = (signal: QuerySignal): string | undefined => signalDefinitions[signal].countedBy?.name;

/** Returns the metrics that have series. Remote-write senders may send the metadata of a metric later, or never. */
const findMetricsWithSeries = async (
  metrics: readonly string[],
  { columns }: Pick<TenantReader, 'columns'>,
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
 * Returns the available data for needs, by one statement for all needs, and one for metrics without metadata. Reads
 * only names and hours, not records or points.
 */
export const readAvailableData = async (reader: TenantReader, needs: readonly DataNeed[]): Promise<AvailableData> => {
  const { columns, plan, nowMs } = reader;
  const since = String(nowMs - recentHours * 3_600_000);
  const metrics = new Set(needs.flatMap((need) => (need.kind === 'metric' ? [need.name] : [])));
  const keys = new Set(needs.flatMap((need) => (need.kind === 'attribute' ? [need.name] : [])));
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
      (SELECT 1 FROM signals WHERE tenant_id = {tenant:String} AND time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') ${anyRowClause})`,
    { metrics: [...metrics], keys: [...keys], since },
  );
  const availableKeys = new Set(rows.map(({ what, kind, name }) => `${what} ${kind} ${name}`));
  const unmatchedMetrics = [...metrics].filter((name) => !availableKeys.has(`metric  ${name}`));
  for (const name of await findMetricsWithSeries(unmatchedMetrics, reader, since)) availableKeys.add(`metric  ${name}`);
  const includes = (signal: ReadSignal): boolean => plan.entitlements.includes(signalDefinitions[signal].entitlement);
  return {
    includes,
    has(need) {
      if (need.kind === 'metric') return includes('metrics') && availableKeys.has(`metric  ${need.name}`);
      const topic = getSignalTopic(need.signal) ?? need.signal;
      if (!includes(need.signal)) return false;
      return need.kind === 'records'
        ? availableKeys.has(`${topic} record `)
        : need.kinds.some((kind) => availableKeys.has(`${topic} ${kind} ${need.name}`));
    },
  };
};

const describeNeed = (need: DataNeed, available: AvailableData): string => {
  const signal = need.kind === 'metric' ? 'metrics' : need.signal;
  const planNote = available.includes(signal) ? '' : ` (the plan does not include ${signal})`;
  if (need.kind === 'metric') return `the metric ${need.name}${planNote}`;
  return `${need.kind === 'records' ? signalDefinitions[need.signal].records : `the attribute ${need.name} of ${need.signal}`}${planNote}`;
};

/** Describes the missing data for a condition; empty if the condition holds. */
const describeMissing = (condition: Condition, available: AvailableData): string[] => {
  if (isNeed(condition)) return available.has(condition) ? [] : [describeNeed(condition, available)];
  if (condition.kind === 'all') return [...new Set(condition.of.flatMap((part) => describeMissing(part, available)))];
  const missing = condition.of.map((part) => describeMissing(part, available));
  if (missing.some(({ length }) => length === 0)) return [];
  return [[...new Set(missing.map((needTexts) => needTexts.join(' and ')))].join(', or ')];
};

export interface PanelFit {
  readonly id: string;
  readonly title: string;
  /** Missing data in words; empty if the panel would show data. */
  readonly missing: string[];
}

export const assessPanels = (panels: readonly PanelNeeds[], available: AvailableData): PanelFit[] =>
  panels.map(({ id, title, needs }) => ({ id, title, missing: describeMissing(needs, available) }));

/** Returns all needs of panels. */
export const collectNeeds = (panels: readonly PanelNeeds[]): DataNeed[] =>
  panels.flatMap(({ needs }) => collectConditionNeeds(needs));
