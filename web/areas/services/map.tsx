/** Service map: calls between services with rate and errors. A table below contains the values. */
import { useMemo, useState } from 'preact/hooks';
import { Graph, type GraphEdge, type GraphNode } from '../../charts/graph.tsx';
import type { ApiQuery } from '../../client/query.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { EmptyView } from '../../lists/empty-view.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import type { Edge, MapNode, Service, serviceMapCall, servicesCall } from './calls.ts';
import { getLatencyQuantile, getRequestMetrics } from './figures.ts';

/** Maximum number of displayed rows */
const maxRows = 300;
const numberFormat = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

const connectionVerbs: Readonly<Record<Edge['connection'], string>> = {
  request: 'calls',
  query: 'queries',
  publish: 'sends to',
  receive: 'receives from',
  process: 'processes data from',
  message: 'sends messages to',
};
const fallbackNames: Readonly<Partial<Record<MapNode['kind'], string>>> = { user: 'users', unknown: 'unknown' };

type NodeName = Pick<MapNode, 'kind' | 'name' | 'system'>;
const getNodeTitle = ({ kind, name, system }: NodeName): string => name || system || (fallbackNames[kind] ?? kind);
const formatRate = (perSecond: number): string => `${numberFormat.format(perSecond)}/s`;
const computeErrorRate = (errors: number, requests: number): number => (requests === 0 ? 0 : errors / requests);
const formatErrorRate = (share: number): string => `${numberFormat.format(100 * share)} % fail`;

/** Formats an edge: `12/s, 3 % fail, p95 98 ms`; unknown values are omitted. */
const describeEdge = (perSecond: number, errorShare: number, p95: number | undefined): string =>
  [
    formatRate(perSecond),
    ...(errorShare > 0 ? [formatErrorRate(errorShare)] : []),
    ...(p95 === undefined ? [] : [`p95 ${formatDuration(p95)}`]),
  ].join(', ');

interface ServiceMapResponse {
  readonly from: string;
  readonly to: string;
  readonly nodes: readonly MapNode[];
  readonly edges: readonly Edge[];
}

/** Returns the highest p95 latency of the calls to each node, as measured by the callers. */
const getMaxP95ByNode = (edges: readonly Edge[]): ReadonlyMap<string, number> => {
  const maxP95 = new Map<string, number>();
  for (const { server, duration } of edges)
    if (duration !== null) maxP95.set(server.id, Math.max(maxP95.get(server.id) ?? 0, duration.p95));
  return maxP95;
};

/** Returns the nodes of the graph. A service uses the metrics of its own spans; a node without spans uses those of the calls to it. */
const toGraphNodes = (
  { from, to, nodes, edges }: ServiceMapResponse,
  services: ReadonlyMap<string, Service>,
): GraphNode[] => {
  const seconds = Math.max(1, (Date.parse(to) - Date.parse(from)) / 1000);
  const p95ByNode = getMaxP95ByNode(edges);
  return nodes.map((node) => {
    const service = node.kind === 'service' ? services.get(node.name) : undefined;
    const ownMetrics = service && getRequestMetrics(service);
    const { requests, errors } = ownMetrics ?? node;
    const failureRate = computeErrorRate(errors, requests);
    const p95 = ownMetrics === undefined ? p95ByNode.get(node.id) : getLatencyQuantile(ownMetrics, 'p95');
    const hasNoRequests = requests === 0;
    return {
      id: node.id,
      title: getNodeTitle(node),
      failureRate,
      description: hasNoRequests ? '' : describeEdge(requests / seconds, failureRate, p95),
      ...(node.kind === 'service' ? {} : { kind: node.system || node.kind }),
    };
  });
};

const toGraphEdges = (edges: readonly Edge[]): GraphEdge[] => {
  const maxRequests = Math.max(1, ...edges.map(({ requests }) => requests));
  return edges.map(({ client, server, connection, via, requests, errors, ratePerSecond, duration }) => {
    const failureRate = computeErrorRate(errors, requests);
    const edgeText = `${getNodeTitle(client)} ${connectionVerbs[connection]} ${getNodeTitle(server)}${via === '' ? '' : ` via ${via}`}`;
    return {
      from: client.id,
      to: server.id,
      failureRate,
      weight: Math.log1p(requests) / Math.log1p(maxRequests),
      title: `${edgeText}: ${describeEdge(ratePerSecond, failureRate, duration?.p95)}`,
    };
  });
};

