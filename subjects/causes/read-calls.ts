/** Activity of services and their calls by minute, from span counts. */

import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { addToList } from '../../schemas/add-to-list.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { createNode, readEdges } from '../services/edges.ts';
import { minutesCondition, toMinutesParameters } from '../services/minutes.ts';
import type { ContextEdge, IncidentContext, MinuteActivity } from './incident-context.ts';

/**
 * Connections of synchronous calls. Messages to a queue are not followed, because they do not slow down their sender.
 */
const synchronousConnections = ['request', 'query'];
const maxEdges = 2000;
const maxNodes = 60;
const maxDepth = 6;
const maxRows = 200_000;

/** Returns the SQL expression of a resource's host, as different senders name it. */
export const hostExpression = (attributes: string): string =>
  `multiIf(${attributes}['host.name'] != '', ${attributes}['host.name'], ${attributes}['k8s.node.name'] != '', ${attributes}['k8s.node.name'], ${attributes}['host.id'])`;

interface CountedRow {
  readonly at: number;
  readonly requests: string;
  readonly errors: string;
  readonly duration: number;
  readonly buckets: Readonly<Record<string, string>>;
}

const toMinute = ({ at, requests, errors, duration, buckets }: CountedRow): MinuteActivity => ({
  atMs: at * 1000,
  requests: Number(requests),
  errors: Number(errors),
  durationSum: duration,
  buckets: new Map(Object.entries(buckets).map(([bucket, spans]) => [Number(bucket), Number(spans)])),
});

const countColumns = `toUnixTimestamp(minute) AS at, toString(sum(requests)) AS requests_in, toString(sum(errors)) AS errors_in,
  toFloat64(sum(duration_sum)) AS duration, sumMap(duration_buckets) AS buckets`;
const withCounts = <Row extends { requests_in: string; errors_in: string }>(row: Row) => ({
  ...row,
  requests: row.requests_in,
  errors: row.errors_in,
});
type NamedCounts = Omit<CountedRow, 'requests' | 'errors'> & {
  readonly requests_in: string;
  readonly errors_in: string;
};

/** Returns the nodes that some nodes call, directly or indirectly, nearest first. */
const findCallees = async (
  columns: TenantColumns,
  symptoms: readonly string[],
  minutes: Range,
  scope: ProjectScope,
): Promise<string[]> => {
  const edgesResult = await readEdges(columns, scope, { minutes, limit: maxEdges, isMap: true });
  const edges = edgesResult
    .filter(({ edge }) => synchronousConnections.includes(edge.connection))
    .map(({ edge }) => edge);
  const reachedNodes = new Set(symptoms);
  let frontier = symptoms;
  for (let depth = 0; depth < maxDepth && frontier.length > 0; depth++) {
    const frontierIds = new Set(frontier);
    frontier = edges
      .filter(({ client, server }) => frontierIds.has(client.id) && !reachedNodes.has(server.id))
      .map(({ server }) => server.id);
    for (const node of frontier) if (reachedNodes.size < maxNodes) reachedNodes.add(node);
  }
  return [...reachedNodes];
};

const toServiceNames = (nodes: readonly string[]): string[] =>
  nodes.filter((node) => node.startsWith('service:')).map((node) => node.slice('service:'.length));

const readEdgeMinutes = async (
  columns: TenantColumns,
  clients: readonly string[],
  minutes: Range,
  scope: ProjectScope,
): Promise<ContextEdge[]> => {
  const rows = await columns.query<NamedCounts & { client: string; server: string; kind: never; system: string }>(
    `SELECT client, server, server_kind AS kind, system, ${countColumns} FROM service_edges
    WHERE tenant_id = {tenant:String} AND ${minutesCondition} AND client_kind = 'service' AND client IN {clients:Array(String)}
      AND connection IN {waited:Array(String)}${buildProjectScopeCondition(scope, ['project_id', 'server_project_id'])}
    GROUP BY client, server, kind, system, minute ORDER BY minute LIMIT ${maxRows}`,
    { ...toMinutesParameters(minutes), ...toProjectScopeParameters(scope), clients, waited: synchronousConnections },
    { maxResultRows: maxRows },
  );
  const byEdge = Map.groupBy(rows, ({ client, server, kind, system }) => {
    const isSystem = kind === 'database' || kind === 'queue';
    return JSON.stringify([createNode('service', client).id, createNode(kind, server, isSystem ? system : '').id]);
  });
  return [...byEdge].map(([key, edgeRows]) => {
    const [client, server] = JSON.parse(key) as [string, string];
    return { client, server, minutes: edgeRows.map((row) => toMinute(withCounts(row))) };
  });
};

