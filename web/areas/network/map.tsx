/** Network map: traffic between endpoints. A table below contains the values. */

import { useMemo, useState } from 'preact/hooks';
import type { showTopology } from '../../../api/groups/network/flows.ts';
import { Graph, type GraphEdge, type GraphNode } from '../../charts/graph.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { EmptyView } from '../../lists/empty-view.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { endpointKinds } from './views.ts';

type Topology = ResponseBody<typeof showTopology>;
type Edge = Topology['edges'][number];
type EndpointKind = keyof typeof endpointKinds;

/** Maximum number of displayed edges; the API returns those with the most bytes */
const maxEdges = 300;

const isEndpointKind = (text: string): text is EndpointKind => text in endpointKinds;
const formatBytes = (bytes: number): string => formatQuantity(bytes, 'By');

const getNodeTitle = (node: Pick<Topology['nodes'][number], 'name'> | undefined): string => node?.name || 'unknown';

const toGraphNodes = ({ nodes }: Topology, endpointKind: EndpointKind): GraphNode[] =>
  nodes.map(({ id, kind, name, bytesOut, bytesIn }) => ({
    id,
    title: getNodeTitle({ name }),
    description: `out ${formatBytes(bytesOut)}, in ${formatBytes(bytesIn)}`,
    ...(kind === endpointKind || kind === 'unknown' ? {} : { kind }),
  }));

const toGraphEdges = ({ edges }: Topology, nodeNames: ReadonlyMap<string, string>): GraphEdge[] => {
  const maxBytes = Math.max(1, ...edges.map(({ bytes }) => bytes));
  return edges.map(({ source, destination, bytes, bytesPerSecond }) => ({
    from: source,
    to: destination,
    weight: Math.log1p(bytes) / Math.log1p(maxBytes),
    title: `${nodeNames.get(source)} to ${nodeNames.get(destination)}: ${formatBytes(bytes)}, ${formatBytes(bytesPerSecond)} per second`,
  }));
};

/** Summarizes the map: `Map of 12 nodes and 14 edges between them; the largest flow is from web to cart: 3 MiBy.` */
const describeMap = ({ nodes, edges }: Topology, nodeNames: ReadonlyMap<string, string>): string => {
  const [largestEdge] = edges;
  const counts = `Map of ${nodes.length} nodes and ${edges.length} ${edges.length === 1 ? 'edge' : 'edges'} between them`;
  return largestEdge === undefined
    ? `${counts}.`
    : `${counts}; the largest flow is from ${nodeNames.get(largestEdge.source)} to ${nodeNames.get(largestEdge.destination)}: ${formatBytes(largestEdge.bytes)}.`;
};

const EdgeTable = ({
  edges,
  nodeNames,
}: {
  readonly edges: readonly Edge[];
  readonly nodeNames: ReadonlyMap<string, string>;
}) => (
  <details class="numbers-of">
    <summary>Data table</summary>
    <ScrollRegion class="numbers" label="Map data">
      <table class="figures">
        <TableHeader columns={['From', 'To', 'Bytes', 'Bytes/s', 'Observed']} />
        <tbody>
          {edges.map(({ source, destination, bytes, bytesPerSecond, isCountedOnce }) => (
            <tr key={`${source} ${destination}`}>
              <td>
                <bdi>{renderText(nodeNames.get(source) ?? source)}</bdi>
              </td>
              <td>
                <bdi>{renderText(nodeNames.get(destination) ?? destination)}</bdi>
              </td>
              <td>{formatBytes(bytes)}</td>
              <td>{formatBytes(bytesPerSecond)}</td>
              <td>{isCountedOnce === true ? 'once' : 'possibly at both ends'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  </details>
);

const TopologyGraph = ({
  topology,
  endpointKind,
}: {
  readonly topology: Topology;
  readonly endpointKind: EndpointKind;
}) => {
  const [openNodeId, setOpenNodeId] = useState<string>();
  const { names: nodeNames, ...graph } = useMemo(() => {
    const nodeNames = new Map(topology.nodes.map((node) => [node.id, getNodeTitle(node)]));
    return { names: nodeNames, nodes: toGraphNodes(topology, endpointKind), edges: toGraphEdges(topology, nodeNames) };
  }, [topology, endpointKind]);
  return (
    <div class="listed">
      <Graph
        label={describeMap(topology, nodeNames)}
        {...graph}
        openId={openNodeId}
        onOpen={(id) => setOpenNodeId(id === openNodeId ? undefined : id)}
      />
      <EdgeTable edges={topology.edges} nodeNames={nodeNames} />
    </div>
  );
};

export const NetworkMap = () => {
  const { from, to } = timeRange.value;
  const groupByParameter = readParam('by');
  const groupBy = isEndpointKind(groupByParameter) ? groupByParameter : 'workload';
  const queryState = useQuery(declareCall<typeof showTopology>('GET', '/api/network/topology'), {
    query: { from, to, by: groupBy, limit: maxEdges, ...projectScope.value },
  });
  const { response, error } = queryState;
  return (
    <>
      <div class="toolbar">
        <label>
          Group by{' '}
          <select value={groupBy} onChange={({ currentTarget }) => setParams({ by: currentTarget.value })}>
            {Object.entries(endpointKinds).map(([endpointKind, title]) => (
              <option key={endpointKind} value={endpointKind}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ErrorMessage error={error} />
      <div class="list">
        {response === undefined ? null : response.nodes.length === 0 ? (
          <EmptyView title="No flows in this range." hint={response.reason ?? ''} />
        ) : (
          <TopologyGraph topology={response} endpointKind={groupBy} />
        )}
      </div>
      <Freshness queryState={queryState} />
    </>
  );
};
