/** Panel of nodes and edges. The code is loaded on first use. */
import { useMemo } from 'preact/hooks';
import { Graph, type GraphEdge, type GraphNode } from '../../../charts/graph.tsx';
import { toNumberOrUndefined } from '../../../charts/reduce.ts';
import { formatQuantity } from '../../../charts/values.ts';
import { toText } from '../../../frame/shown-text.tsx';
import { type Field, fieldsOfTable, isNumeric, type PanelData, shownIn, tablesOf } from '../fields.ts';
import type { PanelProps } from './panel-props.ts';
import { TablePanel } from './table.tsx';

/** Maximum numbers of displayed nodes and edges */
const [maxNodes, maxEdges] = [500, 2_000];

interface GraphData {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

const findField = (fields: readonly Field[], ...names: readonly string[]): Field | undefined =>
  fields.find(({ name }) => names.includes(name.toLowerCase()));

/** Formats a value with the unit of the panel, otherwise with its own. */
const formatStat = (field: Field | undefined, row: number, unit: string | undefined): string => {
  const value = field?.values[row];
  if (field === undefined || value === null || value === undefined) return '';
  const number = toNumberOrUndefined(value);
  return unit === undefined || unit === '' || number === undefined
    ? shownIn(field, value)
    : formatQuantity(number, unit);
};

const panelUnits = ({ visual }: PanelData, name: string): readonly (string | undefined)[] => {
  const units = visual[name];
  return Array.isArray(units) ? units : [];
};

const joinNonEmpty = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(', ');

const findEndpoints = (fields: readonly Field[]): readonly [from: Field, to: Field] | undefined => {
  const texts = fields.filter(({ type }) => type === 'text');
  const [from, to] = [findField(fields, 'source') ?? texts[0], findField(fields, 'target') ?? texts[1]];
  return from === undefined || to === undefined ? undefined : [from, to];
};

const buildEdges = (drawn: PanelData, fields: readonly Field[]): readonly GraphEdge[] => {
  const found = findEndpoints(fields);
  if (found === undefined) return [];
  const [from, to] = found;
  const main = findField(fields, 'mainstat') ?? fields.find(isNumeric);
  const second = findField(fields, 'secondarystat');
  const units = panelUnits(drawn, 'edgeUnits');
  const rows = from.values.slice(0, maxEdges);
  const maxWeight = Math.max(Number.MIN_VALUE, ...rows.map((_, row) => toNumberOrUndefined(main?.values[row]) ?? 0));
  return rows.map((value, row) => {
    const [source, target] = [toText(value), toText(to.values[row])];
    const figures = joinNonEmpty([formatStat(main, row, units[0]), formatStat(second, row, units[1])]);
    return {
      from: source,
      to: target,
      weight: Math.max(0, toNumberOrUndefined(main?.values[row]) ?? 0) / maxWeight,
      title: `${source} to ${target}${figures === '' ? '' : `: ${figures}`}`,
    };
  });
};

const buildNodes = (drawn: PanelData, fields: readonly Field[]): readonly GraphNode[] => {
  const units = panelUnits(drawn, 'nodeUnits');
  const [title, subtitle] = [findField(fields, 'title', 'name'), findField(fields, 'subtitle')];
  const [main, second] = [findField(fields, 'mainstat'), findField(fields, 'secondarystat')];
  return (findField(fields, 'id')?.values ?? []).map((id, row) => {
    const kind = toText(subtitle?.values[row] ?? '');
    return {
      id: toText(id),
      title: toText(title?.values[row] ?? id),
      description: joinNonEmpty([formatStat(main, row, units[0]), formatStat(second, row, units[1])]),
      ...(kind === '' ? {} : { kind }),
    };
  });
};

/** Returns the nodes and edges in tables, by the column names of Grafana; without them, an edge leads from the first text column to the second. */
const buildGraph = (drawn: PanelData): GraphData => {
  const tables = tablesOf(drawn).map((table) => fieldsOfTable(drawn, table));
  const isNodes = (fields: readonly Field[]): boolean =>
    findField(fields, 'id') !== undefined && findField(fields, 'source') === undefined;
  const edges = tables.filter((fields) => !isNodes(fields)).flatMap((fields) => buildEdges(drawn, fields));
  const nodes = new Map<string, GraphNode>();
  for (const node of tables.filter(isNodes).flatMap((fields) => buildNodes(drawn, fields))) nodes.set(node.id, node);
  for (const id of edges.flatMap(({ from, to }) => [from, to]))
    if (!nodes.has(id)) nodes.set(id, { id, title: id, description: '' });
  return { nodes: [...nodes.values()].slice(0, maxNodes), edges };
};

export const NodeGraphPanel = (props: PanelProps) => {
  const { panel } = props;
  const { nodes, edges } = useMemo(() => buildGraph(panel), [panel]);
  // A result without two endpoints is displayed as a table.
  if (nodes.length === 0) return <TablePanel {...props} />;
  const title = panel.title === '' ? 'Graph' : panel.title;
  return (
    <>
      <Graph label={`${title}: ${nodes.length} nodes and ${edges.length} edges.`} nodes={nodes} edges={edges} />
      <details class="numbers-of">
        <summary>Data table</summary>
        <TablePanel {...props} />
      </details>
    </>
  );
};
