/** Grafana dashboards converted to our format, and the report on each part. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { findDashboardDifferences } from '../../../subjects/dashboards/difference.ts';
import type { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { writeGrafana } from '../../../subjects/dashboards/grafana/export.ts';
import { type Imported, readGrafana } from '../../../subjects/dashboards/grafana/import.ts';
import { oldDashboard, presentDashboard } from './grafana-example.ts';
import { grafanaFiles } from './grafana-files.ts';
import { hasResource, resourceOf } from './grafana-resource.ts';

const read = (body: object): Imported => {
  const imported = readGrafana(structuredClone(body));
  if (imported === undefined || 'problems' in imported) throw new Error(JSON.stringify(imported));
  return imported;
};
const panelOf = ({ document }: Imported, id: string): DashboardFields['panels'][number] => {
  const panel = document.panels.find((one) => one.id === id);
  if (panel === undefined) throw new Error(`there is no ${id}`);
  return panel;
};
/** Includes public dashboards if the environment names their folder. */
const all = [
  { name: 'present', dashboard: presentDashboard as unknown as Record<string, unknown> },
  { name: 'old', dashboard: oldDashboard as unknown as Record<string, unknown> },
  ...grafanaFiles(),
];

const leavesIn = (value: unknown): number => {
  const members = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return members.length === 0 ? 1 : members.reduce<number>((sum, member) => sum + leavesIn(member), 0);
};

const reportOf = ({ report }: Imported) =>
  [...report.panels, ...report.variables].flatMap(({ losses }) => losses).concat(report.rest);

const at = (value: unknown, path: string): boolean => {
  // Keys may contain dots: any matching path is enough.
  if (path === '') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, member]) => path === key || (path.startsWith(`${key}.`) && at(member, path.slice(key.length + 1))),
  );
};

for (const { name, dashboard } of all) {
  test(`each leaf of ${name} is imported, has Grafana's default, or is reported with an existing path`, (t) => {
    for (const body of [dashboard, { dashboard, meta: { slug: 'x', canEdit: true } }]) {
      const imported = read(body);
      const { total, carried, default: defaultCount, named } = imported.report.leaves;
      t.is(total, leavesIn(body));
      t.is(total, carried + defaultCount + named);
      const losses = reportOf(imported);
      t.is(losses.length, named);
      t.deepEqual(
        losses.filter(({ path }) => !at(body, path)),
        [],
      );
      t.is(new Set(losses.map(({ path }) => path)).size, named);
    }
  });

  test(`an export of ${name} imports as the same dashboard`, (t) => {
    const { id, document } = read(dashboard);
    const again = read(JSON.parse(JSON.stringify(writeGrafana(id, document))));
    t.is(again.id, id);
    t.deepEqual(again.document, document);
  });

  if (hasResource(dashboard))
    test(`${name} and its resource form give the same dashboard`, (t) => {
      const classic = read(dashboard);
      const resource = read(resourceOf(structuredClone(dashboard)));
      t.deepEqual(findDashboardDifferences(classic.document, resource.document), []);
      t.is(resource.id, classic.id);
      const { total, ...parts } = resource.report.leaves;
      t.is(total, parts.carried + parts.default + parts.named);
      t.is(total, leavesIn(resourceOf(structuredClone(dashboard))));
    });
}

test('queries, fields, overrides and transformations are preserved', (t) => {
  const imported = read(presentDashboard);
  const requests = panelOf(imported, 'panel-1');
  t.like(requests.queries, [
    { name: 'Good_answers', legend: '{{code}}', answers: 'series' },
    { name: 'B', hidden: true, exemplars: true },
  ]);
  t.is(requests.queries[0]?.minStep, undefined, 'how often samples come is said by queries alone');
  t.is(requests.minStep, '1m');
  t.like(requests.formulas, [{ name: 'C', expression: 'B / 2' }]);
  t.like(requests.fields, {
    unit: '{request}/s',
    thresholds: {
      steps: [
        { value: null, colour: 'green' },
        { value: 80, colour: 'red' },
      ],
    },
    drawing: { as: 'lines', width: 2, area: 10, stack: 'normal' },
    axis: { scale: 'log10' },
    hiddenIn: ['legend'],
  });
  t.like(requests.overrides, [
    {
      match: { by: 'pattern', pattern: '5..' },
      settings: { colour: { mode: 'fixed', fixed: 'red' }, drawing: { below: true } },
    },
  ]);
  t.like(requests.visual, {
    kind: 'time-series',
    legend: { place: 'right', form: 'table', values: ['mean', 'last-not-null'] },
  });
  const nodes = panelOf(imported, 'panel-2');
  t.deepEqual(
    nodes.transformations.map(({ kind, off }) => [kind, off]),
    [
      ['organize', false],
      ['calculate', false],
      ['sort', true],
    ],
  );
  t.is(nodes.queries[0]?.answers, 'table');
  t.like(nodes.repeat, { variable: 'job', direction: 'down' });
  t.deepEqual(Object.keys(nodes.imported?.unmapped ?? {}), ['transformations.3']);
});

