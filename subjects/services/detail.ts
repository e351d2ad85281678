/** One service: its instances, versions and runtimes, and their common attributes */

import { z } from 'zod';
import { Attributes } from '../../queries/attributes.ts';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import { getResources, type Resource } from '../../queries/resources.ts';
import { type Incompleteness, Unknown } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { anyRowClause } from '../../schemas/tables/any-row.ts';
import { type ActivityFilter, buildActivityFilter } from './activity-filter.ts';
import { readEdges } from './edges.ts';

const telemetryFields = {
  logs: z.int(),
  spans: z.int(),
  requests: z.int(),
  errors: z.int().describe('Requests with status error'),
  firstSeen: z.string().describe('Time of the first record or span in the range'),
  lastSeen: z.string(),
} as const;

const Instance = z.strictObject({
  id: z
    .string()
    .describe(
      'First of these attributes that the resource has: `service.instance.id`, `k8s.pod.uid`, `k8s.pod.name`, `container.id`, `host.name`; otherwise a number of the resource',
    ),
  version: z.string().describe('Last version of the instance'),
  versions: z.array(z.string()).describe('All versions of the instance in the range, the last one first'),
  environment: z.string(),
  host: z.string(),
  pod: z.string(),
  container: z.string(),
  ...telemetryFields,
});
const Version = z.strictObject({
  version: z.string(),
  environments: z.array(z.string()),
  instances: z.int(),
  ...telemetryFields,
  firstReceived: z
    .union([z.string(), Unknown])
    .describe('Time at which the organization first received data of this version'),
});

export const ServiceParts = z.strictObject({
  instances: z.array(Instance).describe('Instances in the range, the most recent first'),
  versions: z.array(Version),
  environments: z.array(z.string()),
  runtimes: z.array(z.strictObject({ language: z.string(), name: z.string(), version: z.string() })),
  sdks: z.array(z.strictObject({ name: z.string(), version: z.string(), language: z.string() })),
  attributes: Attributes.describe('Resource attributes that all instances share'),
  endpoints: z.strictObject({ count: z.int().describe('Endpoints that received requests') }),
  dependencies: z
    .strictObject({ callers: z.int(), services: z.int(), databases: z.int(), queues: z.int(), external: z.int() })
    .describe('Numbers of callers and of called services (`/api/dependencies`)'),
});
type ServiceParts = z.output<typeof ServiceParts>;
type TelemetrySums = { -readonly [Name in keyof typeof telemetryFields]: z.output<(typeof telemetryFields)[Name]> };

/** Returns whether the scope contains stored data of a service. */
export const isService = async (
  { columns }: TenantReader,
  filter: ProjectScope & { readonly service: string },
): Promise<boolean> => {
  const scope = buildProjectScopeCondition(filter);
  const values = { service: filter.service, ...toProjectScopeParameters(filter) };
  const inScope =
    scope === ''
      ? ''
      : ` AND resource_id IN (SELECT resource_id FROM resource_activity WHERE tenant_id = {tenant:String} AND service = {service:String}${scope})`;
  const queryResults = await Promise.all([
    columns.query(
      `SELECT 1 FROM resources WHERE tenant_id = {tenant:String} AND service = {service:String}${inScope} ${anyRowClause}`,
      values,
    ),
    columns.query(
      `SELECT 1 FROM series WHERE tenant_id = {tenant:String} AND service = {service:String}${scope} ${anyRowClause}`,
      values,
    ),
  ]);
  return filter.service !== '' && queryResults.some((rows) => rows.length > 0);
};

interface ResourceRow {
  readonly id: string;
  readonly all_logs: string;
  readonly all_spans: string;
  readonly all_requests: string;
  readonly all_errors: string;
  readonly first: string;
  readonly last: string;
}

const maxResources = 1_000;
const maxEdges = 1_000;

const toSums = (row: ResourceRow): TelemetrySums => ({
  logs: Number(row.all_logs),
  spans: Number(row.all_spans),
  requests: Number(row.all_requests),
  errors: Number(row.all_errors),
  firstSeen: formatTime(BigInt(row.first)),
  lastSeen: formatTime(BigInt(row.last)),
});

const addSums = (left: TelemetrySums, right: TelemetrySums): TelemetrySums => ({
  logs: left.logs + right.logs,
  spans: left.spans + right.spans,
  requests: left.requests + right.requests,
  errors: left.errors + right.errors,
  firstSeen: [left.firstSeen, right.firstSeen].sort()[0] ?? '',
  lastSeen: [left.lastSeen, right.lastSeen].sort()[1] ?? '',
});

