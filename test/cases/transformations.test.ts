/** Transformations of tables: a case for each kind, and rejected input. */
import test from 'ava';
import fc from 'fast-check';
import { transformTables } from '../../queries/transformations/index.ts';
import { reduceValues } from '../../queries/transformations/reducers.ts';
import { type Table, toResult, toTables } from '../../queries/transformations/table.ts';
import { Transformation } from '../../schemas/dashboards/transformations.ts';

type Values = readonly unknown[];

/** A table by its columns; numbers give a number column, and `Time` is the time. */
const table = (columns: Readonly<Record<string, Values>>, query = 'A', labels?: Record<string, string>): Table => ({
  query,
  name: query,
  columns: Object.entries(columns).map(([name, values]) => {
    const isNumber = values.some((value) => typeof value === 'number');
    return {
      name,
      type: name === 'Time' ? 'time' : isNumber ? 'number' : 'text',
      unit: '',
      values,
      ...(labels !== undefined && name === 'Value' ? { labels } : {}),
    };
  }),
});

const shown = (tables: readonly Table[]): Record<string, Values>[] =>
  tables.map(({ columns }) => Object.fromEntries(columns.map(({ name, values }) => [name, values])));

const pods = table({ pod: ['a', 'b', 'a'], Value: [1, 2, null] });
const series = [
  table({ Time: [1, 2], Value: [10, 20] }, 'A', { job: 'node', zone: 'x' }),
  table({ Time: [2, 3], Value: [30, 40] }, 'A', { job: 'web', zone: 'x' }),
];