test('references to a query that is renamed on import use the new name', (t) => {
  const imported = read({
    uid: 'names',
    title: 'Names',
    schemaVersion: 39,
    panels: [
      {
        id: 1,
        type: 'table',
        datasource: { type: 'prometheus' },
        gridPos: { x: 0, y: 0, w: 12, h: 8 },
        targets: ['Some name', 'Some name 2', 'C'].map((refId) => ({ refId, expr: 'up', instant: true })),
        transformations: [
          { id: 'organize', options: { renameByName: { 'Value #Some name 2': 'Up', 'Value #C': 'Down' } } },
          { id: 'filterByRefId', options: { include: 'Some name' } },
          {
            id: 'timeSeriesTable',
            options: { 'Some name': { stat: 'mean' } },
            filter: { id: 'byRefId', options: 'C' },
          },
        ],
        fieldConfig: {
          defaults: {},
          overrides: [
            { matcher: { id: 'byName', options: 'Value #Some name' }, properties: [{ id: 'unit', value: 's' }] },
            { matcher: { id: 'byFrameRefID', options: 'Some name' }, properties: [{ id: 'unit', value: 's' }] },
            { matcher: { id: 'byRegexp', options: '/Value #Some name.*/' }, properties: [{ id: 'unit', value: 's' }] },
          ],
        },
      },
    ],
  });
  const { queries, transformations, overrides } = panelOf(imported, 'panel-1');
  t.deepEqual(
    queries.map(({ name }) => name),
    ['Some_name', 'Some_name_2', 'C'],
  );
  t.like(transformations, [
    { names: { 'Value #Some_name_2': 'Up', 'Value #C': 'Down' } },
    { keep: ['Some_name'] },
    { figures: { Some_name: 'mean' }, queries: ['C'] },
  ]);
  t.deepEqual(
    overrides.map(({ match }) => match),
    [
      { by: 'name', name: 'Value #Some_name' },
      { by: 'query', query: 'Some_name' },
      { by: 'pattern', pattern: 'Value #Some_name.*' },
    ],
  );
});

test('rows become sections, and panels preserve their position in them', (t) => {
  const imported = read(presentDashboard);
  t.like(imported.document.sections, [
    { id: 'row-1', title: 'Details of $job', folded: true, repeat: { variable: 'job' } },
    { id: 'row-2', title: 'Notes', folded: false },
  ]);
  t.like(panelOf(imported, 'panel-5').place, { section: 'row-1', x: 6, y: 0 });
});

test('panels of other data sources and of plugins become placeholders that show the original query', (t) => {
  const imported = read(presentDashboard);
  t.like(panelOf(imported, 'panel-5').visual, {
    kind: 'placeholder',
    sourceType: 'loki',
    queries: ['{job="x"} |= "y"'],
  });
  t.like(panelOf(imported, 'panel-6').visual, { kind: 'placeholder', sourceType: 'acme-map-panel' });
  t.like(panelOf(imported, 'panel-6').imported?.unmapped, { options: { secret: 'kept' } });
  t.deepEqual(
    imported.report.panels.map(({ outcome }) => outcome),
    ['reduced', 'reduced', 'carried', 'placeholder', 'placeholder', 'reduced'],
  );
});

test('variables that select a data source are removed, and the report lists them', (t) => {
  const { document, report } = read(presentDashboard);
  t.deepEqual(
    document.variables.map(({ name, kind }) => [name, kind]),
    [
      ['job', 'label-values'],
      ['size', 'list'],
      ['step', 'interval'],
      ['find', 'text'],
      ['only', 'filters'],
    ],
  );
  t.like(document.variables[0], { label: 'job', match: 'up{job=~"a,b"}', pattern: 'shop-(.*)', all: { value: '.+' } });
  t.deepEqual(
    report.variables.map(({ name, outcome }) => [name, outcome]),
    [
      ['datasource', 'gone'],
      ['job', 'carried'],
      ['size', 'carried'],
      ['step', 'carried'],
      ['find', 'carried'],
      ['only', 'reduced'],
      ['pods', 'gone'],
    ],
  );
  t.regex(report.variables[0]?.losses[0]?.message ?? '', /metrics of this organization/);
});

