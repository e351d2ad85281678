/** Where nodes of a graph stand in the page. */
import test from 'ava';
import { layoutOf } from '../../web/charts/graph-layout.ts';

const edgesOf = (...written: readonly string[]) =>
  written.map((edge) => {
    const [from = '', to = ''] = edge.split('>');
    return { from, to };
  });

const columnsOf = (nodes: string, ...edges: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...layoutOf([...nodes], edgesOf(...edges)).places].map(([id, { column }]) => [id, column]));

test('callers stand left of what they call, by the longest way', (t) => {
  t.deepEqual(columnsOf('abcd', 'a>b', 'b>c', 'a>c', 'c>d'), { a: 0, b: 1, c: 2, d: 3 });
});

test('circles, calls of oneself and ends that are not there do no harm', (t) => {
  t.deepEqual(columnsOf('abc', 'a>b', 'b>c', 'c>a', 'b>b', 'x>a'), { a: 0, b: 1, c: 2 });
});

test('what is on no edge stands behind the others, and nothing stands where another does', (t) => {
  t.is(columnsOf('xab', 'a>b')['x'], 2);
  const nodes = Array.from({ length: 300 }, (_, index) => `n${index}`);
  const edges = nodes.slice(1).map((to, index) => ({ from: nodes[Math.floor(index / 7)] ?? '', to }));
  const { places, columns, rows } = layoutOf(nodes, edges);
  t.is(new Set([...places.values()].map(({ column, row }) => `${column} ${row}`)).size, 300);
  t.true(rows <= 16 && columns < 40);
});

test('nodes stand near what they are joined with', (t) => {
  const { places } = layoutOf([...'abcdef'], edgesOf('a>f', 'b>e', 'c>d'));
  for (const [from, to] of ['af', 'be', 'cd']) t.is(places.get(from ?? '')?.row, places.get(to ?? '')?.row);
});

test('a chain of 20,000 nodes is laid out', (t) => {
  const nodes = Array.from({ length: 20_000 }, (_, index) => `${index}`);
  t.is(
    layoutOf(
      nodes,
      nodes.slice(1).map((to, index) => ({ from: `${index}`, to })),
    ).columns,
    20_000,
  );
});