/** Returns the instances, versions and runtimes of a service in a range. */
export const readServiceParts = async (
  { columns }: TenantReader,
  filter: ActivityFilter & { readonly service: string },
): Promise<{ readonly parts: ServiceParts; readonly partial: readonly Incompleteness[] }> => {
  const { where, parameters } = buildActivityFilter(filter);
  const [rows, received, endpoints, edges] = await Promise.all([
    columns.query<ResourceRow>(
      `SELECT toString(resource_id) AS id, toString(sum(logs)) AS all_logs, toString(sum(spans)) AS all_spans, toString(sum(requests)) AS all_requests, toString(sum(errors)) AS all_errors,
        toString(toUnixTimestamp64Nano(min(first_seen))) AS first, toString(toUnixTimestamp64Nano(max(last_seen))) AS last
      FROM resource_activity WHERE ${where} GROUP BY resource_id ORDER BY max(last_seen) DESC, resource_id LIMIT ${maxResources + 1}`,
      parameters,
    ),
    readFirstReceipts({ columns }, filter.service),
    columns.query<{ endpoints: string }>(
      `SELECT toString(uniqExact(endpoint)) AS endpoints FROM span_metrics WHERE ${buildActivityFilter({ ...filter, environment: undefined }).where} AND kind IN (0, 1, 2, 5)`,
      buildActivityFilter({ ...filter, environment: undefined }).parameters,
    ),
    readEdges(columns, filter, { minutes: filter.minutes, limit: maxEdges + 1, isMap: true }),
  ]);
  const returnedRows = rows.slice(0, maxResources);
  const resources = await getResources(
    columns,
    returnedRows.map(({ id }) => id),
  );
  const resourceActivities = returnedRows.map((row) => ({
    ...row,
    sums: toSums(row),
    text: createAttributeReader(resources.get(row.id)),
  }));
  const partial: Incompleteness[] = [];
  if (rows.length > maxResources)
    partial.push({
      code: 'groups',
      message: `there are more than ${maxResources} resources; only the most recently seen are shown`,
    });
  if (edges.length > maxEdges) partial.push({ code: 'groups', message: `only ${maxEdges} dependencies are counted` });
  const listDistinct = (key: string): string[] =>
    [...new Set(resourceActivities.map(({ text: getAttribute }) => getAttribute(key)))]
      .filter((getAttribute) => getAttribute !== '')
      .sort();
  return {
    parts: {
      instances: toInstances(resourceActivities),
      versions: toVersions(resourceActivities, received),
      environments: listDistinct('environment'),
      runtimes: toDistinctItems(
        resourceActivities.map(({ text }) => ({
          language: text('telemetry.sdk.language'),
          name: text('process.runtime.name'),
          version: text('process.runtime.version'),
        })),
      ),
      sdks: toDistinctItems(
        resourceActivities.map(({ text }) => ({
          name: text('telemetry.sdk.name'),
          version: text('telemetry.sdk.version'),
          language: text('telemetry.sdk.language'),
        })),
      ),
      attributes: findSharedAttributes(returnedRows.flatMap(({ id }) => resources.get(id) ?? [])),
      endpoints: { count: Number(endpoints[0]?.endpoints ?? 0) },
      dependencies: countDependencies(
        filter.service,
        edges.slice(0, maxEdges).map(({ edge }) => edge),
      ),
    },
    partial,
  };
};

type AttributeReader = (key: string) => string;
interface ResourceActivity {
  readonly id: string;
  readonly sums: TelemetrySums;
  readonly text: AttributeReader;
}

/**
 * Returns a function that reads resource attributes as text. `environment` reads the current or the former attribute
 * name.
 */
const createAttributeReader = (resource: Resource | undefined): AttributeReader => {
  const attribute = (key: string): string => {
    const value = resource?.attributes[key];
    return value === undefined || value === null ? '' : String(value);
  };
  return (key) =>
    key === 'environment'
      ? attribute('deployment.environment.name') || attribute('deployment.environment')
      : attribute(key);
};

const instanceKeys = ['service.instance.id', 'k8s.pod.uid', 'k8s.pod.name', 'container.id', 'host.name'];
const getInstanceId = ({ id, text }: ResourceActivity): string =>
  instanceKeys.map(text).find((value) => value !== '') ?? `resource ${id}`;

const compareByLastSeen = (left: { readonly lastSeen: string }, right: { readonly lastSeen: string }): number =>
  left.lastSeen < right.lastSeen ? 1 : -1;

