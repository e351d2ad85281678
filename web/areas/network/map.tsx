/** Network map: traffic between endpoints. A table below contains the values. */
import { useMemo, useState } from 'preact/hooks';
import type { showTopology } from '../../../api/groups/network/flows.ts';
import { Graph, type GraphEdge, type GraphNode } from '../../charts/graph.tsx';
import { shownValue } from '../../charts/values.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { change, inAddress } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { views } from './views.ts';

type Topology = Answered<typeof showTopology>;
type Edge = Topology['edges'][number];
type View = keyof typeof views;

/** Maximum number of displayed edges; the API returns those with the most bytes */
const maxEdges = 300;

const isView = (text: string): text is View => text in views;
const inBytes = (bytes: number): string => shownValue(bytes, 'By');

const titleOf = (node: Pick<Topology['nodes'][number], 'name'> | undefined): string => node?.name || 'unknown';

const nodesOf = ({ nodes }: Topology, view: View): GraphNode[] =>
  nodes.map(({ id, kind, name, bytesOut, bytesIn }) => ({
    id,
    title: titleOf({ name }),
    figures: `out ${inBytes(bytesOut)}, in ${inBytes(bytesIn)}`,
    ...(kind === view || kind === 'unknown' ? {} : { kind }),
  }));

const edgesOf = ({ edges }: Topology, names: ReadonlyMap<string, string>): GraphEdge[] => {
  const maxBytes = Math.max(1, ...edges.map(({ bytes }) => bytes));
  return edges.map(({ source, destination, bytes, bytesPerSecond }) => ({
    from: source,
    to: destination,
    weight: Math.log1p(bytes) / Math.log1p(maxBytes),
    title: `${names.get(source)} to ${names.get(destination)}: ${inBytes(bytes)}, ${inBytes(bytesPerSecond)} per second`,
  }));
};

/** Summarizes the map: `Map of 12 nodes and 14 ways between them; the most goes from web to cart: 3 MiBy.` */
const sentenceOf = ({ nodes, edges }: Topology, names: ReadonlyMap<string, string>): string => {
  const [largestEdge] = edges;
  const counts = `Map of ${nodes.length} nodes and ${edges.length} ${edges.length === 1 ? 'edge' : 'edges'} between them`;
  return largestEdge === undefined
    ? `${counts}.`
    : `${counts}; the largest flow is from ${names.get(largestEdge.source)} to ${names.get(largestEdge.destination)}: ${inBytes(largestEdge.bytes)}.`;
};

const Numbers = ({
  edges,
  names,
}: {
  readonly edges: readonly Edge[];
  readonly names: ReadonlyMap<string, string>;
}) => (
  <details class="numbers-of">
    <summary>Data table</summary>
    <Scrolled class="numbers" label="Map data">
      <table class="figures">
        <TableHeader columns={['From', 'To', 'Bytes', 'Bytes/s', 'Observed']} />
        <tbody>
          {edges.map(({ source, destination, bytes, bytesPerSecond, isCountedOnce }) => (
            <tr key={`${source} ${destination}`}>
              <td>
                <bdi>{shownText(names.get(source) ?? source)}</bdi>
              </td>
              <td>
                <bdi>{shownText(names.get(destination) ?? destination)}</bdi>
              </td>
              <td>{inBytes(bytes)}</td>
              <td>{inBytes(bytesPerSecond)}</td>
              <td>{isCountedOnce === true ? 'once' : 'possibly at both ends'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  </details>
);

const Drawn = ({ of, view }: { readonly of: Topology; readonly view: View }) => {
  const [open, setOpen] = useState<string>();
  const { names, ...graph } = useMemo(() => {
    const names = new Map(of.nodes.map((node) => [node.id, titleOf(node)]));
    return { names, nodes: nodesOf(of, view), edges: edgesOf(of, names) };
  }, [of, view]);
  return (
    <div class="listed">
      <Graph
        label={sentenceOf(of, names)}
        {...graph}
        open={open}
        onOpen={(id) => setOpen(id === open ? undefined : id)}
      />
      <Numbers edges={of.edges} names={names} />
    </div>
  );
};

export const NetworkMap = () => {
  const { from, to } = writtenRange.value;
  const written = inAddress('by');
  const by = isView(written) ? written : 'workload';
  const queryState = useQuery(callOf<typeof showTopology>('GET', '/api/network/topology'), {
    query: { from, to, by, limit: maxEdges, ...projectScope.value },
  });
  const { answer, error } = queryState;
  return (
    <>
      <div class="toolbar">
        <label>
          Group by{' '}
          <select value={by} onChange={({ currentTarget }) => change({ by: currentTarget.value })}>
            {Object.entries(views).map(([view, title]) => (
              <option key={view} value={view}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Problem error={error} />
      <div class="list">
        {answer === undefined ? null : answer.nodes.length === 0 ? (
          <p class="said" role="status">
            {shownText(answer.reason ?? 'No flows in this range.')}
          </p>
        ) : (
          <Drawn of={answer} view={by} />
        )}
      </div>
      <Freshness of={queryState} />
    </>
  );
};
