/** Calls between services in a time range, from the table of service edges */
import { z } from 'zod';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { type Connection, connections, type NodeKind, nodeKinds, unpairedReasons } from '../../schemas/edges.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { CallDurations, type CallMetricsRow, callColumns, toCallMetrics } from './call-metrics.ts';
import { minutesCondition, toMinutesParameters, toSeconds } from './minutes.ts';

/** A caller or a called node */
export const Node = z.strictObject({
  id: z.string().describe('Kind, product and name; stable across responses'),
  kind: z
    .enum(nodeKinds)
    .describe(
      '`external`: an external host; `user`: a caller without a span of its own; `unknown`: a node whose span was not received and that nothing identifies',
    ),
  name: z.string().describe('Name; empty for `user` and `unknown`'),
  system: z.string().describe('Product of a database or queue, such as `postgresql` or `kafka`; otherwise empty'),
});
export type Node = z.output<typeof Node>;

/** Calls from one node to another */
export const Edge = z.strictObject({
  client: Node,
  server: Node,
  connection: z
    .enum(connections)
    .describe(
      '`request`: a call; `query`: a call to a database; `publish`, `receive` and `process`: to and from a queue; `message`: from the sending to the processing service',
    ),
  via: z.string().describe('Queue of a message; otherwise empty'),
  addresses: z
    .array(z.string())
    .describe('Hosts and ports of the server if its name does not contain them, at most 20'),
  requests: z.int(),
  errors: z.int(),
  ratePerSecond: z.number(),
  errorRate: z.number().describe('Share of failed requests, between 0 and 1'),
  duration: CallDurations.nullable().describe(
    'Duration as measured by the client; for a message, its time in the queue. Quantiles have an error of at most 4.4%. `null` if no call has a duration.',
  ),
  unpaired: z
    .strictObject(
      Object.fromEntries(unpairedReasons.map((reason) => [reason, z.int()])) as Record<
        (typeof unpairedReasons)[number],
        z.ZodInt
      >,
    )
    .describe('Requests with only one received span, by reason. Excludes calls to external hosts, which send no spans'),
});
export type Edge = z.output<typeof Edge>;

/** Query parameters that select edges */
export const edgeParameters = {
  service: z.string().min(1).max(512).optional().describe('Only edges of this service'),
  environment: z.string().min(1).max(512).optional().describe('Only edges with a node in this deployment environment'),
};

export interface EdgeQuery extends ProjectScope {
  readonly service?: string | undefined;
  readonly environment?: string | undefined;
}

interface EdgeRow extends CallMetricsRow {
  readonly connection: Connection;
  readonly client: string;
  readonly client_kind: NodeKind;
  readonly server: string;
  readonly server_kind: NodeKind;
  readonly system: string;
  readonly via: string;
  readonly addresses: readonly string[];
  readonly expired: string;
  readonly late: string;
  readonly evicted: string;
}

/** Columns that identify an edge, in list order */
const edgeKeyColumns = ['client', 'client_kind', 'server', 'server_kind', 'connection', 'system', 'via'] as const;
export type EdgeKey = readonly string[];
export const edgeKeySize = edgeKeyColumns.length;

/**
 * Returns edges of full minutes: in key order after `after`, or those with the most requests first. `isMap` excludes
 * edges that duplicate others: for a queue, only those to and from it remain.
 */
export const readEdges = async (
  columns: TenantColumns,
  query: EdgeQuery,
  {
    minutes,
    limit,
    after,
    isMap = false,
  }: {
    readonly minutes: Range;
    readonly limit: number;
    readonly after?: EdgeKey | undefined;
    readonly isMap?: boolean;
  },
): Promise<{ readonly edge: Edge; readonly key: EdgeKey }[]> => {
  const parameters: Record<string, string> = {
    ...toMinutesParameters(minutes),
    ...toProjectScopeParameters(query),
  };
  const conditions: string[] = [];
  if (query.service !== undefined) {
    conditions.push(
      "((client = {service:String} AND client_kind = 'service') OR (server = {service:String} AND server_kind = 'service'))",
    );
    parameters['service'] = query.service;
  }
  if (query.environment !== undefined) {
    conditions.push('(client_environment = {environment:String} OR server_environment = {environment:String})');
    parameters['environment'] = query.environment;
  }
  if (isMap)
    conditions.push(
      "(connection != 'message' OR (via = '' AND client_kind != 'unknown' AND server_kind != 'unknown'))",
    );
  if (after !== undefined) {
    conditions.push(
      `(${edgeKeyColumns.join(', ')}) > (${edgeKeyColumns.map((_, index) => `{after${index}:String}`).join(', ')})`,
    );
    for (const [index, part] of after.entries()) parameters[`after${index}`] = part;
  }
  const rows = await columns.query<EdgeRow>(
    `SELECT ${edgeKeyColumns.join(', ')}, arraySort(groupUniqArrayIf(20)(address, address != '')) AS addresses,
      ${callColumns},
      ${unpairedReasons.map((reason) => `toString(sum(unpaired['${reason}'])) AS ${reason}`).join(', ')}
    FROM service_edges WHERE tenant_id = {tenant:String} AND ${minutesCondition}
      ${conditions.map((condition) => ` AND ${condition}`).join('')}${buildProjectScopeCondition(query, ['project_id', 'server_project_id'])}
    GROUP BY ${edgeKeyColumns.join(', ')} ORDER BY ${isMap ? `sum(requests) DESC, ${edgeKeyColumns.join(', ')}` : edgeKeyColumns.join(', ')} LIMIT ${limit}`,
    parameters,
  );
  const seconds = toSeconds(minutes);
  return rows.map((row) => ({ edge: toEdge(row, seconds), key: edgeKeyColumns.map((column) => row[column]) }));
};

/** Returns the node of a name. */
export const createNode = (kind: NodeKind, name: string, system = ''): Node => ({
  id: [kind, ...(system === '' ? [] : [system]), ...(name === '' ? [] : [name])].join(':'),
  kind,
  name,
  system,
});

const kindsWithSystem: readonly NodeKind[] = ['database', 'queue'];

const toEdge = (row: EdgeRow, seconds: number): Edge => {
  const toNode = (kind: NodeKind, name: string): Node =>
    createNode(kind, name, kindsWithSystem.includes(kind) ? row.system : '');
  return {
    client: toNode(row.client_kind, row.client),
    server: toNode(row.server_kind, row.server),
    connection: row.connection,
    via: row.via,
    addresses: [...row.addresses],
    ...toCallMetrics(row, seconds),
    unpaired: { expired: Number(row.expired), late: Number(row.late), evicted: Number(row.evicted) },
  };
};