const cases: readonly (readonly [
  options: Record<string, unknown>,
  tables: readonly Table[],
  result: readonly Record<string, Values>[],
])[] = [
  [
    { kind: 'organize', hidden: ['b'], order: ['c', 'a'], names: { a: 'first' } },
    [table({ a: [1], b: [2], c: [3] })],
    [{ c: [3], first: [1] }],
  ],
  [
    { kind: 'merge' },
    [table({ pod: ['a', 'b'], Value: [1, 2] }, 'A'), table({ pod: ['b', 'c'], Value: [3, 4] }, 'B')],
    [{ pod: ['a', 'b', 'c'], 'Value #A': [1, 2, null], 'Value #B': [null, 3, 4] }],
  ],
  [
    { kind: 'merge' },
    series,
    [{ Time: [1, 2, 2, 3], job: ['node', 'node', 'web', 'web'], zone: ['x', 'x', 'x', 'x'], Value: [10, 20, 30, 40] }],
  ],
  [{ kind: 'join-by-field' }, series, [{ Time: [1, 2, 3], Value: [null, 30, 40] }]],
  [
    { kind: 'join-by-field', field: 'pod' },
    [table({ pod: ['a', 'b'], Value: [1, 2] }, 'A'), table({ pod: ['b', 'c'], Value: [3, 4] }, 'B')],
    [{ pod: ['a', 'b', 'c'], 'Value #A': [1, 2, null], 'Value #B': [null, 3, 4] }],
  ],
  [
    { kind: 'join-by-field', field: 'pod', mode: 'inner' },
    [table({ pod: ['a', 'b', 'b'], x: [1, 2, 3] }, 'A'), table({ pod: ['b', 'c'], y: [4, 5] }, 'B')],
    [{ pod: ['b', 'b'], x: [2, 3], y: [4, 4] }],
  ],
  [
    { kind: 'join-by-field', field: 'pod', mode: 'outer-tabular' },
    [table({ pod: ['a', 'b', 'b'], x: [1, 2, 3] }, 'A'), table({ pod: ['b', 'c'], y: [4, 5] }, 'B')],
    [{ pod: ['a', 'b', 'b', 'c'], x: [1, 2, 3, null], y: [null, 4, 4, 5] }],
  ],
  [
    { kind: 'join-by-labels', value: 'job' },
    [table({ Value: [1] }, 'A', { job: 'node', zone: 'x' }), table({ Value: [2] }, 'A', { job: 'web', zone: 'x' })],
    [{ zone: ['x'], node: [1], web: [2] }],
  ],
  [
    { kind: 'group-by', by: ['pod'], figures: [{ field: 'Value', reducers: ['sum', 'last-not-null', 'count'] }] },
    [pods],
    [{ pod: ['a', 'b'], 'Value (sum)': [1, 2], 'Value (lastNotNull)': [1, 2], 'Value (count)': [2, 1] }],
  ],
  [
    { kind: 'calculate', calculation: { is: 'row', reducer: 'mean' }, as: 'mean' },
    [table({ a: [1, 2], b: [3, null] })],
    [{ a: [1, 2], b: [3, null], mean: [2, 2] }],
  ],
  [
    { kind: 'calculate', calculation: { is: 'binary', left: { field: 'a' }, operator: '/', right: { field: 'b' } } },
    [table({ a: [1, 2, null], b: [2, 0, 1] })],
    [{ a: [1, 2, null], b: [2, 0, 1], 'a / b': [0.5, null, null] }],
  ],
  [
    { kind: 'calculate', calculation: { is: 'unary', field: 'a', function: 'negate' }, replaces: true, as: 'b' },
    [table({ Time: [1], a: [5] })],
    [{ Time: [1], b: [-5] }],
  ],
  [
    { kind: 'calculate', calculation: { is: 'cumulative', function: 'sum' }, as: 'sum' },
    [table({ a: [1, null, 2] })],
    [{ a: [1, null, 2], sum: [1, 1, 3] }],
  ],
  [
    { kind: 'calculate', calculation: { is: 'window', function: 'mean', rows: 2 }, as: 'mean' },
    [table({ a: [1, 3, 5] })],
    [{ a: [1, 3, 5], mean: [1, 2, 4] }],
  ],
  [
    { kind: 'calculate', calculation: { is: 'index', asShare: true }, as: 'at' },
    [table({ a: [1, 3, 5] })],
    [{ a: [1, 3, 5], at: [0, 0.5, 1] }],
  ],
  [
    { kind: 'filter-fields', keep: { pattern: '^a' }, drop: { names: ['ab'] } },
    [table({ a: [1], ab: [2], c: [3] })],
    [{ a: [1] }],
  ],
  [
    { kind: 'filter-rows', conditions: [{ field: 'Value', is: 'not-null' }] },
    [pods],
    [{ pod: ['a', 'b'], Value: [1, 2] }],
  ],
  [
    {
      kind: 'filter-rows',
      action: 'drop',
      match: 'any',
      conditions: [
        { field: 'Value', is: 'at-least', value: 2 },
        { field: 'pod', is: 'matches', pattern: '^x' },
      ],
    },
    [pods],
    [{ pod: ['a', 'a'], Value: [1, null] }],
  ],
  [{ kind: 'filter-rows', conditions: [{ field: 'nowhere', is: 'null' }] }, [pods], shown([pods])],
  [{ kind: 'filter-queries', keep: ['B'] }, [table({ a: [1] }, 'A'), table({ b: [2] }, 'B')], [{ b: [2] }]],
  [
    { kind: 'rename', pattern: 'Value #(.*)', replacement: `$1 of \${1}` },
    [table({ 'Value #A': [1], x: [2] })],
    [{ 'A of A': [1], x: [2] }],
  ],
  [
    { kind: 'reduce', reducers: ['max', 'mean'] },
    series,
    [{ Field: ['{job="node", zone="x"}', '{job="web", zone="x"}'], Max: [20, 40], Mean: [15, 35] }],
  ],
  [
    { kind: 'reduce', reducers: ['last'], labelsToFields: true },
    series,
    [{ Field: ['Value', 'Value'], job: ['node', 'web'], zone: ['x', 'x'], Last: [20, 40] }],
  ],
  [{ kind: 'reduce', reducers: ['sum'], to: 'fields' }, [table({ a: [1, 2], b: [3, 4] })], [{ a: [3], b: [7] }]],
  [{ kind: 'sort', by: 'Value', direction: 'descending' }, [pods], [{ pod: ['b', 'a', 'a'], Value: [2, 1, null] }]],
  [{ kind: 'sort', by: 'pod' }, [table({ pod: ['p10', 'p9'] })], [{ pod: ['p9', 'p10'] }]],
  [
    { kind: 'labels-to-fields', nameFrom: 'job' },
    series.slice(0, 1),
    [{ Time: [1, 2], zone: ['x', 'x'], node: [10, 20] }],
  ],
  [{ kind: 'labels-to-fields', to: 'rows', keep: ['job'] }, series.slice(0, 1), [{ label: ['job'], value: ['node'] }]],
  [
    { kind: 'series-to-rows' },
    series,
    [
      {
        Time: [3, 2, 2, 1],
        Metric: [
          'A{job="web", zone="x"}',
          'A{job="node", zone="x"}',
          'A{job="web", zone="x"}',
          'A{job="node", zone="x"}',
        ],
        Value: [40, 20, 30, 10],
      },
    ],
  ],
  [
    { kind: 'trend', figures: { A: 'max' } },
    series,
    [
      {
        job: ['node', 'web'],
        zone: ['x', 'x'],
        'Trend #A': [
          {
            value: 20,
            points: [
              [1, 10],
              [2, 20],
            ],
          },
          {
            value: 40,
            points: [
              [2, 30],
              [3, 40],
            ],
          },
        ],
      },
    ],
  ],
  [
    { kind: 'extract', field: 'body', replaces: true },
    [table({ body: ['{"a":1,"b":{"c":"x"}}', 'a=2 b="two words"', null] })],
    [{ a: [1, 2, null], b: [{ c: 'x' }, 'two words', null] }],
  ],
  [
    { kind: 'extract', field: 'body', format: 'json', paths: [{ path: 'b.c[1]', as: 'c' }], replaces: true },
    [table({ body: ['{"b":{"c":[1,"x"]}}', 'none'] })],
    [{ c: ['x', null] }],
  ],
  [
    { kind: 'extract', field: 'body', format: 'pattern', pattern: '(?P<ms>\\d+)ms', replaces: true },
    [table({ body: ['took 5ms', 'none'] })],
    [{ ms: [5, null] }],
  ],
  [
    {
      kind: 'convert',
      conversions: [
        { field: 'a', to: 'number' },
        { field: 'Time', to: 'text', format: 'YYYY-MM-DD HH:mm', zone: 'Europe/Berlin' },
      ],
    },
    [table({ a: ['1,000', '2.5 ms', 'x'], Time: [0, 60_000, null] })],
    [{ a: [1000, 2.5, null], Time: ['1970-01-01 01:00', '1970-01-01 01:01', null] }],
  ],
  [
    { kind: 'convert', conversions: [{ field: 'at', to: 'time' }] },
    [table({ at: ['2026-03-01T10:00:00Z', 'x'] })],
    [{ at: [Date.UTC(2026, 2, 1, 10), null] }],
  ],
  [{ kind: 'limit', rows: 2 }, [pods], [{ pod: ['a', 'b'], Value: [1, 2] }]],
  [{ kind: 'limit', rows: 0, queries: ['B'] }, [pods], shown([pods])],
  [{ kind: 'limit', rows: 0, off: true }, [pods], shown([pods])],
];

