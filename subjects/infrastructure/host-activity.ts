/** Recently active hosts, and the last time of each telemetry signal */

import type { Attributes } from '../../queries/attributes.ts';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { getResources } from '../../queries/resources.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { getHostSeenSinceMs } from './known-series.ts';
import { hostActivityMetrics } from './names.ts';

/** Recent series or records of a host */
export interface HostActivity {
  readonly resource: Attributes;
  readonly resourceId: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the host sends host metrics */
  readonly hasMetrics: boolean;
  /** Time of the last metric point, if requested */
  readonly lastMs: number | undefined;
  readonly intervalMs: number | undefined;
}

const maxHosts = 20_000;
/**
 * Points are searched in data received from this long before the range, because clocks of senders may be ahead.
 * Nanoseconds.
 */
const maxClockAheadNs = 2n * 3_600_000_000_000n;
const labelNames = ['instance', 'nodename', 'node'] as const;

interface SeriesRow {
  readonly resource: string;
  readonly labels: readonly string[];
  readonly last: string;
  readonly points: string;
  readonly first: string;
}

/** Resources and scraped instances of senders */
export interface Senders {
  readonly resourceIds: readonly string[];
  readonly instances: readonly string[];
}

const seenSinceValue = ({ from }: Range): string => String(getHostSeenSinceMs(Number(from / 1_000_000n)));

/**
 * Returns hosts with metrics in the range, and the last point of each. Senders that are known to be active are
 * excluded, because a day of points is expensive to read.
 */
export const readMetricActivity = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  activeSenders: Senders,
): Promise<HostActivity[]> => {
  const metrics = hostActivityMetrics.map(quoteString).join(', ');
  const exclusions = [
    ...(activeSenders.resourceIds.length === 0
      ? []
      : [`series.resource_id NOT IN (${activeSenders.resourceIds.join(', ')})`]),
    ...(activeSenders.instances.length === 0
      ? []
      : [`series.attributes['instance'] NOT IN (${activeSenders.instances.map(quoteString).join(', ')})`]),
  ].map((condition) => ` AND ${condition}`);
  const seenCondition = `last_seen >= fromUnixTimestamp64Milli({seen:Int64}, 'UTC')${exclusions.join('')}`;
  const rows = await reader.columns.query<SeriesRow>(
    `SELECT toString(resource) AS resource, labels, toString(max(newest)) AS last, toString(argMax(points, newest)) AS points, toString(argMax(oldest, newest)) AS first
    FROM (
      SELECT series_id, max(toUnixTimestamp64Milli(samples.timestamp)) AS newest, min(toUnixTimestamp64Milli(samples.timestamp)) AS oldest, count() AS points
      FROM samples WHERE tenant_id = {tenant:String} AND metric IN (${metrics})
        AND samples.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND samples.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
        AND received_at >= fromUnixTimestamp64Nano({from:Int64} - ${maxClockAheadNs}, 'UTC')
        AND series_id IN (SELECT series_id FROM (
          SELECT min(series_id) AS series_id FROM series WHERE tenant_id = {tenant:String} AND metric IN (${metrics}) AND ${seenCondition}${buildProjectScopeCondition(scope)}
          GROUP BY metric, resource_id, attributes['instance']))
      GROUP BY series_id) AS points
    INNER JOIN (
      SELECT series_id, any(series.resource_id) AS resource, any([${labelNames.map((name) => `series.attributes[${quoteString(name)}]`).join(', ')}]) AS labels
      FROM series WHERE tenant_id = {tenant:String} AND metric IN (${metrics}) AND ${seenCondition}${buildProjectScopeCondition(scope)} GROUP BY series_id) AS known
    USING (series_id) GROUP BY resource, labels LIMIT ${maxHosts}`,
    {
      from: String(range.from),
      to: String(range.to),
      seen: seenSinceValue(range),
      ...toProjectScopeParameters(scope),
    },
  );
  const resources = await getResources(
    reader.columns,
    rows.map(({ resource }) => resource),
  );
  return rows.map(({ resource, labels, last, first, points }) => ({
    resource: resources.get(resource)?.attributes ?? {},
    resourceId: resource,
    labels: Object.fromEntries(
      labelNames.map((name, index) => [name, labels[index] ?? '']).filter(([, value]) => value !== ''),
    ),
    hasMetrics: true,
    lastMs: Number(last),
    intervalMs: Number(points) > 1 ? (Number(last) - Number(first)) / (Number(points) - 1) : undefined,
  }));
};

interface EntityRow {
  readonly resource: string;
}

/**
 * Returns hosts that any resource in the range names, with one resource each. Resources of containers describe the
 * container.
 */
export const readReportedHosts = async (reader: TenantReader, range: Range): Promise<HostActivity[]> => {
  const rows = await reader.columns.query<EntityRow>(
    `SELECT toString(argMax(resource_id, last_seen)) AS resource FROM entities
    WHERE tenant_id = {tenant:String} AND kind = 'host' AND last_seen >= fromUnixTimestamp64Milli({seen:Int64}, 'UTC')
    GROUP BY id ORDER BY max(last_seen) DESC LIMIT ${maxHosts}`,
    { seen: seenSinceValue(range) },
  );
  const resources = await getResources(
    reader.columns,
    rows.map(({ resource }) => resource),
  );
  return rows.flatMap(({ resource }) => {
    const attributes = resources.get(resource)?.attributes ?? {};
    const isContained = ['container.id', 'k8s.pod.uid', 'k8s.pod.name', 'k8s.container.name'].some(
      (key) => key in attributes,
    );
    if (isContained) return [];
    return [
      {
        resource: attributes,
        resourceId: resource,
        labels: {},
        hasMetrics: false,
        lastMs: undefined,
        intervalMs: undefined,
      },
    ];
  });
};

interface LastRow {
  readonly host: string;
  readonly last: string;
}

const countColumns = { logs: 'logs', traces: 'spans' } as const;

/**
 * Returns the time of the last record of a telemetry signal for these hosts (`host.id` or `host.name`), without hosts
 * that sent none. The resolution is one minute; if both logs and spans arrived in the same minute, it is the time of
 * the later one.
 */
export const readLastRecords = async (
  reader: TenantReader,
  signal: keyof typeof countColumns,
  hosts: readonly string[],
  range: Range,
  scope: ProjectScope,
): Promise<ReadonlyMap<string, number>> => {
  if (hosts.length === 0) return new Map();
  const hostIdsSql = `SELECT resource_id, id AS host FROM entities WHERE tenant_id = {tenant:String} AND kind = 'host' AND id IN ({hosts:Array(String)})`;
  const rows = await reader.columns.query<LastRow>(
    `SELECT host, toString(least(max(newest), intDiv({to:Int64}, 1000000))) AS last FROM (
      SELECT resource_id, max(toUnixTimestamp64Milli(resource_activity.last_seen)) AS newest FROM resource_activity
      WHERE tenant_id = {tenant:String} AND resource_id IN (SELECT resource_id FROM (${hostIdsSql})) AND ${countColumns[signal]} > 0
        AND minute >= toStartOfMinute(fromUnixTimestamp64Nano({from:Int64}, 'UTC')) AND minute <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')
        AND resource_activity.first_seen <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')${buildProjectScopeCondition(scope)}
      GROUP BY resource_id) AS records
    INNER JOIN (${hostIdsSql}) AS hosts USING (resource_id) GROUP BY host`,
    { from: String(range.from), to: String(range.to), hosts: [...hosts], ...toProjectScopeParameters(scope) },
  );
  return new Map(rows.map(({ host, last }) => [host, Number(last)]));
};
