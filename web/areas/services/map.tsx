/** Service map: calls between services with rate and errors. A table below contains the values. */
import { useMemo, useState } from 'preact/hooks';
import { Graph, type GraphEdge, type GraphNode } from '../../charts/graph.tsx';
import type { ApiQuery } from '../../client/query.ts';
import { formatDuration } from '../../frame/durations.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { renderText } from '../../frame/shown-text.tsx';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import type { Edge, MapNode, Service, serviceMapCall, servicesCall } from './calls.ts';
import { latencyQuantile, requestMetrics } from './figures.ts';

/** Maximum number of displayed rows */
const maxRows = 300;
const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

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
const nodeTitle = ({ kind, name, system }: NodeName): string => name || system || (fallbackNames[kind] ?? kind);
const formatRate = (perSecond: number): string => `${number.format(perSecond)}/s`;
const errorRate = (errors: number, requests: number): number => (requests === 0 ? 0 : errors / requests);
const formatErrorRate = (share: number): string => `${number.format(100 * share)} % fail`;

/** Formats an edge: `12/s, 3 % fail, p95 98 ms`; unknown values are omitted. */
const describeEdge = (perSecond: number, failed: number, p95: number | undefined): string =>
  [
    formatRate(perSecond),
    ...(failed > 0 ? [formatErrorRate(failed)] : []),
    ...(p95 === undefined ? [] : [`p95 ${formatDuration(p95)}`]),
  ].join(', ');

interface Answer {
  readonly from: string;
  readonly to: string;
  readonly nodes: readonly MapNode[];
  readonly edges: readonly Edge[];
}

/** Returns the highest p95 latency of the calls to each node, as measured by the callers. */
const maxP95ByNode = (edges: readonly Edge[]): ReadonlyMap<string, number> => {
  const slowest = new Map<string, number>();
  for (const { server, duration } of edges)
    if (duration !== null) slowest.set(server.id, Math.max(slowest.get(server.id) ?? 0, duration.p95));
  return slowest;
};

/** Returns the nodes of the graph. A service has the metrics of its own spans; a node without spans has those of the calls to it. */
const toGraphNodes = ({ from, to, nodes, edges }: Answer, services: ReadonlyMap<string, Service>): GraphNode[] => {
  const seconds = Math.max(1, (Date.parse(to) - Date.parse(from)) / 1000);
  const slowest = maxP95ByNode(edges);
  return nodes.map((node) => {
    const service = node.kind === 'service' ? services.get(node.name) : undefined;
    const own = service && requestMetrics(service);
    const { requests, errors } = own ?? node;
    const failureRate = errorRate(errors, requests);
    const p95 = own === undefined ? slowest.get(node.id) : latencyQuantile(own, 'p95');
    const isQuiet = requests === 0;
    return {
      id: node.id,
      title: nodeTitle(node),
      failureRate,
      description: isQuiet ? '' : describeEdge(requests / seconds, failureRate, p95),
      ...(node.kind === 'service' ? {} : { kind: node.system || node.kind }),
    };
  });
};

const toGraphEdges = (edges: readonly Edge[]): GraphEdge[] => {
  const maxRequests = Math.max(1, ...edges.map(({ requests }) => requests));
  return edges.map(({ client, server, connection, via, requests, errors, ratePerSecond, duration }) => {
    const failureRate = errorRate(errors, requests);
    const way = `${nodeTitle(client)} ${connectionVerbs[connection]} ${nodeTitle(server)}${via === '' ? '' : ` via ${via}`}`;
    return {
      from: client.id,
      to: server.id,
      failureRate,
      weight: Math.log1p(requests) / Math.log1p(maxRequests),
      title: `${way}: ${describeEdge(ratePerSecond, failureRate, duration?.p95)}`,
    };
  });
};

/** Summarizes the map: `Map of 12 nodes and 14 connections between them; highest error rate: web calls payments, 3 %.` */
const describeMap = ({ nodes, edges }: Answer): string => {
  const worst = edges.reduce<Edge | undefined>(
    (worst, edge) => (edge.errorRate > (worst?.errorRate ?? 0) ? edge : worst),
    undefined,
  );
  const counts = `Map of ${nodes.length} nodes and ${edges.length} connections between them`;
  return worst === undefined
    ? `${counts}.`
    : `${counts}; highest error rate: ${nodeTitle(worst.client)} ${connectionVerbs[worst.connection]} ${nodeTitle(worst.server)}, ${number.format(100 * worst.errorRate)} %.`;
};

const Numbers = ({ edges, onOpen }: { readonly edges: readonly Edge[]; readonly onOpen: (name: string) => void }) => {
  const end = (node: NodeName) =>
    node.kind === 'service' ? (
      <button type="button" class="value opens" onClick={() => onOpen(node.name)}>
        <bdi>{renderText(node.name)}</bdi>
      </button>
    ) : (
      <bdi>{renderText(nodeTitle(node))}</bdi>
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
                  <td>{end(client)}</td>
                  <td>{connectionVerbs[connection]}</td>
                  <td>{end(server)}</td>
                  <td>{number.format(requests)}</td>
                  <td>{formatRate(ratePerSecond)}</td>
                  <td class="text-error">
                    {errors === 0 ? '' : `${number.format(errors)}, ${formatErrorRate(errors / requests)}`}
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
  open,
  onOpen,
}: {
  readonly map: ApiQuery<NonNullable<typeof serviceMapCall.operation>>;
  readonly services: ApiQuery<NonNullable<typeof servicesCall.operation>>;
  /** Name of the open service */
  readonly open: string;
  readonly onOpen: (name: string) => void;
}) => {
  const { response, error, isLoading } = map.state.value;
  const listed = services.state.value.response?.items;
  const [only, setOnly] = useState<string>();
  const shown = useMemo(() => {
    if (response === undefined) return undefined;
    const byName = new Map((listed ?? []).map((service) => [service.name, service]));
    return { nodes: toGraphNodes(response, byName), edges: toGraphEdges(response.edges) };
  }, [response, listed]);
  if (response === undefined || shown === undefined)
    return error === undefined ? <p class="said">{isLoading ? 'Loading…' : ''}</p> : <ErrorMessage error={error} />;
  if (response.nodes.length === 0)
    return (
      <p class="said" role="status">
        No calls between services: no spans were received in this range.
      </p>
    );
  const service = response.nodes.find(({ kind, name }) => kind === 'service' && name === open);
  return (
    <div class="listed">
      <ErrorMessage error={error} />
      <Graph
        label={describeMap(response)}
        {...shown}
        openId={service?.id ?? only}
        onOpen={(id) => {
          const node = response.nodes.find((one) => one.id === id);
          const isService = node?.kind === 'service';
          setOnly(isService || only === id ? undefined : id);
          onOpen(isService && node.name !== open ? node.name : '');
        }}
      />
      {response.truncated ? <p class="soft">Only the connections with the most requests are shown.</p> : null}
      <Numbers edges={response.edges} onOpen={onOpen} />
    </div>
  );
};