test('a filter without a value, which Grafana ignores, is reported, and other filters of its variable are imported', (t) => {
  const { document, report } = read(presentDashboard);
  t.like(
    document.variables.find(({ name }) => name === 'only'),
    { filters: [{ label: 'zone', operator: '=', values: ['eu'] }] },
  );
  t.deepEqual(
    report.variables.find(({ name }) => name === 'only')?.losses.map(({ path }) => path),
    ['key', 'operator'].map((key) => `templating.list.5.filters.1.${key}`),
  );
});

const oddPanels = [
  {
    what: 'without a width beyond the middle of the grid',
    panel: { gridPos: { x: 16, y: 0, h: 8 } },
    is: { place: { x: 16, width: 8 } },
  },
  {
    what: 'whose new column names are not strings',
    panel: {
      transformations: [{ id: 'organize', options: { renameByName: { up: 'Up', job: { is: 'odd' } } } }],
    },
    is: { transformations: [{ kind: 'organize', names: { up: 'Up' } }] },
  },
  {
    what: 'whose minimum steps are numbers of seconds',
    panel: { interval: '30', targets: [{ refId: 'A', expr: 'up', interval: '60' }] },
    is: { minStep: '30s', queries: [{ name: 'A', minStep: '60s' }] },
  },
];
for (const { what, panel, is } of oddPanels)
  test(`a panel ${what} is imported, and stays the same when its export is imported again`, (t) => {
    const targets = [{ refId: 'A', expr: 'up' }];
    const { id, document } = read({
      uid: 'odd',
      schemaVersion: 39,
      panels: [{ id: 1, type: 'table', targets, ...panel }],
    });
    t.like(document.panels[0], is as object);
    const before = structuredClone(document);
    const again = read(JSON.parse(JSON.stringify(writeGrafana(id, document))));
    t.deepEqual(document, before);
    t.deepEqual(again.document, document);
  });

test('an export preserves the table format, series names and point limits of its source', (t) => {
  const panelOf = (type: string, target: object, panel: object = {}): object => ({
    type,
    title: type,
    ...panel,
    targets: [{ refId: 'A', expr: 'up', ...target }],
  });
  const instant = { instant: true, range: false };
  const panels = [
    panelOf('table', { ...instant, format: 'table' }),
    panelOf('barchart', { ...instant, format: 'table' }),
    panelOf('stat', instant),
    panelOf('piechart', { ...instant, format: 'table' }),
    panelOf('timeseries', { range: true, legendFormat: '__auto' }),
    panelOf('logs', { expr: '{job="x"}' }, { datasource: { type: 'loki', uid: 'l' }, maxDataPoints: 20 }),
  ].map((panel, index) => ({ id: index + 1, ...panel }));
  const imported = read({ uid: 'as-it-is', schemaVersion: 39, panels });
  t.is(imported.report.panels.at(-1)?.outcome, 'placeholder');
  type Written = Record<string, unknown> & { readonly targets: readonly [Record<string, unknown>] };
  const summaryOf = ({ type, maxDataPoints, targets: [{ instant, format, legendFormat }] }: Written): unknown => [
    ...[type, maxDataPoints, instant, format, legendFormat],
  ];
  const exported = JSON.parse(JSON.stringify(writeGrafana(imported.id, imported.document)));
  t.deepEqual(exported.panels.map(summaryOf), JSON.parse(JSON.stringify(panels)).map(summaryOf));
});

test('a link that a browser would execute is reported and not imported', (t) => {
  const { document, report } = read(presentDashboard);
  t.is(document.links.length, 2);
  t.true(report.rest.some(({ path }) => path === 'links.2.url'));
});

test('legacy graphs and single stats become current panels', (t) => {
  const imported = read(oldDashboard);
  const graph = panelOf(imported, 'panel-1');
  t.like(graph.visual, { kind: 'time-series', legend: { place: 'right', form: 'table', values: ['max'] } });
  t.like(graph.fields, { unit: 'By', min: 0, drawing: { width: 2, area: 10, stack: 'normal', joinGaps: true } });
  t.is(graph.overrides.length, 2);
  t.like(graph.overrides[1]?.settings, { unit: 'ms', axis: { side: 'right' }, drawing: { as: 'bars' } });
  t.like(graph.queries, [{ name: 'A', query: { kind: 'promql', expression: 'rate(x[5m])' }, stepFactor: 2 }]);
  const figure = panelOf(imported, 'panel-2');
  t.like(figure.visual, { kind: 'stat', reduce: { reducer: 'last-not-null' }, coloured: 'background', graph: 'area' });
  t.like(figure.fields.thresholds?.steps, [{ value: null, colour: 'green' }, { value: 50 }, { value: 80 }]);
  t.like(figure.place, { section: 'row-1', x: 12, width: 12 });
});

