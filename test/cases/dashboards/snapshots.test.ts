/** The panel settings in a snapshot name nothing that the panel results do not show. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import type { Result } from '../../../queries/result.ts';
import { FieldSettings } from '../../../schemas/dashboards/fields.ts';
import { Visual } from '../../../schemas/dashboards/visuals.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import type { DashboardResponse, PanelItem } from '../../../subjects/dashboards/query/dashboard-query.ts';
import { createSnapshotContent } from '../../../subjects/dashboards/snapshots/content.ts';
import { createResultStripper } from '../../../subjects/dashboards/snapshots/result-stripper.ts';

type Given = Readonly<Record<string, unknown>>;

const result = (more: Partial<Result>): Result => ({
  form: 'series',
  series: [],
  columns: [],
  rows: [],
  from: '',
  to: '',
  stepMs: 1000,
  partialSteps: [],
  cost: { rowsRead: 0, bytesRead: 0, elapsedMs: 0, isCached: false },
  partial: [],
  freshness: { value: null, reason: 'none' },
  ...more,
});

const frozenWith = (visual: Given, fields: Given, item: Partial<PanelItem> = {}) => {
  const document = DashboardFields.parse({ name: 'one', panels: [{ id: 'a', visual, fields }] });
  const empty = {
    repeat: null,
    stepMs: 0,
    results: {},
    earlier: {},
    table: null,
    tables: [],
    partial: [],
    error: null,
  };
  const response = {
    from: '',
    to: '',
    variables: [],
    annotations: [],
    items: [{ panelId: 'a', title: '', ...empty, ...item }],
  };
  const content = createSnapshotContent(
    { name: 'one', createdAt: '' },
    document,
    response as unknown as DashboardResponse,
  );
  const [panel] = content.panels;
  if (panel === undefined) throw new Error('there is no panel');
  return panel;
};

const secretVisuals: readonly Given[] = [
  { kind: 'stat', reduce: { fields: '^secret$' } },
  { kind: 'gauge', reduce: { fields: '^(shown|secret)$' } },
  { kind: 'bar-gauge', reduce: { fields: 'secret.*' } },
  { kind: 'pie', reduce: { fields: 'secret' } },
  { kind: 'bars', x: 'secret', colourBy: 'secret' },
  { kind: 'table', sortBy: [{ field: 'secret' }], footer: { reducers: ['sum'], fields: ['secret'] } },
  { kind: 'logs', fields: ['secret'] },
  { kind: 'node-graph', arcs: [{ field: 'secret', colour: 'red' }] },
  { kind: 'text', content: 'secret' },
  { kind: 'alerts', search: 'secret', labels: '{team="secret"}', rules: ['secret'], groupBy: ['secret'] },
  { kind: 'dashboards', search: 'secret', folder: 'secret', tags: ['secret'] },
  { kind: 'placeholder', sourceType: 'secret', queries: ['secret'] },
];
for (const visual of secretVisuals)
  test(`settings of a ${visual['kind']} do not name fields that are not shown`, (t) => {
    const frozen = frozenWith(visual, {});
    t.notRegex(JSON.stringify(frozen), /secret/);
    t.true(visual['kind'] === frozen.visual.kind);
    if (!['text', 'alerts', 'dashboards', 'placeholder'].includes(frozen.visual.kind))
      t.notThrows(() => Visual.parse(frozen.visual));
  });

const shownItem: Partial<PanelItem> = {
  results: { A: result({ series: [{ name: 'p.95', labels: { zone: 'eu' }, unit: '', points: [] }] }) },
  table: { query: 'A', name: 'A', columns: [{ name: 'Sum', type: 'text', unit: '' }], rows: [['ok']] },
};

test('settings that name shown fields stay', (t) => {
  for (const fields of ['^p\\.95$', 'Sum', 'eu']) {
    const { visual } = frozenWith({ kind: 'stat', reduce: { fields } }, {}, shownItem);
    t.like(visual, { reduce: { fields } });
  }
  const table = { kind: 'table', sortBy: [{ field: 'Sum', descending: true }, { field: 'secret' }] };
  t.like(frozenWith(table, {}, shownItem).visual, { sortBy: [{ field: 'Sum', descending: true }] });
});

test('mappings of shown figures and texts stay, and mappings of other texts are removed', (t) => {
  const mappings = [
    { kind: 'value', value: '0', text: 'Down' },
    { kind: 'value', value: 'ok', text: 'Fine' },
    { kind: 'value', value: 'secret-host', colour: 'red' },
    { kind: 'pattern', pattern: '^ok$', colour: 'green' },
    { kind: 'pattern', pattern: 'secret|ok', colour: 'red' },
    { kind: 'range', from: 0, to: 1, text: 'Few' },
    { kind: 'special', match: 'null', text: 'None' },
  ];
  const settings = {
    mappings,
    links: [{ title: 'secret', url: '/secret' }],
    drawing: { areaDownTo: 'secret', width: 2 },
  };
  const { fields } = frozenWith({ kind: 'stat' }, { ...settings, name: 'secret', description: 'secret' }, shownItem);
  t.notRegex(JSON.stringify(fields), /secret/);
  t.deepEqual(
    fields.mappings?.map(({ kind, colour, text }) => [kind, colour ?? text]),
    [
      ['value', 'Down'],
      ['value', 'Fine'],
      ['pattern', 'green'],
      ['range', 'Few'],
      ['special', 'None'],
    ],
  );
  t.deepEqual(fields.drawing, { width: 2 });
  t.notThrows(() => FieldSettings.parse(fields));
});

test('a legend shows only the remaining labels, and no other property of their object', (t) => {
  const queries = [
    {
      name: 'A',
      legend: '{{zone}} {{ job }}|{{constructor}}{{__proto__}}{{toString}}',
      query: { kind: 'promql', expression: 'secret' },
    },
  ];
  const [panel] = DashboardFields.parse({
    name: 'one',
    panels: [{ id: 'a', visual: { kind: 'stat' }, queries }],
  }).panels;
  if (panel === undefined) throw new Error('there is no panel');
  const series = [{ name: 'secret{job="secret"}', labels: { zone: 'eu', job: 'secret' }, unit: '', points: [] }];
  const { series: strippedSeries } = createResultStripper(panel, { labels: ['zone', 'constructor'], bodies: false })(
    'A',
    result({ series, hint: 'secret' }),
  );
  t.deepEqual(strippedSeries, [{ name: 'eu |', labels: { zone: 'eu' }, unit: '', points: [] }]);
});
