import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../../../queries/cursor.ts';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { parseRetainedRange, type Range, rangeParameters, requireRetained } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { DnsName, DnsServer, readDns } from '../../../subjects/network/dns.ts';
import { Flow, FlowsPartial, flowViews } from '../../../subjects/network/flow.ts';
import { readFlows } from '../../../subjects/network/flows.ts';
import { buildTopology, Topology } from '../../../subjects/network/topology.ts';
import type { Caller } from '../../callers/caller.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

const cursorKind = 'flows';
const { from, to } = rangeParameters;
const flowViewParameter = z
  .enum(flowViews)
  .default('workload')
  .describe('Level of the endpoints: Kubernetes workloads, hosts (nodes), zones, or addresses with transport and port');
const rangeFields = { from: z.string(), to: z.string() };
const formatRange = (range: Range) => ({ from: formatTime(range.from), to: formatTime(range.to) });

/**
 * Checks the range against the retention of metrics, or of logs if the plan does not include metrics: flows are derived
 * from both, and one of them is sufficient. Each reader checks its own signal again.
 */
const parseFlowQuery = (
  caller: Caller,
  query: {
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly scope?: 'account' | undefined;
    readonly projectId?: string | undefined;
  },
  ports: Ports,
) => {
  const reader = createQueryReader(caller, ports);
  const { nowMs } = reader;
  const signal = caller.plan.entitlements.includes('metrics') ? ('metrics' as const) : ('logs' as const);
  return {
    reader,
    signal,
    range: parseRetainedRange(query, { caller, signal, nowMs }),
    projectId: query.scope === 'account' ? undefined : query.projectId,
  };
};

export const listFlows = defineOperation({
  method: 'GET',
  path: '/api/network/flows',
  operationId: 'listFlows',
  summary:
    'List observed flows of a time range, those with the most bytes first; a flow that both ends reported counts once',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...projectScopeParameters,
    by: flowViewParameter,
    source: z.string().min(1).max(512).optional().describe('Only flows from a source whose name contains this text'),
    destination: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe('Only flows to a destination whose name contains this text'),
  }),
  response: z.strictObject({
    ...rangeFields,
    items: z.array(Flow),
    nextCursor: z.string().nullable(),
    partial: FlowsPartial,
    reason: z.string().nullable().describe('Why there are no flows; null if there are'),
  }),
  async handler({ caller, query }, ports) {
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const flowQuery = parseFlowQuery(
      caller,
      page === undefined ? query : { ...query, from: undefined, to: undefined },
      ports,
    );
    const { reader, projectId, signal } = flowQuery;
    const range = page?.range ?? flowQuery.range;
    if (page !== undefined) requireRetained(range, { caller, signal, nowMs: reader.nowMs, isFromCursor: true });
    const { flows, partial, reason } = await readFlows(reader, { view: query.by, projectId }, range);
    const matchingFlows = flows.filter(
      ({ source, destination }) =>
        source.name.includes(query.source ?? '') && destination.name.includes(query.destination ?? ''),
    );
    const startIndex = page?.at ?? 0;
    const endIndex = startIndex + query.limit;
    return {
      ...formatRange(range),
      items: matchingFlows.slice(startIndex, endIndex),
      nextCursor: matchingFlows.length > endIndex ? encodeCursor(cursorKind, [range.from, range.to, endIndex]) : null,
      partial: [...partial],
      reason,
    };
  },
});

const parseCursor = (cursor: string): { range: Range; at: number } => {
  const [start = '', end = '', startIndex = ''] = decodeCursor(cursorKind, cursor, [
    int64Pattern,
    int64Pattern,
    uint64Pattern,
  ]);
  return { range: { from: BigInt(start), to: BigInt(end) }, at: Number(startIndex) };
};

export const showTopology = defineOperation({
  method: 'GET',
  path: '/api/network/topology',
  operationId: 'showTopology',
  summary: 'Get the topology of flows in a time range: nodes, and the edges with the most bytes',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    from,
    to,
    by: flowViewParameter,
    ...projectScopeParameters,
    limit: z.coerce.number().int().min(1).max(2000).default(500).describe('Maximum number of edges'),
  }),
  response: Topology.extend(rangeFields),
  async handler({ caller, query }, ports) {
    const { reader, range, projectId } = parseFlowQuery(caller, query, ports);
    const { flows, partial, reason } = await readFlows(reader, { view: query.by, projectId }, range);
    const topology = buildTopology(flows, query.limit);
    return { ...formatRange(range), ...topology, partial: [...partial, ...topology.partial], reason };
  },
});

export const showDns = defineOperation({
  method: 'GET',
  path: '/api/network/dns',
  operationId: 'showDns',
  summary:
    'List DNS names that were looked up in a time range, with failures and latency, and the responses of DNS servers',
  role: 'viewer',
  cache: listCache,
  query: z.strictObject({
    from,
    to,
    limit: rangeParameters.limit,
    ...projectScopeParameters,
    search: z.string().min(1).max(253).optional().describe('Only names that contain this text'),
  }),
  response: z.strictObject({
    ...rangeFields,
    names: z.array(DnsName).describe('Most lookups first'),
    nameCount: z.int().describe('Total number of names'),
    servers: z.array(DnsServer),
    partial: FlowsPartial,
    reason: z.string().nullable().describe('Why there are none; null if there are'),
  }),
  async handler({ caller, query }, ports) {
    const { reader, range, projectId } = parseFlowQuery(caller, query, ports);
    const { names, ...dns } = await readDns(reader, { projectId }, range);
    const matchingNames = names.filter(({ name }) => name.includes(query.search ?? ''));
    return {
      ...formatRange(range),
      ...dns,
      names: matchingNames.slice(0, query.limit),
      nameCount: matchingNames.length,
    };
  },
});