test('malicious documents are rejected with a path, or imported without harm', (t) => {
  const hostile = [
    JSON.parse('{"panels":[{"__proto__":{"type":"stat"},"constructor":{"prototype":{"x":1}},"type":"stat","id":1}]}'),
    { panels: [null, 3, 'x', [], { type: 7, id: {}, gridPos: 'x', targets: {}, fieldConfig: [], options: 3 }] },
    { panels: {}, templating: { list: [null, { type: 'query' }, { type: 'custom', name: '__x', query: 3 }] } },
    { title: 3, panels: [{ type: 'timeseries', gridPos: { x: -5, y: 1e300, w: 99, h: -1 }, maxDataPoints: 1e9 }] },
    {
      panels: [
        { type: 'stat', fieldConfig: { defaults: { decimals: 1e9, min: 'x', links: [{ url: 'javascript:1' }] } } },
      ],
    },
    {
      rows: [null, { panels: [{ type: 'graph', yaxes: 3, seriesOverrides: [{ alias: '/(/' }] }] }],
      schemaVersion: 'x',
    },
    {
      apiVersion: 'dashboard.grafana.app/v2',
      spec: { elements: { a: 3 }, layout: { kind: 'RowsLayout', spec: { rows: [3] } } },
    },
    { panels: [], annotations: { list: [{ name: '', expr: 3 }] }, links: [{ url: 'data:text/html,x' }], time: 3 },
    {
      panels: [],
      templating: {
        list: [{ type: 'constant', name: 'oiq_travelling', query: '{"rest":{"name":{"of":"x","is":3}}}' }],
      },
    },
  ];
  const own = ['constructor', '__proto__', 'toString', 'hasOwnProperty', '__defineGetter__'];
  const withOwn = (value: object): object =>
    Object.fromEntries([...Object.entries(value), ...own.map((name) => [name, { a: 1 }] as const)]);
  for (const name of own)
    hostile.push({
      panels: [
        { type: name, id: 1 },
        {
          type: 'table',
          id: 2,
          options: withOwn({ reduceOptions: { calcs: [name] }, cellHeight: name }),
          transformations: [{ id: name, options: withOwn({ reducers: [name], match: name }) }],
          fieldConfig: {
            defaults: {
              color: { mode: name },
              mappings: [{ type: name, options: { match: name } }],
              unit: name,
              custom: withOwn({ cellOptions: { type: name }, displayMode: name }),
            },
            overrides: [{ matcher: { id: name, options: name }, properties: [{ id: name, value: name }] }],
          },
        },
      ],
    });
  for (const body of hostile) {
    const { id, document, report } = read(body);
    t.notThrows(() => writeGrafana(id, document), JSON.stringify(body));
    const { total, ...parts } = report.leaves;
    t.is(total, leavesIn(body));
    t.is(total, parts.carried + parts.default + parts.named);
  }
  t.is(({} as { x?: number }).x, undefined);
  const many = Array.from({ length: 301 }, (_, id) => ({ type: 'text', id, options: { content: 'x' } }));
  t.like(readGrafana({ panels: many }), { problems: [{ path: 'panels' }] });
  t.is(readGrafana({ name: 'ours', panels: [] }), undefined);
  t.is(readGrafana([]), undefined);
});

const prometheus = { type: 'prometheus', uid: 'p' };
const createSource = (name: string, query: string, datasource: object = prometheus) => ({
  type: 'query',
  name,
  datasource,
  definition: query,
  query: { query, refId: 'A' },
});
const createPanelSource = (id: number, ...expressions: readonly string[]) => ({
  id,
  type: 'timeseries',
  title: `panel ${id}`,
  gridPos: { x: 0, y: id, w: 12, h: 8 },
  datasource: prometheus,
  targets: expressions.map((expr, index) => ({ refId: `Q${index}`, expr, datasource: prometheus })),
});
const createDashboard = (variables: readonly object[], panels: readonly object[] = []) => ({
  uid: 'one',
  title: 'One',
  schemaVersion: 39,
  templating: { list: variables },
  panels,
});

