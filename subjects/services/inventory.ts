/** Services of a range, with the telemetry that they sent */
import { z } from 'zod';
import { buildProjectScopeCondition } from '../../queries/project-scope.ts';
import { findRangeProblem } from '../../queries/range.ts';
import { type Incompleteness, Unknown } from '../../queries/result.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../../queries/series-first-seen.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import type { ServiceSettings } from '../../schemas/resources/apdex-settings.ts';
import { type ActivityFilter, buildActivityFilter, buildEnvironmentSql } from './activity-filter.ts';
import { getMetricValue, metricSorts } from './metric-sorts.ts';
import { toSeconds } from './minutes.ts';
import {
  createThresholdLookup,
  type RequestCountRow,
  RequestMetrics,
  requestCountColumns,
  toRequestCounts,
  toRequestMetrics,
} from './request-counts.ts';

const textList = z.array(z.string());

/** Telemetry that a service sent in the range */
export const SentTelemetry = z.strictObject({
  logs: z.union([z.int(), Unknown]).describe('Number of log records'),
  spans: z.int(),
  metrics: z.boolean().describe('Whether the service has a series that was seen in the range, or up to an hour before'),
});

export const ServiceSummary = z.strictObject({
  name: z
    .string()
    .describe(
      '`service.name` of the resource, or `service.namespace/service.name`; telemetry without a name belongs to no service',
    ),
  figures: z.union([RequestMetrics, Unknown]).describe('Request metrics; unknown for a service without spans'),
  sends: SentTelemetry,
  lastSeen: z
    .string()
    .describe('Time of the last record or span in the range; for a service with metrics only, to the hour'),
  environments: textList.describe('Deployment environments, at most 50; the same limit applies to the other lists'),
  versions: textList.describe('`service.version`, the most recent first'),
  languages: textList.describe('`telemetry.sdk.language`'),
  runtimes: textList.describe('`process.runtime.name` and version'),
});
export type ServiceSummary = z.output<typeof ServiceSummary>;

/** Sort orders of service lists */
export const serviceSorts = ['name', ...metricSorts, 'lastSeen'] as const;
type ServiceSort = (typeof serviceSorts)[number];

/** A service without the details of a page */
export const ServiceTotal = ServiceSummary.omit({
  environments: true,
  versions: true,
  languages: true,
  runtimes: true,
});
export type ServiceTotal = z.output<typeof ServiceTotal>;

/** Limit above the number of services of an organization; a truncated result is reported */
const maxServices = 10_000;
const maxListItems = 50;

interface ServiceRow extends RequestCountRow {
  readonly service: string;
  readonly all_logs: string;
  readonly all_spans: string;
  readonly last: string;
}

export interface InventoryQuery extends ActivityFilter {
  readonly search?: string | undefined;
  readonly settings: ServiceSettings;
  readonly apdexThresholdMs?: number | undefined;
}

/** Returns all services of the requested range, ordered by name. */
export const readServices = async (
  reader: TenantReader,
  query: InventoryQuery,
): Promise<{ readonly services: readonly ServiceTotal[]; readonly partial: readonly Incompleteness[] }> => {
  const { where, parameters } = buildActivityFilter(query);
  const nameCondition =
    query.search === undefined ? "service != ''" : 'positionCaseInsensitiveUTF8(service, {search:String}) > 0';
  const values = { ...parameters, ...(query.search !== undefined && { search: query.search }) };
  const [rows, metrics] = await Promise.all([
    reader.columns.query<ServiceRow>(
      `SELECT service, toString(sum(logs)) AS all_logs, toString(sum(spans)) AS all_spans, toString(toUnixTimestamp64Nano(max(last_seen))) AS last, ${requestCountColumns}
      FROM resource_activity WHERE ${where} AND ${nameCondition} GROUP BY service ORDER BY service LIMIT ${maxServices + 1}`,
      values,
    ),
    readMetricSenders(reader, query, nameCondition, values),
  ]);
  const getThresholdMs = createThresholdLookup(query.settings, query.apdexThresholdMs);
  const logsProblem = findRangeProblem(query.minutes, { caller: reader, signal: 'logs', nowMs: reader.nowMs });
  const seconds = toSeconds(query.minutes);
  const services = new Map<string, ServiceTotal>();
  for (const row of rows) {
    const name = row.service;
    services.set(name, {
      name,
      figures:
        row.all_spans === '0' ? noSpansValue : toRequestMetrics(toRequestCounts(row), seconds, getThresholdMs(name)),
      sends: {
        logs: logsProblem === undefined ? Number(row.all_logs) : { value: null, reason: logsProblem },
        spans: Number(row.all_spans),
        metrics: metrics.has(name),
      },
      lastSeen: formatTime(BigInt(row.last)),
    });
  }
  for (const [name, last] of metrics)
    if (!services.has(name))
      services.set(name, {
        name,
        figures: noSpansValue,
        lastSeen: formatTime(BigInt(last) * 1_000_000n),
        sends: { logs: logsProblem === undefined ? 0 : { value: null, reason: logsProblem }, spans: 0, metrics: true },
      });
  const partial: Incompleteness[] =
    rows.length > maxServices || metrics.size > maxServices
      ? [
          {
            code: 'groups',
            message: `there are more than ${maxServices} services; search for a name, or select one project`,
          },
        ]
      : [];
  return { services: [...services.values()].sort(compareByName).slice(0, maxServices), partial };
};

