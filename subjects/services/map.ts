/** Service map: nodes and edges of a time range */
import { z } from 'zod';
import { buildProjectScopeCondition, toProjectScopeParameters } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { createNode, Edge, type EdgeQuery, Node, readEdges } from './edges.ts';
import { minutesCondition, toMinutesParameters } from './minutes.ts';

const MapNode = Node.extend({
  requests: z.int().describe('Requests over the edges to this node'),
  errors: z.int().describe('Errors over the edges to this node'),
});
type MapNode = z.output<typeof MapNode>;

export const ServiceMap = z.strictObject({
  from: z.string(),
  to: z.string(),
  nodes: z.array(MapNode),
  edges: z.array(Edge),
  truncated: z.boolean().describe('Whether more edges exist; those with the most requests are returned'),
});

/** Returns a map of at most `limit` edges. Services that send spans but have no edges are included as nodes. */
export const readServiceMap = async (
  columns: TenantColumns,
  query: EdgeQuery,
  { minutes, limit }: { readonly minutes: Range; readonly limit: number },
): Promise<Pick<z.output<typeof ServiceMap>, 'nodes' | 'edges' | 'truncated'>> => {
  const edgeRows = await readEdges(columns, query, { minutes, limit: limit + 1, isMap: true });
  const edges = edgeRows.slice(0, limit).map(({ edge }) => edge);
  const nodes = new Map<string, MapNode>();
  const getNode = (node: Node): MapNode => {
    const mapNode = nodes.get(node.id) ?? { ...node, requests: 0, errors: 0 };
    nodes.set(node.id, mapNode);
    return mapNode;
  };
  for (const { client, server, requests, errors } of edges) {
    getNode(client);
    const serverNode = getNode(server);
    serverNode.requests += requests;
    serverNode.errors += errors;
  }
  for (const service of await readServiceNames(columns, query, minutes)) getNode(createNode('service', service));
  return {
    nodes: [...nodes.values()].sort((left, right) => (left.id < right.id ? -1 : 1)),
    edges,
    truncated: edgeRows.length > limit,
  };
};

const maxServices = 1_000;

/**
 * Returns services with spans in these minutes. Span counts have no environment, so with an environment only the
 * services of its edges are returned.
 */
const readServiceNames = async (columns: TenantColumns, query: EdgeQuery, minutes: Range): Promise<string[]> => {
  if (query.environment !== undefined) return [];
  const rows = await columns.query<{ service: string }>(
    `SELECT DISTINCT service FROM span_metrics WHERE tenant_id = {tenant:String} AND ${minutesCondition}
      AND service != '' AND ({service:String} = '' OR service = {service:String})${buildProjectScopeCondition(query)} ORDER BY service LIMIT ${maxServices}`,
    {
      ...toMinutesParameters(minutes),
      service: query.service ?? '',
      ...toProjectScopeParameters(query),
    },
  );
  return rows.map(({ service }) => service);
};
