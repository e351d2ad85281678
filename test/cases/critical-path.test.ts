/**
 * Critical paths compared with manually computed ones. A digit in a diagram is ten nanoseconds of the span in its line.
 */
import test from 'ava';
import fc from 'fast-check';
import { computeCriticalPath, computeSelfTimes } from '../../queries/traces/critical-path.ts';
import { buildSpanTree, type TreeSpan } from '../../queries/traces/span-tree.ts';

const kinds: Readonly<Record<string, number>> = { i: 1, s: 2, c: 3, p: 4, q: 5 };

/**
 * Spans of a picture, a line each: name, parent's name (`-` for none), kind, process and `=` for every ten nanoseconds.
 * A `|` is a span without a duration.
 */
const drawn = (picture: string): { readonly names: string[]; readonly spans: TreeSpan[] } => {
  const lines = picture
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => /^ *(\S+) (\S+) (\S) (\S+) :([ =|]*)/.exec(line) as RegExpExecArray);
  const spans = lines.map(([, name = '', parent = '', kind = '', process = '', bar = '']) => {
    const start = bar.search(/[=|]/);
    return {
      name,
      spanId: name,
      parentSpanId: parent === '-' ? '' : parent,
      kind: kinds[kind] ?? 0,
      resourceId: process,
      start: start * 10,
      duration: (bar.match(/=/g)?.length ?? 0) * 10,
    };
  });
  // In the order of a read: by start, the longest first, then by id.
  spans.sort(
    (one, other) => one.start - other.start || other.duration - one.duration || (one.spanId < other.spanId ? -1 : 1),
  );
  return { names: spans.map(({ name }) => name), spans };
};

/** The path as `span from-to`, in tens of nanoseconds. */
const pathOf = (picture: string): string => {
  const { names, spans } = drawn(picture);
  const tree = buildSpanTree(spans);
  return computeCriticalPath(tree, tree.roots[0] ?? 0)
    .map(({ span, start, end }) => `${names[span]} ${start / 10}-${end / 10}`)
    .join(', ');
};

const warningsOf = (picture: string): string => {
  const { names, spans } = drawn(picture);
  const { warnings, shifts } = buildSpanTree(spans);
  return warnings
    .flatMap((each, span) =>
      each.map(
        (warning) => `${names[span]} ${warning}${shifts[span] === 0 ? '' : ` ${(shifts[span] as number) / 10}`}`,
      ),
    )
    .join(', ');
};