/** Returns a service without telemetry in the range. */
export const createEmptyService = (name: string) => ({
  name,
  figures: noSpansValue,
  sends: { logs: 0, spans: 0, metrics: false },
  lastSeen: { value: null, reason: 'the service sent nothing in this range' },
});

const noSpansValue: z.output<typeof Unknown> = { value: null, reason: 'the service sent no spans in this range' };

const compareByName = (left: { readonly name: string }, right: { readonly name: string }): number =>
  left.name < right.name ? -1 : left.name > right.name ? 1 : 0;

/** Returns services with series in the range, each with the time of its last series row (epoch milliseconds). */
const readMetricSenders = async (
  { columns, ...reader }: TenantReader,
  query: ActivityFilter,
  nameCondition: string,
  values: Record<string, string>,
): Promise<ReadonlyMap<string, string>> => {
  if (findRangeProblem(query.minutes, { caller: reader, signal: 'metrics', nowMs: reader.nowMs }) !== undefined)
    return new Map();
  const environment =
    query.environment === undefined
      ? ''
      : ` AND resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND ${buildEnvironmentSql('attributes')} = {environment:String})`;
  const rows = await columns.query<{ service: string; last: string }>(
    `SELECT service, toString(toUnixTimestamp64Milli(max(last_seen))) AS last FROM series
    WHERE tenant_id = {tenant:String} AND ${seriesSeenCondition} AND ${nameCondition}${buildProjectScopeCondition(query)}${query.service === undefined ? '' : ' AND service = {service:String}'}${environment}
    GROUP BY service ORDER BY service LIMIT ${maxServices + 1}`,
    { ...values, ...toSeriesSeenParameters(query.minutes) },
  );
  return new Map(rows.map(({ service, last }) => [service, last]));
};

/** Returns the sort key of services. */
export const createSortKey =
  (sort: ServiceSort) =>
  (service: ServiceTotal): string | number | undefined => {
    if (sort === 'name') return service.name;
    if (sort === 'lastSeen') return service.lastSeen;
    return 'requests' in service.figures ? getMetricValue(service.figures, sort) : undefined;
  };

/** Adds resource details to services. */
export const describeServices = async (
  { columns }: TenantReader,
  filter: ActivityFilter,
  services: readonly ServiceTotal[],
): Promise<ServiceSummary[]> => {
  if (services.length === 0) return [];
  const { where, parameters } = buildActivityFilter(filter);
  const distinct = (expression: string): string =>
    `arraySlice(arraySort(groupUniqArrayIf(200)(${expression}, ${expression} != '')), 1, ${maxListItems})`;
  const rows = await columns.query<
    { name: string } & Pick<ServiceSummary, 'environments' | 'versions' | 'languages' | 'runtimes'>
  >(
    `SELECT service AS name, ${distinct(buildEnvironmentSql('attributes'))} AS environments, ${distinct("attributes['telemetry.sdk.language']")} AS languages,
      ${distinct("trimBoth(concat(attributes['process.runtime.name'], ' ', attributes['process.runtime.version']))")} AS runtimes,
      arraySlice(arrayDistinct(arrayMap(seen -> seen.2, arrayReverseSort(groupArrayIf(1000)((last_seen, attributes['service.version']), attributes['service.version'] != '')))), 1, ${maxListItems}) AS versions
    FROM resources WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)}${filter.environment === undefined ? '' : ` AND ${buildEnvironmentSql('attributes')} = {environment:String}`} AND resource_id GLOBAL IN (
      SELECT resource_id FROM resource_activity WHERE ${where} AND service IN {services:Array(String)}
      UNION ALL SELECT resource_id FROM series WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} AND ${seriesSeenCondition}${buildProjectScopeCondition(filter)}
    ) GROUP BY service`,
    { ...parameters, ...toSeriesSeenParameters(filter.minutes), services: services.map(({ name }) => name) },
  );
  const rowsByName = new Map(rows.map((row) => [row.name, row]));
  const noDetails = { environments: [], versions: [], languages: [], runtimes: [] };
  return services.map((service) => ({ ...service, ...(rowsByName.get(service.name) ?? noDetails) }));
};

/** Returns the telemetry of one service; `undefined` if it sent none in the range. */
export const readService = async (
  reader: TenantReader,
  query: InventoryQuery & { readonly service: string },
): Promise<ServiceTotal | undefined> =>
  (await readServices(reader, query)).services.find(({ name }) => name === query.service);
