/** Network map: traffic between endpoints. A table below contains the values. */
import { useMemo, useState } from 'preact/hooks';
import type { showTopology } from '../../../api/groups/network/flows.ts';
import { Graph, type GraphEdge, type GraphNode } from '../../charts/graph.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { endpointKinds } from './views.ts';

type Topology = ResponseBody<typeof showTopology>;
type Edge = Topology['edges'][number];
type View = keyof typeof endpointKinds;

/** Maximum number of displayed edges; the API returns those with the most bytes */
const maxEdges = 300;

const isView = (text: string): text is View => text in endpointKinds;
const formatBytes = (bytes: number): string => formatQuantity(bytes, 'By');

const nodeTitle = (node: Pick<Topology['nodes'][number], 'name'> | undefined): string => node?.name || 'unknown';

const toGraphNodes = ({ nodes }: Topology, view: View): GraphNode[] =>
  nodes.map(({ id, kind, name, bytesOut, bytesIn }) => ({
    id,
    title: nodeTitle({ name }),
    description: `out ${formatBytes(bytesOut)}, in ${formatBytes(bytesIn)}`,
    ...(kind === view || kind === 'unknown' ? {} : { kind }),
  }));

const toGraphEdges = ({ edges }: Topology, names: ReadonlyMap<string, string>): GraphEdge[] => {
  const maxBytes = Math.max(1, ...edges.map(({ bytes }) => bytes));
  return edges.map(({ source, destination, bytes, bytesPerSecond }) => ({
    from: source,
    to: destination,
    weight: Math.log1p(bytes) / Math.log1p(maxBytes),
    title: `${names.get(source)} to ${names.get(destination)}: ${formatBytes(bytes)}, ${formatBytes(bytesPerSecond)} per second`,
  }));
};

/** Summarizes the map: `Map of 12 nodes and 14 edges between them; the largest flow is from web to cart: 3 MiBy.` */
const describeMap = ({ nodes, edges }: Topology, names: ReadonlyMap<string, string>): string => {
  const [largestEdge] = edges;
  const counts = `Map of ${nodes.length} nodes and ${edges.length} ${edges.length === 1 ? 'edge' : 'edges'} between them`;
  return largestEdge === undefined
    ? `${counts}.`
    : `${counts}; the largest flow is from ${names.get(largestEdge.source)} to ${names.get(largestEdge.destination)}: ${formatBytes(largestEdge.bytes)}.`;
};

const EdgeTable = ({
  edges,
  names,
}: {
  readonly edges: readonly Edge[];
  readonly names: ReadonlyMap<string, string>;
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
                <bdi>{renderText(names.get(source) ?? source)}</bdi>
              </td>
              <td>
                <bdi>{renderText(names.get(destination) ?? destination)}</bdi>
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

const TopologyGraph = ({ of, view }: { readonly of: Topology; readonly view: View }) => {
  const [open, setOpen] = useState<string>();
  const { names, ...graph } = useMemo(() => {
    const names = new Map(of.nodes.map((node) => [node.id, nodeTitle(node)]));
    return { names, nodes: toGraphNodes(of, view), edges: toGraphEdges(of, names) };
  }, [of, view]);
  return (
    <div class="listed">
      <Graph
        label={describeMap(of, names)}
        {...graph}
        openId={open}
        onOpen={(id) => setOpen(id === open ? undefined : id)}
      />
      <EdgeTable edges={of.edges} names={names} />
    </div>
  );
};

export const NetworkMap = () => {
  const { from, to } = timeRange.value;
  const groupByParameter = readParam('by');
  const groupBy = isView(groupByParameter) ? groupByParameter : 'workload';
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
            {Object.entries(endpointKinds).map(([view, title]) => (
              <option key={view} value={view}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ErrorMessage error={error} />
      <div class="list">
        {response === undefined ? null : response.nodes.length === 0 ? (
          <p class="said" role="status">
            {renderText(response.reason ?? 'No flows in this range.')}
          </p>
        ) : (
          <TopologyGraph of={response} view={groupBy} />
        )}
      </div>
      <Freshness queryState={queryState} />
    </>
  );
};