/** Summarizes the map: `Map of 12 nodes and 14 connections between them; highest error rate: web calls payments, 3 %.` */
const describeMap = ({ nodes, edges }: ServiceMapResponse): string => {
  const worstEdge = edges.reduce<Edge | undefined>(
    (currentWorst, edge) => (edge.errorRate > (currentWorst?.errorRate ?? 0) ? edge : currentWorst),
    undefined,
  );
  const counts = `Map of ${nodes.length} nodes and ${edges.length} connections between them`;
  return worstEdge === undefined
    ? `${counts}.`
    : `${counts}; highest error rate: ${getNodeTitle(worstEdge.client)} ${connectionVerbs[worstEdge.connection]} ${getNodeTitle(worstEdge.server)}, ${numberFormat.format(100 * worstEdge.errorRate)} %.`;
};

const EdgeTable = ({ edges, onOpen }: { readonly edges: readonly Edge[]; readonly onOpen: (name: string) => void }) => {
  const renderNode = (node: NodeName) =>
    node.kind === 'service' ? (
      <button type="button" class="value opens" onClick={() => onOpen(node.name)}>
        <bdi>{renderText(node.name)}</bdi>
      </button>
    ) : (
      <bdi>{renderText(getNodeTitle(node))}</bdi>
    );
  return (
    <details class="numbers-of">
      <summary>Data table</summary>
      <ScrollRegion class="numbers" label="Map data">
        <table class="figures">
          <TableHeader columns={['From', 'Connection', 'To', 'Requests', 'Rate', 'Errors', 'p50', 'p95']} />
          <tbody>
            {edges
              .slice(0, maxRows)
              .map(({ client, server, connection, via, requests, errors, ratePerSecond, duration }) => (
                <tr key={`${client.id} ${server.id} ${connection} ${via}`}>
                  <td>{renderNode(client)}</td>
                  <td>{connectionVerbs[connection]}</td>
                  <td>{renderNode(server)}</td>
                  <td>{numberFormat.format(requests)}</td>
                  <td>{formatRate(ratePerSecond)}</td>
                  <td class="text-error">
                    {errors === 0 ? '' : `${numberFormat.format(errors)}, ${formatErrorRate(errors / requests)}`}
                  </td>
                  <td>{duration === null ? '' : formatDuration(duration.p50)}</td>
                  <td>{duration === null ? '' : formatDuration(duration.p95)}</td>
                </tr>
              ))}
          </tbody>
        </table>
        {edges.length > maxRows ? (
          <p class="soft">Only the {maxRows} connections with the most requests are shown.</p>
        ) : null}
      </ScrollRegion>
    </details>
  );
};

export const ServiceMap = ({
  map,
  services,
  openServiceName,
  onOpen,
}: {
  readonly map: ApiQuery<NonNullable<typeof serviceMapCall.operation>>;
  readonly services: ApiQuery<NonNullable<typeof servicesCall.operation>>;
  /** Name of the open service */
  readonly openServiceName: string;
  readonly onOpen: (name: string) => void;
}) => {
  const { response, error, isLoading } = map.state.value;
  const listedServices = services.state.value.response?.items;
  const [selectedNodeId, setSelectedNodeId] = useState<string>();
  const graph = useMemo(() => {
    if (response === undefined) return undefined;
    const servicesByName = new Map((listedServices ?? []).map((service) => [service.name, service]));
    return { nodes: toGraphNodes(response, servicesByName), edges: toGraphEdges(response.edges) };
  }, [response, listedServices]);
  if (response === undefined || graph === undefined)
    return error === undefined ? <p class="said">{isLoading ? 'Loading…' : ''}</p> : <ErrorMessage error={error} />;
  if (response.nodes.length === 0)
    return <EmptyView title="No calls between services. No spans were received in this range." />;
  const service = response.nodes.find(({ kind, name }) => kind === 'service' && name === openServiceName);
  return (
    <div class="listed">
      <ErrorMessage error={error} />
      <Graph
        label={describeMap(response)}
        {...graph}
        openId={service?.id ?? selectedNodeId}
        onOpen={(id) => {
          const node = response.nodes.find((candidate) => candidate.id === id);
          const isService = node?.kind === 'service';
          setSelectedNodeId(isService || selectedNodeId === id ? undefined : id);
          onOpen(isService && node.name !== openServiceName ? node.name : '');
        }}
      />
      {response.truncated ? <p class="soft">Only the connections with the most requests are shown.</p> : null}
      <EdgeTable edges={response.edges} onOpen={onOpen} />
    </div>
  );
};
