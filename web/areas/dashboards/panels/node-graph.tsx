/** Panel of nodes and edges. The code is loaded on first use. */
import { useMemo } from 'preact/hooks';
import { Graph, type GraphEdge, type GraphNode } from '../../../charts/graph.tsx';
import { numberOf } from '../../../charts/reduce.ts';
import { shownValue } from '../../../charts/values.ts';
import { textOf } from '../../../frame/shown-text.tsx';
import { type Drawn, type Field, fieldsOfTable, isNumeric, shownIn, tablesOf } from '../fields.ts';
import type { PanelProps } from './panel-props.ts';
import { TablePanel } from './table.tsx';

/** Maximum numbers of displayed nodes and edges */
const [maxNodes, maxEdges] = [500, 2_000];

interface Found {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

const named = (fields: readonly Field[], ...names: readonly string[]): Field | undefined =>
  fields.find(({ name }) => names.includes(name.toLowerCase()));

/** Formats a value with the unit of the panel, otherwise with its own. */
const figureIn = (field: Field | undefined, row: number, unit: string | undefined): string => {
  const value = field?.values[row];
  if (field === undefined || value === null || value === undefined) return '';
  const number = numberOf(value);
  return unit === undefined || unit === '' || number === undefined ? shownIn(field, value) : shownValue(number, unit);
};

const unitsOf = ({ visual }: Drawn, name: string): readonly (string | undefined)[] => {
  const units = visual[name];
  return Array.isArray(units) ? units : [];
};

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(', ');

const ends = (fields: readonly Field[]): readonly [from: Field, to: Field] | undefined => {
  const texts = fields.filter(({ type }) => type === 'text');
  const [from, to] = [named(fields, 'source') ?? texts[0], named(fields, 'target') ?? texts[1]];
  return from === undefined || to === undefined ? undefined : [from, to];
};

const edgesIn = (drawn: Drawn, fields: readonly Field[]): readonly GraphEdge[] => {
  const found = ends(fields);
  if (found === undefined) return [];
  const [from, to] = found;
  const main = named(fields, 'mainstat') ?? fields.find(isNumeric);
  const second = named(fields, 'secondarystat');
  const units = unitsOf(drawn, 'edgeUnits');
  const rows = from.values.slice(0, maxEdges);
  const maxWeight = Math.max(Number.MIN_VALUE, ...rows.map((_, row) => numberOf(main?.values[row]) ?? 0));
  return rows.map((value, row) => {
    const [source, target] = [textOf(value), textOf(to.values[row])];
    const figures = joined([figureIn(main, row, units[0]), figureIn(second, row, units[1])]);
    return {
      from: source,
      to: target,
      weight: Math.max(0, numberOf(main?.values[row]) ?? 0) / maxWeight,
      title: `${source} to ${target}${figures === '' ? '' : `: ${figures}`}`,
    };
  });
};

const nodesIn = (drawn: Drawn, fields: readonly Field[]): readonly GraphNode[] => {
  const units = unitsOf(drawn, 'nodeUnits');
  const [title, subtitle] = [named(fields, 'title', 'name'), named(fields, 'subtitle')];
  const [main, second] = [named(fields, 'mainstat'), named(fields, 'secondarystat')];
  return (named(fields, 'id')?.values ?? []).map((id, row) => {
    const kind = textOf(subtitle?.values[row] ?? '');
    return {
      id: textOf(id),
      title: textOf(title?.values[row] ?? id),
      figures: joined([figureIn(main, row, units[0]), figureIn(second, row, units[1])]),
      ...(kind === '' ? {} : { kind }),
    };
  });
};

/** Returns nodes and edges of tables: by Grafana's column names, or from the first text column to the second. */
const graphOf = (drawn: Drawn): Found => {
  const tables = tablesOf(drawn).map((table) => fieldsOfTable(drawn, table));
  const isNodes = (fields: readonly Field[]): boolean =>
    named(fields, 'id') !== undefined && named(fields, 'source') === undefined;
  const edges = tables.filter((fields) => !isNodes(fields)).flatMap((fields) => edgesIn(drawn, fields));
  const nodes = new Map<string, GraphNode>();
  for (const node of tables.filter(isNodes).flatMap((fields) => nodesIn(drawn, fields))) nodes.set(node.id, node);
  for (const id of edges.flatMap(({ from, to }) => [from, to]))
    if (!nodes.has(id)) nodes.set(id, { id, title: id, figures: '' });
  return { nodes: [...nodes.values()].slice(0, maxNodes), edges };
};

export const NodeGraphPanel = (props: PanelProps) => {
  const { drawn } = props;
  const { nodes, edges } = useMemo(() => graphOf(drawn), [drawn]);
  // A result without two endpoints is displayed as a table.
  if (nodes.length === 0) return <TablePanel {...props} />;
  const title = drawn.title === '' ? 'Graph' : drawn.title;
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