test('a variable that cannot be imported or queried has a reason, and so have the panels that use it', (t) => {
  const many = Array.from({ length: 98 }, (_, index) => createSource(`v${index}`, 'label_values(up, job)'));
  const dashboard = createDashboard(
    [
      createSource('self', 'label_values(up{instance=~"$self"}, instance)'),
      createSource('user', 'label_values(up{instance="$logs"}, job)'),
      createSource('logs', '{app="a"} | json', { type: 'loki', uid: 'l' }),
      ...many,
      createSource('last', 'label_values(up, job)'),
    ],
    [
      createPanelSource(1, 'count(up{a="$last"}) or vector(3)', 'up{a="$logs"} * $v1'),
      createPanelSource(2, 'up{a="$v1"}'),
      createPanelSource(3, 'up{a="$typo"}'),
      createPanelSource(4, '{a="b"} $v1 on (entity) {c="d"}'),
    ],
  );
  const { report } = read(dashboard);
  const variables = report.variables.filter(({ problems }) => problems.length > 0);
  t.deepEqual(
    variables.map(({ name, outcome, problems }) => [name, outcome, ...problems]),
    [
      ['self', 'reduced', 'uses itself: self → self'],
      ['user', 'reduced', 'variable logs was not imported'],
      ['logs', 'gone', 'it was not imported: the data source loki is not supported'],
      ['last', 'gone', 'it was not imported: it exceeds the maximum of 100 variables'],
    ],
  );
  t.deepEqual(
    report.panels.map(({ outcome, problems }) => [outcome, ...problems]),
    [
      ['reduced', 'variable last was not imported', 'variable logs was not imported'],
      ['carried'],
      ['reduced', 'variable typo does not exist'],
      ['reduced', 'variable v1 cannot replace an operator, only names, values, numbers and durations'],
    ],
  );
});

test('a panel or variable without an equivalent is exported with all fields of Grafana’s typed form', (t) => {
  const logs = {
    ...createPanelSource(1),
    datasource: { type: 'loki', uid: 'l' },
    fieldConfig: {
      defaults: { unit: 'none', custom: { drawStyle: 'bars', stacking: { mode: 'normal' } } },
      overrides: [],
    },
    targets: [{ refId: 'A', expr: '{a="b"}' }],
  };
  const { id, document, report } = read(
    createDashboard([createSource('app', 'label_values(app)', { type: 'loki', uid: 'l' })], [logs]),
  );
  t.is(report.panels[0]?.outcome, 'placeholder');
  const { panels, templating } = writeGrafana(id, document) as {
    readonly panels: readonly [Record<string, unknown>];
    readonly templating: { readonly list: readonly Record<string, unknown>[] };
  };
  const { datasource, fieldConfig, targets } = panels[0];
  t.deepEqual(
    { datasource, fieldConfig, targets },
    {
      datasource: logs.datasource,
      fieldConfig: logs.fieldConfig,
      targets: logs.targets,
    },
  );
  const { definition: _, ...variable } = createSource('app', 'label_values(app)', { type: 'loki', uid: 'l' });
  t.deepEqual(
    templating.list.find(({ name }) => name === 'app'),
    variable,
  );
  const isExported = new Map(
    reportOf({ report } as Imported).map(({ path, message }) => [path, !message.includes('not contain')]),
  );
  t.true(isExported.get('panels.0.fieldConfig.defaults.custom.stacking.mode'));
  t.true(isExported.get('templating.list.0.query.query'));
  t.false(isExported.get('templating.list.0.definition'));
});

test('an export has the data source variable of the imported dashboard once, at its place', (t) => {
  const source = { type: 'datasource', name: 'ds', label: 'Cluster', query: 'prometheus' };
  const { id, document } = read(
    createDashboard([createSource('app', 'label_values(app)'), source], [createPanelSource(1, 'up')]),
  );
  const { panels, templating } = writeGrafana(id, document) as {
    readonly panels: readonly [{ readonly datasource: object }];
    readonly templating: { readonly list: readonly Record<string, unknown>[] };
  };
  t.deepEqual(
    templating.list.slice(0, 2).map(({ name }) => name),
    ['app', 'ds'],
  );
  t.deepEqual(
    templating.list.filter(({ type }) => type === 'datasource'),
    [source],
  );
  t.deepEqual(panels[0].datasource, { type: 'prometheus', uid: ['$', '{ds}'].join('') });
});
