/** Databases in a range: from the calls of services, and from the metrics of monitoring agents. */
import { z } from 'zod';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../../queries/series-first-seen.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { NumberOrReason, toKnownNumber, toUnknownNumber } from '../../queries/unknown-numbers.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { CallDurations, type CallMetricsRow, callColumns, toCallMetrics } from '../services/call-metrics.ts';
import { engines } from './engines.ts';
import { buildSystemExpression, getCurrentSystemName } from './systems.ts';

const Calls = z.strictObject({
  requests: z.int(),
  errors: z.int(),
  ratePerSecond: z.number(),
  errorRate: z.number().describe('Error rate, 0 to 1'),
  duration: CallDurations.nullable().describe(
    'Duration in nanoseconds, as measured by callers; quantiles are accurate within 4.4 %',
  ),
  callers: z.array(z.string()).describe('Calling services; up to 50'),
});

export const DatabaseInstance = z.strictObject({
  id: z.string().describe('ID, from engine and name'),
  engine: z.string().describe('Product, by its current name in the semantic conventions; empty if unknown'),
  name: z.string().describe('Database, or host if the database is unknown; empty if metrics name neither'),
  addresses: z.array(z.string()).describe('Hosts and ports; up to 20'),
  seenBy: z.array(z.enum(['calls', 'metrics'])),
  calls: z.union([Calls, z.strictObject({ value: z.null(), reason: z.string() })]),
  series: NumberOrReason.describe('Time series of the database'),
  lastSeen: z.string().describe('Minute of the last call; for a database with metrics only, to the hour'),
});
export type DatabaseInstance = z.output<typeof DatabaseInstance>;

export interface InstanceQuery extends ProjectScope {
  readonly engine?: string | undefined;
}

interface CallRow extends CallMetricsRow {
  readonly engine: string;
  readonly name: string;
  readonly addresses: readonly string[];
  readonly callers: readonly string[];
  readonly last: string;
}

interface SeriesRow {
  readonly engine: string;
  readonly name: string;
  readonly host: string;
  readonly all: string;
  readonly last: string;
}

const maxInstances = 5_000;
const noCalls = 'no service called it in a span in this range';
const noMetrics = 'no metrics for it were received in this range';
const createPlanMessage = (signal: string): string => `the plan does not include ${signal}`;

/**
 * Returns the SQL condition for rows of `service_edges` that are database calls in these minutes. Its parameters are
 * `{from:Int64}` and `{to:Int64}`, in seconds.
 */
export const buildDatabaseCallsSql = (query: InstanceQuery): string =>
  `service_edges WHERE tenant_id = {tenant:String} AND minute >= toDateTime({from:Int64}, 'UTC') AND minute <= toDateTime({to:Int64}, 'UTC')
      AND toStartOfHour(minute) >= toStartOfHour(toDateTime({from:Int64}, 'UTC')) AND toStartOfHour(minute) <= toDateTime({to:Int64}, 'UTC')
      AND server_kind = 'database' AND connection = 'query'${query.engine === undefined ? '' : ` AND ${buildSystemExpression('system')} = {engine:String}`}${buildProjectScopeCondition(query, ['project_id', 'server_project_id'])}`;

/** Returns the parameters of that SQL. */
export const buildCallParameters = (query: InstanceQuery, minutes: Range): Record<string, string> => ({
  from: String(minutes.from / 1_000_000_000n),
  to: String((minutes.to - 1n) / 1_000_000_000n),
  ...(query.engine === undefined ? {} : { engine: getCurrentSystemName(query.engine) }),
  ...toProjectScopeParameters(query),
});

const readCalls = (reader: TenantReader, query: InstanceQuery, minutes: Range): Promise<CallRow[]> =>
  reader.columns.query<CallRow>(
    `SELECT ${buildSystemExpression('system')} AS engine, server AS name, arraySort(groupUniqArrayIf(20)(address, address != '')) AS addresses,
      arraySort(groupUniqArrayIf(50)(client, client_kind = 'service')) AS callers,
      ${callColumns}, toString(toInt64(toUnixTimestamp(max(minute)))) AS last
    FROM ${buildDatabaseCallsSql(query)} GROUP BY engine, name ORDER BY engine, name LIMIT ${maxInstances}`,
    buildCallParameters(query, minutes),
  );

const metricPrefixes = engines.flatMap(({ name, prefixes: enginePrefixes }) =>
  enginePrefixes.map((prefix) => [name, prefix] as const),
);
const engineExpression = `multiIf(${metricPrefixes.map(([name, prefix]) => `startsWith(metric, ${quoteString(prefix)}), ${quoteString(name)}`).join(', ')}, '')`;
const attributeExpression = (keys: readonly string[]): string =>
  `coalesce(${keys.flatMap((key) => [`nullIf(s.attributes[${quoteString(key)}], '')`, `nullIf(r.attributes[${quoteString(key)}], '')`]).join(', ')}, '')`;
/** Attributes in which receivers and exporters name the monitored database and server. */
const databaseNames = [
  'postgresql.database.name',
  'mysql.instance.endpoint',
  'sqlserver.database.name',
  'database',
  'datname',
  'server',
];
const serverNames = ['server.address', 'service.instance.id', 'instance', 'host.name'];

