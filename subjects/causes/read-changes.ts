/** Changes around a symptom: deployments, reported configuration changes, restarts and OOM kills. */
import { canRead } from '../../queries/entitlement.ts';
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { parseTime } from '../../queries/time.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { readEvents as readPlatformEvents } from '../events/events.ts';
import { type KubernetesEvent, readEvents as readClusterEvents } from '../kubernetes/events.ts';
import { readDeployments } from '../services/deployments.ts';
import { createNode } from '../services/edges.ts';
import { minutesCondition, toMinutesParameters } from '../services/minutes.ts';
import type { Change } from './incident-context.ts';

const maxChanges = 200;
const toMs = (time: string): number => Number((parseTime(time, 0) ?? 0n) / 1_000_000n);

/** Returns recorded and detected deployments. */
const readDeploymentChanges = async (reader: TenantReader, range: Range, scope: ProjectScope): Promise<Change[]> => {
  const result = await readDeployments(reader, { range, ...scope });
  return result.deployments.slice(0, maxChanges).map(({ service, version, time, isRollback }) => ({
    kind: 'deployment',
    node: createNode('service', service).id,
    atMs: toMs(time),
    title: `${isRollback === true ? 'rollback' : 'deployment'} of ${service} ${version}`.trim(),
    link: `/api/services/${encodeURIComponent(service)}/deployments`,
  }));
};

/**
 * Returns events of a service or host that users and programs reported (`POST /api/events`), such as changes of
 * configuration or feature flags, and migrations.
 */
const readCustomEvents = async (reader: TenantReader, range: Range, scope: ProjectScope): Promise<Change[]> => {
  const events = await readPlatformEvents(reader, { range, kinds: ['custom'], ...scope }, { limit: maxChanges });
  return events.flatMap(({ service, tags, time, title, link }) => {
    const host = tags['host.name'] ?? tags['host'];
    if (service === '' && host === undefined) return [];
    return [
      {
        kind: 'configuration' as const,
        atMs: toMs(time),
        title,
        link,
        ...(service === '' ? { host } : { node: createNode('service', service).id }),
      },
    ];
  });
};

/** Reasons of cluster events, with the kind of change. */
const eventReasons: readonly (readonly [reason: string, kind: Change['kind']])[] = [
  ['OOMKilling', 'oom-kill'],
  ['OOMKilled', 'oom-kill'],
  ['SystemOOM', 'oom-kill'],
  ['BackOff', 'restart'],
  ['Killing', 'restart'],
  ['Unhealthy', 'restart'],
];

/** Returns the services of pods, by pod name. */
const readServicesOfPods = async (
  columns: TenantColumns,
  pods: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (pods.length === 0) return new Map();
  const rows = await columns.query<{ pod: string; of: string }>(
    `SELECT attributes['k8s.pod.name'] AS pod, any(service) AS of FROM resources
    WHERE tenant_id = {tenant:String} AND service != '' AND attributes['k8s.pod.name'] IN {pods:Array(String)} GROUP BY pod`,
    { pods: [...new Set(pods)] },
  );
  return new Map(rows.map(({ pod, of }) => [pod, of]));
};

const toChange = (
  { id, eventTime, timestamp, object, node, message, reason }: KubernetesEvent,
  kind: Change['kind'],
  services: ReadonlyMap<string, string>,
): Change[] => {
  const service = services.get(object.name ?? '');
  const host = object.kind === 'Node' ? object.name : node;
  if (service === undefined && host === null) return [];
  return [
    {
      kind,
      atMs: toMs(eventTime ?? timestamp),
      link: `/api/logs/${encodeURIComponent(id)}`,
      title: `${reason ?? kind} of ${object.name ?? host}: ${message}`.slice(0, 200),
      ...(service === undefined ? { host: host ?? '' } : { node: createNode('service', service).id }),
    },
  ];
};

const readClusterChanges = async (reader: TenantReader, range: Range, scope: ProjectScope): Promise<Change[]> => {
  if (!canRead(reader, 'logs')) return [];
  const pages = await Promise.all(
    eventReasons.map(async ([reason, kind]) => ({
      kind,
      events: (await readClusterEvents(reader, range, { reason, ...scope }, { limit: maxChanges })).items,
    })),
  );
  const names = pages.flatMap(({ events }) => events.flatMap(({ object }) => object.name ?? []));
  const services = await readServicesOfPods(reader.columns, names);
  // Only the first event of a change is reported: a restart causes several events.
  const reportedChanges = new Set<string>();
  return pages
    .flatMap(({ kind, events }) => events.flatMap((event) => toChange(event, kind, services)))
    .toSorted((left, right) => left.atMs - right.atMs)
    .filter(({ kind, node, host }) => {
      const key = `${kind} ${node ?? host}`;
      return reportedChanges.has(key) ? false : reportedChanges.add(key) !== undefined;
    });
};

/**
 * Maximum time between the end of an instance and the first records of its replacement with the same service, host and
 * version, for a restart.
 */
const maxReplacementMs = 180_000;

/** Returns the restarts of services: instances that replaced others with the same version. */
const findRestarts = async (
  { columns }: TenantReader,
  services: readonly string[],
  range: Range,
): Promise<Change[]> => {
  const rows = await columns.query<{ of: string; place: string; instance: string; first: string; last: string }>(
    `SELECT service AS of, said.place AS place, said.instance AS instance,
      toString(toUnixTimestamp64Milli(min(first_seen))) AS first, toString(toUnixTimestamp64Milli(max(last_seen))) AS last
    FROM resource_activity INNER JOIN (
      SELECT resource_id, any(concat(attributes['host.name'], ' ', attributes['service.version'])) AS place,
        any(multiIf(attributes['service.instance.id'] != '', attributes['service.instance.id'], attributes['process.pid'])) AS instance
      FROM resources WHERE tenant_id = {tenant:String} AND service IN {services:Array(String)} GROUP BY resource_id
    ) AS said ON resource_activity.resource_id = said.resource_id
    WHERE tenant_id = {tenant:String} AND ${minutesCondition} AND service IN {services:Array(String)} AND said.instance != ''
    GROUP BY of, place, instance LIMIT 10000`,
    { ...toMinutesParameters(range), services },
  );
  const fromMs = Number(range.from / 1_000_000n);
  return rows
    .filter(({ first }) => Number(first) > fromMs + maxReplacementMs)
    .flatMap((row) => {
      const replacedInstance = rows.find(
        (other) =>
          other.instance !== row.instance &&
          other.of === row.of &&
          other.place === row.place &&
          Number(other.first) < Number(row.first) &&
          Math.abs(Number(other.last) - Number(row.first)) < maxReplacementMs,
      );
      return replacedInstance === undefined
        ? []
        : [
            {
              kind: 'restart' as const,
              node: createNode('service', row.of).id,
              link: '',
              // The service was down from the last records of the replaced instance on.
              atMs: Math.min(Number(row.first), Number(replacedInstance.last)),
              title: `${row.of} was restarted: ${replacedInstance.instance} → ${row.instance}`,
            },
          ];
    });
};

/** Reads all changes in a range, whether or not they are on the path of a symptom. */
export const readChanges = async (
  reader: TenantReader,
  services: readonly string[],
  range: Range,
  scope: ProjectScope,
): Promise<Change[]> =>
  (
    await Promise.all([
      readDeploymentChanges(reader, range, scope),
      readCustomEvents(reader, range, scope),
      readClusterChanges(reader, range, scope),
      findRestarts(reader, services, range),
    ])
  ).flat();
