/** Positions of graph nodes in the page. */
import test from 'ava';
import { layOutGraph } from '../../web/charts/graph-layout.ts';

const edgesOf = (...written: readonly string[]) =>
  written.map((edge) => {
    const [from = '', to = ''] = edge.split('>');
    return { from, to };
  });

const columnsOf = (nodes: string, ...edges: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...layOutGraph([...nodes], edgesOf(...edges)).positions].map(([id, { column }]) => [id, column]));

test('callers are placed left of their callees, by the longest path', (t) => {
  t.deepEqual(columnsOf('abcd', 'a>b', 'b>c', 'a>c', 'c>d'), { a: 0, b: 1, c: 2, d: 3 });
});

test('cycles, self-calls and missing ends are handled without an error', (t) => {
  t.deepEqual(columnsOf('abc', 'a>b', 'b>c', 'c>a', 'b>b', 'x>a'), { a: 0, b: 1, c: 2 });
});

test('nodes without an edge are placed after the others, and no two nodes overlap', (t) => {
  t.is(columnsOf('xab', 'a>b')['x'], 2);
  const nodes = Array.from({ length: 300 }, (_, index) => `n${index}`);
  const edges = nodes.slice(1).map((to, index) => ({ from: nodes[Math.floor(index / 7)] ?? '', to }));
  const { positions, columns, rows } = layOutGraph(nodes, edges);
  t.is(new Set([...positions.values()].map(({ column, row }) => `${column} ${row}`)).size, 300);
  t.true(rows <= 16 && columns < 40);
});

test('connected nodes are placed close to each other', (t) => {
  const { positions } = layOutGraph([...'abcdef'], edgesOf('a>f', 'b>e', 'c>d'));
  for (const [from, to] of ['af', 'be', 'cd']) t.is(positions.get(from ?? '')?.row, positions.get(to ?? '')?.row);
});

test('a chain of 20,000 nodes can be laid out', (t) => {
  const nodes = Array.from({ length: 20_000 }, (_, index) => `${index}`);
  t.is(
    layOutGraph(
      nodes,
      nodes.slice(1).map((to, index) => ({ from: `${index}`, to })),
    ).columns,
    20_000,
  );
});