for (const [index, [options, tables, result]] of cases.entries())
  test(`case ${index + 1} of transformations gives its tables: ${options['kind']}`, (t) => {
    t.deepEqual(shown(transformTables(tables, [Transformation.parse(options)])), result as Record<string, Values>[]);
  });

test('transformations are applied in order, and values of two series at the same time are placed in two columns', (t) => {
  const chain = [
    { kind: 'reduce', reducers: ['last'] },
    { kind: 'sort', by: 'Last', direction: 'descending' },
    { kind: 'limit', rows: 1 },
  ];
  t.deepEqual(
    shown(
      transformTables(
        series,
        chain.map((each) => Transformation.parse(each)),
      ),
    ),
    [{ Field: ['{job="web", zone="x"}'], Last: [40] }],
  );
  const [joined] = transformTables(series, [Transformation.parse({ kind: 'join-by-field' })]);
  t.deepEqual(
    joined?.columns.map(({ labels, values }) => [labels?.['job'], values]),
    [
      [undefined, [1, 2, 3]],
      ['node', [10, 20, null]],
      ['web', [null, 30, 40]],
    ],
  );
});

test('tables that would exceed the size limit are refused before they are built', (t) => {
  const wide = Array.from({ length: 5 }, (_, query) =>
    table({ key: Array(1000).fill('same'), Value: Array(1000).fill(1) }, String(query)),
  );
  const join = Transformation.parse({ kind: 'join-by-field', field: 'key', mode: 'inner' });
  t.regex(
    t.throws(() => transformTables(wide, [join]))?.message ?? '',
    /^would return 1000000 rows, the maximum is 200000/,
  );
  t.throws(() => transformTables([table({ a: Array(200_001).fill(1) })], []));
});

test('an invalid pattern is refused', (t) => {
  const rename = Transformation.parse({ kind: 'rename', pattern: '(?=x)', replacement: '' });
  t.regex(t.throws(() => transformTables([pods], [rename]))?.message ?? '', /must be a regular expression of RE2/);
});

