/** Panel of nodes and edges. The code is loaded on first use. */
import { useMemo } from 'preact/hooks';
import { Graph, type GraphEdge, type GraphNode, type GraphShare } from '../../../charts/graph.tsx';
import { toNumberOrUndefined } from '../../../charts/reduce.ts';
import { formatQuantity } from '../../../charts/values.ts';
import { toColorClass } from '../../../frame/colors.ts';
import { toText } from '../../../frame/display-text.tsx';
import {
  colorToTone,
  type Field,
  formatFieldValue,
  getTableFields,
  getTables,
  isNumeric,
  type PanelData,
} from '../fields.ts';
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
    ? formatFieldValue(field, value)
    : formatQuantity(number, unit);
};

const getUnits = ({ visual }: PanelData, name: string): readonly (string | undefined)[] => {
  const units = visual[name];
  return Array.isArray(units) ? units : [];
};

const joinNonEmpty = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(', ');

const findEndpoints = (fields: readonly Field[]): readonly [from: Field, to: Field] | undefined => {
  const texts = fields.filter(({ type }) => type === 'text');
  const [from, to] = [findField(fields, 'source') ?? texts[0], findField(fields, 'target') ?? texts[1]];
  return from === undefined || to === undefined ? undefined : [from, to];
};

const buildEdges = (panelData: PanelData, fields: readonly Field[]): readonly GraphEdge[] => {
  const endpoints = findEndpoints(fields);
  if (endpoints === undefined) return [];
  const [from, to] = endpoints;
  const mainStat = findField(fields, 'mainstat') ?? fields.find(isNumeric);
  const secondaryStat = findField(fields, 'secondarystat');
  const units = getUnits(panelData, 'edgeUnits');
  const rows = from.values.slice(0, maxEdges);
  const maxWeight = Math.max(
    Number.MIN_VALUE,
    ...rows.map((_, row) => toNumberOrUndefined(mainStat?.values[row]) ?? 0),
  );
  return rows.map((value, row) => {
    const [source, target] = [toText(value), toText(to.values[row])];
    const statText = joinNonEmpty([formatStat(mainStat, row, units[0]), formatStat(secondaryStat, row, units[1])]);
    return {
      from: source,
      to: target,
      weight: Math.max(0, toNumberOrUndefined(mainStat?.values[row]) ?? 0) / maxWeight,
      title: `${source} to ${target}${statText === '' ? '' : `: ${statText}`}`,
    };
  });
};

interface Arc {
  readonly field: string;
  readonly colour: string;
}

/** Returns the arcs of the panel, and those of columns such as `arc__errors`, whose color is that of the column. */
const listArcs = ({ visual }: PanelData, fields: readonly Field[]): readonly Arc[] => {
  const arcs = Array.isArray(visual['arcs']) ? (visual['arcs'] as readonly Arc[]) : [];
  const named = fields.flatMap(({ name, settings }) =>
    name.toLowerCase().startsWith('arc__') && !arcs.some(({ field }) => field === name)
      ? [{ field: name, colour: settings.colour?.fixed ?? '' }]
      : [],
  );
  return [...arcs, ...named];
};

/** Returns the parts of a node's bar. Values are shares from 0 to 1. */
const readShares = (arcs: readonly Arc[], fields: readonly Field[], row: number): readonly GraphShare[] =>
  arcs.flatMap(({ field: fieldName, colour }) => {
    const field = findField(fields, fieldName.toLowerCase());
    const share = toNumberOrUndefined(field?.values[row]);
    if (share === undefined || !(share > 0)) return [];
    const name = fieldName.replace(/^arc__/i, '');
    const colorClass = colour === '' ? toColorClass(name) : `tone-${colorToTone(colour)}`;
    return [{ name, share: Math.min(1, share), colorClass }];
  });

const buildNodes = (panelData: PanelData, fields: readonly Field[]): readonly GraphNode[] => {
  const units = getUnits(panelData, 'nodeUnits');
  const [title, subtitle] = [findField(fields, 'title', 'name'), findField(fields, 'subtitle')];
  const [mainStat, secondaryStat] = [findField(fields, 'mainstat'), findField(fields, 'secondarystat')];
  const arcs = listArcs(panelData, fields);
  return (findField(fields, 'id')?.values ?? []).map((id, row) => {
    const kind = toText(subtitle?.values[row] ?? '');
    return {
      id: toText(id),
      title: toText(title?.values[row] ?? id),
      description: joinNonEmpty([formatStat(mainStat, row, units[0]), formatStat(secondaryStat, row, units[1])]),
      ...(kind === '' ? {} : { kind }),
      shares: readShares(arcs, fields, row),
    };
  });
};

/** Returns the nodes and edges in tables, by the column names of Grafana; without them, an edge leads from the first text column to the second. */
const buildGraph = (panelData: PanelData): GraphData => {
  const tables = getTables(panelData).map((table) => getTableFields(panelData, table));
  const isNodeTable = (fields: readonly Field[]): boolean =>
    findField(fields, 'id') !== undefined && findField(fields, 'source') === undefined;
  const edges = tables.filter((fields) => !isNodeTable(fields)).flatMap((fields) => buildEdges(panelData, fields));
  const nodes = new Map<string, GraphNode>();
  for (const node of tables.filter(isNodeTable).flatMap((fields) => buildNodes(panelData, fields)))
    nodes.set(node.id, node);
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