const cases: readonly (readonly [title: string, picture: string, path: string, warnings?: string])[] = [
  ['a single span', 'a - s x :====', 'a 0-4'],
  ['a span without a duration has no path', 'a - s x :|', ''],
  [
    'two children one after the other',
    `a - s x :==========
     b a i x : ==
     c a i x :     ===`,
    'a 0-1, b 1-3, a 3-5, c 5-8, a 8-10',
  ],
  [
    'a child that ends when the next begins came before it (jaeger#9173)',
    `a - s x :==========
     b a i x :=====
     c a i x :     =====`,
    'b 0-5, c 5-10',
  ],
  [
    'of two concurrent children, the one that ends last',
    `a - s x :==========
     b a i x : ====
     c a i x : ======`,
    'a 0-1, c 1-7, a 7-10',
  ],
  [
    'what overlaps the next one of the path is not on it',
    `a - s x :==========
     b a i x : ====
     c a i x :    =====
     d a i x :==`,
    'd 0-2, a 2-4, c 4-9, a 9-10',
  ],
  [
    'equal children: the first by id, the longest of those that end at the same time',
    `a - s x :========
     d a i x :  ====
     c a i x :  ====
     b a i x :    ==`,
    'a 0-2, c 2-6, a 6-8',
  ],
  [
    'grandchildren',
    `a - s x :==========
     b a c x : ========
     c b s y :  ======
     d c i y :   ==
     e c i y :      ==`,
    'a 0-1, b 1-2, c 2-3, d 3-5, c 5-6, e 6-8, b 8-9, a 9-10',
  ],
  [
    'a child without a duration changes nothing',
    `a - s x :======
     b a i x :   |
     c a i x :   ==`,
    'a 0-3, c 3-5, a 5-6',
  ],
  [
    'a span waits for none that goes on after it (jaeger-ui#2371)',
    `a - s x :========
     b a i x : ==
     c a i x :    ==========`,
    'a 0-1, b 1-3, a 3-8',
    'c outlives-parent',
  ],
  [
    'nor for one that starts after its end',
    `a - s x :=====
     b a i x :       ===
     c b i x :       ==`,
    'a 0-5',
    'b outside-parent',
  ],
  [
    'a consumer may start later, which is not a clock skew',
    `a - p x :===
     b a q y :     ====`,
    'a 0-3',
    'b outside-parent',
  ],
  [
    'a child that starts before its parent counts from the start of the parent',
    `a - s x :   ======
     b a i x : ====
     c b i x :  =`,
    'b 3-5, a 5-9',
    'b clipped',
  ],
  [
    'a called process with another clock is put into the middle of the call, with all that it did',
    `a - c x :==========
     b a s y :              ======
     c b i y :               ==`,
    'a 0-2, b 2-3, c 3-5, b 5-8, a 8-10',
    'b clock-skew -12',
  ],
  [
    'also when its clock is behind',
    `a - c x :     =======
     b a s y :===`,
    'a 5-7, b 7-10, a 10-12',
    'b clock-skew 7',
  ],
  [
    'a caller that gave up waited for the called one until then',
    `a - s x :==========
     b a c x : ====
     c b s y :  =======
     d c i y :      ==`,
    'a 0-1, b 1-2, c 2-5, a 5-10',
    'c clipped',
  ],
  [
    'a longer one starts with its caller at the earliest',
    `a - c x :  ===
     b a s y :======`,
    'b 2-5',
    'b clock-skew 2, b clipped 2',
  ],
  [
    'spans with a missing parent are roots, after those without a parent',
    `b m s y :====
     c b i y : ==
     a - s x :  ======`,
    'a 2-8',
    'b missing-parent',
  ],
  [
    'without a root, the earliest of those',
    `b m s y :====
     c b i y : ==
     d n s x :  ======`,
    'b 0-1, c 1-3, b 3-4',
    'b missing-parent, d missing-parent',
  ],
  ['a span that is its own parent', 'a a s x :====', 'a 0-4', 'a cycle'],
  [
    'a cycle of parents starts with the earliest',
    `a c s x :========
     b a i x : ======
     c b i x :  ====`,
    'a 0-1, b 1-2, c 2-6, b 6-7, a 7-8',
    'a cycle',
  ],
];

for (const [title, picture, path, warnings = ''] of cases)
  test(`critical path: ${title}`, (t) => {
    t.is(pathOf(picture), path);
    t.is(warningsOf(picture), warnings);
  });

const one = (fields: Partial<TreeSpan>): TreeSpan => ({
  spanId: 'a',
  parentSpanId: '',
  start: 0,
  duration: 100,
  kind: 1,
  resourceId: 'x',
  ...fields,
});
const namesOf = (spans: readonly TreeSpan[], labels: string): string => {
  const tree = buildSpanTree(spans);
  return computeCriticalPath(tree, tree.roots[0] ?? 0)
    .map(({ span, start, end }) => `${labels[span]} ${start}-${end}`)
    .join(', ');
};

test('a span that was sent twice counts once, and is marked as a duplicate', (t) => {
  const spans = [one({}), one({ spanId: 'b', parentSpanId: 'a', start: 10, duration: 50 })];
  const twice = [spans[0], spans[0], spans[1], spans[1]] as TreeSpan[];
  t.is(namesOf(twice, 'aAbB'), 'a 0-10, b 10-60, a 60-100');
  t.deepEqual(buildSpanTree(twice).warnings, [[], ['duplicate-id'], [], ['duplicate-id']]);
});