test('figures are computed from the values that are present', (t) => {
  for (const [reducer, value] of [
    ['last', null],
    ['last-not-null', 3],
    ['first', 1],
    ['min', 1],
    ['max', 5],
    ['mean', 3],
    ['median', 3],
    ['sum', 9],
    ['count', 4],
    ['range', 4],
    ['difference', 2],
    ['difference-percent', 2],
    ['delta', 7],
    ['step', -2],
    ['p25', 2],
    ['distinct-count', 4],
    ['change-count', 3],
    ['all-nulls', false],
  ] as const)
    t.is(reduceValues(reducer, [1, 5, 3, null]), value, reducer);
  t.is(reduceValues('sum', [null]), null);
  t.is(reduceValues('max', [1, 'Infinity']), 'Infinity');
  t.is(reduceValues('count', []), 0);
});

test('tables of results name their value columns by query if there are several, and are converted back to results', (t) => {
  const response = {
    form: 'table' as const,
    series: [],
    columns: [
      { name: 'job', type: 'text' as const, unit: '' },
      { name: 'value', type: 'number' as const, unit: 's' },
    ],
    rows: [['node', 1]],
  };
  t.deepEqual(shown(toTables('B', response, { isOnlyQuery: false })), [{ job: ['node'], 'Value #B': [1] }]);
  const [own] = toTables('B', response);
  t.deepEqual(toResult(own as Table), {
    columns: [
      { name: 'job', type: 'text', unit: '' },
      { name: 'Value', type: 'number', unit: 's' },
    ],
    rows: [['node', 1]],
  });
});

test('no transformation changes its input tables, and all columns have the same number of values', (t) => {
  const value = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom('a', 'b', '{"a":1}', 'NaN', null, true));
  const column = fc.array(value, { minLength: 3, maxLength: 3 });
  const options = cases.map(([each]) => Transformation.parse(each));
  fc.assert(
    fc.property(
      fc.array(fc.record({ Time: column, pod: column, Value: column, body: column }), { maxLength: 4 }),
      fc.array(fc.constantFrom(...options), { maxLength: 4 }),
      (all, chain) => {
        const tables = all.map((columns, index) =>
          table(columns, index % 2 === 0 ? 'A' : 'B', { job: 'node', n: String(index) }),
        );
        const before = JSON.stringify(tables);
        for (const { columns } of transformTables(tables, chain))
          t.is(new Set(columns.map(({ values }) => values.length)).size <= 1, true, JSON.stringify(chain));
        t.is(JSON.stringify(tables), before);
      },
    ),
    { numRuns: 300 },
  );
});

const named = (legend: string): readonly Table[] =>
  toTables(
    'A',
    {
      form: 'series',
      columns: [],
      rows: [],
      series: ['cart', 'shop'].map((service, index) => ({
        name: 'rate',
        labels: { service },
        unit: '1',
        points: [[1, 10 * (index + 1)]],
      })),
    },
    { legend },
  );

for (const [title, legend, chain, result] of [
  [
    'series have the names of the legend',
    'of {{service}}',
    [],
    [
      { Time: [1], 'of cart': [10] },
      { Time: [1], 'of shop': [20] },
    ],
  ],
  [
    'series have the labels in which they differ',
    '',
    [],
    [
      { Time: [1], cart: [10] },
      { Time: [1], shop: [20] },
    ],
  ],
  [
    'a pattern renames series by their names',
    '',
    [{ kind: 'rename', pattern: '^c(.*)', replacement: 'C$1' }],
    [
      { Time: [1], Cart: [10] },
      { Time: [1], shop: [20] },
    ],
  ],
  [
    'series are filtered by their names',
    '',
    [{ kind: 'filter-fields', keep: { names: ['Time', 'shop'] } }, { kind: 'merge' }],
    [{ Time: [1], service: ['shop'], Value: [20] }],
  ],
  [
    'a join has a column for each series, and a calculation finds them by their names',
    '',
    [
      { kind: 'join-by-field' },
      {
        kind: 'calculate',
        calculation: { is: 'binary', left: { field: 'cart' }, operator: '/', right: { field: 'shop' } },
      },
      { kind: 'organize', hidden: ['shop'], order: ['cart / shop'], names: { cart: 'Cart' } },
    ],
    [{ 'cart / shop': [0.5], Time: [1], Cart: [10] }],
  ],
  [
    'a reduction has the names in its rows',
    '',
    [{ kind: 'reduce', reducers: ['max'] }],
    [{ Field: ['cart', 'shop'], Max: [10, 20] }],
  ],
] as const)
  test(`of series of a query, ${title}`, (t) => {
    const tables = transformTables(
      named(legend),
      chain.map((each) => Transformation.parse(each)),
    );
    t.deepEqual(
      tables.map((each) => {
        const { columns, rows } = toResult(each);
        return Object.fromEntries(columns.map(({ name }, index) => [name, rows.map((row) => row[index])]));
      }),
      result as never,
    );
  });