/** Returns the databases that metrics name, from the active series. */
const readMonitored = (reader: TenantReader, query: InstanceQuery, minutes: Range): Promise<SeriesRow[]> =>
  reader.columns.query<SeriesRow>(
    `SELECT ${engineExpression} AS engine, ${attributeExpression(databaseNames)} AS name, ${attributeExpression(serverNames)} AS host,
      toString(uniqExact(s.series_id)) AS all, toString(toUnixTimestamp64Milli(max(s.seen))) AS last
    FROM (SELECT metric, series_id, resource_id, any(attributes) AS attributes, max(last_seen) AS seen FROM series
      WHERE tenant_id = {tenant:String} AND ${seriesSeenCondition}
        AND (${metricPrefixes.map(([, prefix]) => `startsWith(metric, ${quoteString(prefix)})`).join(' OR ')})${query.engine === undefined ? '' : ` AND ${engineExpression} = {engine:String}`}${buildProjectScopeCondition(query)}
      GROUP BY metric, series_id, resource_id) AS s
    LEFT JOIN (SELECT resource_id, any(attributes) AS attributes FROM resources WHERE tenant_id = {tenant:String} GROUP BY resource_id) AS r USING (resource_id)
    GROUP BY engine, name, host ORDER BY engine, name, host LIMIT ${maxInstances}`,
    {
      ...toSeriesSeenParameters({ from: minutes.from, to: minutes.to - 1n }),
      ...(query.engine === undefined ? {} : { engine: getCurrentSystemName(query.engine) }),
      ...toProjectScopeParameters(query),
    },
  );

/**
 * Returns databases by engine and name over complete minutes. A monitored and a called database are merged if both have
 * the same name or host. Data that the plan does not include is omitted, with the reason.
 */
export const readDatabases = async (
  reader: TenantReader,
  query: InstanceQuery,
  minutes: Range,
): Promise<{ readonly items: DatabaseInstance[]; readonly isTruncated: boolean }> => {
  const { entitlements } = reader.plan;
  const [calls, monitoredRows] = await Promise.all([
    entitlements.includes('traces') ? readCalls(reader, query, minutes) : [],
    entitlements.includes('metrics') ? readMonitored(reader, query, minutes) : [],
  ]);
  const seconds = Number(minutes.to - minutes.from) / 1e9;
  const missing = {
    calls: entitlements.includes('traces') ? noCalls : createPlanMessage('traces'),
    series: toUnknownNumber(entitlements.includes('metrics') ? noMetrics : createPlanMessage('metrics')),
  };
  const databases = calls.map((row) => toCalledInstance(row, seconds, missing.series));
  for (const row of monitoredRows) mergeMonitored(databases, row, missing.calls);
  return {
    items: databases.sort((left, right) => (left.id < right.id ? -1 : 1)),
    isTruncated: calls.length === maxInstances || monitoredRows.length === maxInstances,
  };
};

/** Adds a monitored instance, merged with a called one if possible. */
const mergeMonitored = (databases: DatabaseInstance[], row: SeriesRow, noCallsReason: string): void => {
  const index = databases.findIndex((instance) => isSameDatabase(instance, row));
  const { id, engine, name, host } = { id: toInstanceId(row.engine, row.name || row.host), ...row };
  const lastSeen = formatTime(BigInt(row.last) * 1_000_000n);
  const existing = databases[index] ?? {
    id,
    engine,
    name: name || host,
    addresses: host === '' ? [] : [host],
    seenBy: [],
    lastSeen,
    calls: { value: null, reason: noCallsReason },
    series: toKnownNumber(0),
  };
  databases[index < 0 ? databases.length : index] = {
    ...existing,
    seenBy: existing.seenBy.includes('metrics') ? existing.seenBy : [...existing.seenBy, 'metrics'],
    series: toKnownNumber((existing.series.value ?? 0) + Number(row.all)),
    lastSeen: [lastSeen, existing.lastSeen].sort()[1] as string,
  };
};

const removePort = (address: string): string => address.replace(/:\d+$/, '');

const isSameDatabase = (instance: DatabaseInstance, row: SeriesRow): boolean =>
  instance.engine === row.engine &&
  ((row.name !== '' && instance.name === row.name) ||
    (row.host !== '' &&
      [instance.name, ...instance.addresses].some(
        (address) => address === row.host || removePort(address) === removePort(row.host),
      )));

const toInstanceId = (engine: string, name: string): string => `${engine}:${name}`;

const toCalledInstance = (row: CallRow, seconds: number, series: NumberOrReason): DatabaseInstance => {
  return {
    id: toInstanceId(row.engine, row.name),
    engine: row.engine,
    name: row.name,
    addresses: [...row.addresses],
    seenBy: ['calls'],
    calls: {
      ...toCallMetrics(row, seconds),
      callers: [...row.callers],
    },
    series,
    lastSeen: formatTime(BigInt(row.last) * 1_000_000_000n),
  };
};