/** An instance may run several versions in sequence, such as a host that is updated. Its version is the last one. */
const toInstances = (resourceActivities: readonly ResourceActivity[]): ServiceParts['instances'] => {
  const instances = new Map<string, ServiceParts['instances'][number]>();
  const latestFirst = resourceActivities.toSorted(({ sums: left }, { sums: right }) => compareByLastSeen(left, right));
  for (const resourceActivity of latestFirst) {
    const { text, sums } = resourceActivity;
    const id = getInstanceId(resourceActivity);
    const version = text('service.version');
    const existing = instances.get(id);
    if (existing !== undefined) {
      const versions = new Set([...existing.versions, version].filter((value) => value !== ''));
      instances.set(id, { ...existing, ...addSums(existing, sums), versions: [...versions] });
      continue;
    }
    instances.set(id, {
      id,
      version,
      versions: version === '' ? [] : [version],
      environment: text('environment'),
      host: text('host.name'),
      pod: text('k8s.pod.name'),
      container: text('container.id'),
      ...sums,
    });
  }
  return [...instances.values()].sort(compareByLastSeen);
};

const toVersions = (
  resourceActivities: readonly ResourceActivity[],
  received: ReadonlyMap<string, string>,
): ServiceParts['versions'] => {
  const versions = new Map<string, { sums: TelemetrySums; environments: Set<string>; instances: Set<string> }>();
  for (const resourceActivity of resourceActivities) {
    const version = resourceActivity.text('service.version');
    if (version === '') continue;
    const existing = versions.get(version);
    const { environments, instances } = existing ?? { environments: new Set<string>(), instances: new Set<string>() };
    if (resourceActivity.text('environment') !== '') environments.add(resourceActivity.text('environment'));
    instances.add(getInstanceId(resourceActivity));
    versions.set(version, {
      sums: existing === undefined ? resourceActivity.sums : addSums(existing.sums, resourceActivity.sums),
      environments,
      instances,
    });
  }
  return [...versions]
    .map(([version, { sums, environments, instances }]) => {
      const first = received.get(version);
      return {
        version,
        ...sums,
        environments: [...environments].sort(),
        instances: instances.size,
        firstReceived: first ?? { value: null, reason: 'it is not stored' },
      };
    })
    .sort(compareByLastSeen);
};

/** Returns when the organization first received data of each version of a service. */
const readFirstReceipts = async (
  { columns }: Pick<TenantReader, 'columns'>,
  service: string,
): Promise<ReadonlyMap<string, string>> => {
  const rows = await columns.query<{ version: string; first: string }>(
    `SELECT attributes['service.version'] AS version, toString(toUnixTimestamp64Milli(min(first_seen))) AS first FROM resources
    WHERE tenant_id = {tenant:String} AND service = {service:String} GROUP BY version ORDER BY first DESC LIMIT 10000`,
    { service },
  );
  return new Map(rows.map(({ version, first }) => [version, formatTime(BigInt(first) * 1_000_000n)]));
};

/** Returns the combinations without duplicates and without empty ones. */
const toDistinctItems = <Item extends Readonly<Record<string, string>>>(items: readonly Item[]): Item[] => {
  const itemsByKey = new Map(items.map((item) => [JSON.stringify(item), item]));
  return [...itemsByKey.values()]
    .filter((item) => Object.values(item).some((text) => text !== ''))
    .sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
};

const findSharedAttributes = (resources: readonly Resource[]): ServiceParts['attributes'] => {
  const [first, ...others] = resources;
  if (first === undefined) return {};
  const isShared = (key: string): boolean =>
    others.every(({ attributes }) => JSON.stringify(attributes[key]) === JSON.stringify(first.attributes[key]));
  return Object.fromEntries(Object.entries(first.attributes).filter(([key]) => isShared(key)));
};

type DependencyEdge = Awaited<ReturnType<typeof readEdges>>[number]['edge'];

const countDependencies = (service: string, edges: readonly DependencyEdge[]): ServiceParts['dependencies'] => {
  const isSelf = ({ kind, name }: DependencyEdge['client']): boolean => kind === 'service' && name === service;
  const callers = new Set(
    edges.filter(({ client, server }) => isSelf(server) && !isSelf(client)).map(({ client }) => client.id),
  );
  const calledNodes = new Map(
    edges
      .filter(({ client, server }) => isSelf(client) && !isSelf(server))
      .map(({ server }) => [server.id, server.kind]),
  );
  const count = (kind: string): number => [...calledNodes.values()].filter((calledNode) => calledNode === kind).length;
  return {
    callers: callers.size,
    services: count('service'),
    databases: count('database'),
    queues: count('queue'),
    external: count('external'),
  };
};