type HostMinutes = Map<string, Map<string, MinuteActivity[]>>;

/** Returns the requests by service and host: of these services, and of all services on these hosts. */
const readHostMinutes = async (
  columns: TenantColumns,
  { services, hosts }: { readonly services: readonly string[]; readonly hosts: readonly string[] },
  minutes: Range,
  scope: ProjectScope,
): Promise<HostMinutes> => {
  const rows = await columns.query<NamedCounts & { of: string; host: string }>(
    `SELECT service AS of, place.host AS host, ${countColumns}
    FROM resource_activity LEFT JOIN (
      SELECT resource_id, any(${hostExpression('attributes')}) AS host FROM resources WHERE tenant_id = {tenant:String} GROUP BY resource_id
    ) AS place ON resource_activity.resource_id = place.resource_id
    WHERE tenant_id = {tenant:String} AND ${minutesCondition}${buildProjectScopeCondition(scope)} AND service != ''
      AND (service IN {services:Array(String)} OR place.host IN {hosts:Array(String)})
    GROUP BY of, host, minute HAVING sum(requests) > 0 ORDER BY minute LIMIT ${maxRows}`,
    { ...toMinutesParameters(minutes), ...toProjectScopeParameters(scope), services, hosts },
    { maxResultRows: maxRows },
  );
  const minutesByNode: HostMinutes = new Map();
  for (const row of rows) {
    const node = createNode('service', row.of).id;
    const minutesByHost = minutesByNode.get(node) ?? new Map<string, MinuteActivity[]>();
    minutesByNode.set(node, minutesByHost);
    addToList(minutesByHost, row.host, toMinute(withCounts(row)));
  }
  return minutesByNode;
};

/** Sums the minutes of all hosts. */
const mergeHosts = (hosts: ReadonlyMap<string, readonly MinuteActivity[]>): MinuteActivity[] => {
  const byMinute = Map.groupBy([...hosts.values()].flat(), ({ atMs }) => atMs);
  return [...byMinute]
    .toSorted(([left], [right]) => left - right)
    .map(([atMs, minuteList]) => {
      const buckets = new Map<number, number>();
      for (const minuteActivity of minuteList)
        for (const [bucket, spans] of minuteActivity.buckets) buckets.set(bucket, (buckets.get(bucket) ?? 0) + spans);
      const sum = (getValue: (minute: MinuteActivity) => number): number =>
        minuteList.reduce((total, minuteActivity) => total + getValue(minuteActivity), 0);
      return {
        atMs,
        buckets,
        requests: sum(({ requests }) => requests),
        errors: sum(({ errors }) => errors),
        durationSum: sum(({ durationSum }) => durationSum),
      };
    });
};

/** Returns the services of some hosts. */
export const readServicesOfHosts = async (
  columns: TenantColumns,
  hosts: readonly string[],
  minutes: Range,
): Promise<string[]> => {
  const rows = await columns.query<{ of: string }>(
    `SELECT service AS of FROM resource_activity WHERE tenant_id = {tenant:String} AND ${minutesCondition} AND service != ''
      AND resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND ${hostExpression('attributes')} IN {hosts:Array(String)})
    GROUP BY of HAVING sum(requests) > 0 ORDER BY sum(requests) DESC LIMIT 20`,
    { ...toMinutesParameters(minutes), hosts },
  );
  return rows.map(({ of }) => of);
};

/** Reads nodes, edges and hosts of a context: callees of the symptoms, and services on the same hosts. */
export const readCalls = async (
  columns: TenantColumns,
  symptoms: readonly string[],
  minutes: Range,
  scope: ProjectScope,
): Promise<Pick<IncidentContext, 'nodes' | 'edges' | 'hosts'>> => {
  const services = toServiceNames(await findCallees(columns, symptoms, minutes, scope));
  const [edges, hostMinutes] = await Promise.all([
    readEdgeMinutes(columns, services, minutes, scope),
    readHostMinutes(columns, { services, hosts: [] }, minutes, scope),
  ]);
  const sharedHosts = [...new Set([...hostMinutes.values()].flatMap((hosts) => [...hosts.keys()]))].filter(
    (host) => host !== '',
  );
  const neighbourMinutes =
    sharedHosts.length === 0
      ? new Map()
      : await readHostMinutes(columns, { services: [], hosts: sharedHosts }, minutes, scope);
  return {
    edges,
    nodes: new Map([...hostMinutes].map(([node, hosts]) => [node, mergeHosts(hosts)])),
    hosts: new Map([...neighbourMinutes, ...hostMinutes]),
  };
};