test("Zipkin's client and server spans with one id: the server is a child of the client, and has its child spans", (t) => {
  const spans = [
    one({ kind: 3 }),
    one({ kind: 2, start: 20, duration: 50, resourceId: 'y' }),
    one({ spanId: 'b', parentSpanId: 'a', start: 30, duration: 10, resourceId: 'y' }),
  ];
  t.is(namesOf(spans, 'csb'), 'c 0-20, s 20-30, b 30-40, s 40-70, c 70-100');
  t.deepEqual(buildSpanTree(spans).warnings, [[], [], []]);
});

test('a child span that ends up to one percent of its duration after its parent still blocks the parent', (t) => {
  const spans = [one({}), one({ spanId: 'b', parentSpanId: 'a', start: 50, duration: 50.5 })];
  t.is(namesOf(spans, 'ab'), 'a 0-50, b 50-100');
});

test('self time is the time that no child covers, each moment counted once', (t) => {
  const { spans, names } = drawn(`a - s x :==========
    b a i x : ====
    c a i x :   ====
    d a i x :        ======`);
  const own = computeSelfTimes(buildSpanTree(spans));
  t.deepEqual(
    names.map((name, span) => `${name} ${own[span]}`),
    ['a 20', 'b 40', 'c 40', 'd 60'],
  );
});

const anySpans = fc
  .array(
    fc.record({
      spanId: fc.constantFrom('', ...'abcdefghij'),
      parentSpanId: fc.constantFrom('', ...'abcdefghijm'),
      start: fc.integer({ min: -50, max: 50 }),
      duration: fc.integer({ min: 0, max: 60 }),
      kind: fc.integer({ min: 0, max: 5 }),
      resourceId: fc.constantFrom('x', 'y', 'z'),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((spans) => spans.toSorted((first, second) => first.start - second.start));

test('segments are consecutive and add up to the duration of the root, whatever the spans contain', (t) => {
  fc.assert(
    fc.property(anySpans, (spans) => {
      const tree = buildSpanTree(spans);
      const below = (span: number): number => tree.children[span]?.reduce((sum, child) => sum + below(child), 1) ?? 0;
      t.is(
        tree.roots.reduce((sum, root) => sum + below(root), 0),
        spans.length,
      );
      for (const root of tree.roots) {
        const path = computeCriticalPath(tree, root);
        t.is(
          path.reduce((sum, { start, end }) => sum + end - start, 0),
          spans[root]?.duration ?? -1,
        );
        for (const [at, { start, end }] of path.entries()) {
          t.true(end > start);
          t.is(start, at === 0 ? (tree.starts[root] as number) : (path[at - 1]?.end as number));
        }
      }
      for (const [span, own] of computeSelfTimes(tree).entries())
        t.true(own >= 0 && own <= (spans[span]?.duration ?? -1));
    }),
    { numRuns: 2_000 },
  );
});

const hundredThousand = Array.from({ length: 100_000 }, (_, index) => index);
const shapes: readonly (readonly [string, (index: number) => Partial<TreeSpan>])[] = [
  [
    'below one another',
    (index) => ({ parentSpanId: index === 0 ? '' : `s${index - 1}`, start: index, duration: 200_000 - 2 * index }),
  ],
  [
    'with concurrent children',
    (index) => ({ parentSpanId: index === 0 ? '' : 's0', start: index, duration: index === 0 ? 100_001 : 1 }),
  ],
  ['in a circle', (index) => ({ parentSpanId: `s${(index + 1) % 100_000}`, start: index })],
  ['all at once', (index) => ({ parentSpanId: index === 0 ? '' : 's0' })],
];
for (const [shape, fieldsOf] of shapes)
  test(`a path of 100,000 spans ${shape}`, (t) => {
    const tree = buildSpanTree(hundredThousand.map((index) => one({ spanId: `s${index}`, ...fieldsOf(index) })));
    const path = computeCriticalPath(tree, tree.roots[0] ?? 0);
    t.is(
      path.reduce((sum, { start, end }) => sum + end - start, 0),
      (tree.ends[0] as number) - (tree.starts[0] as number),
    );
    t.is(computeSelfTimes(tree).length, 100_000);
  });
