/** What a dashboard can contain: all declared fields within their limits, and nothing else. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { DashboardFields, documentVersion } from '../../../subjects/dashboards/document.ts';
import { currentVersions, parseStoredDashboard, type SavedVersions } from '../../../subjects/dashboards/read-saved.ts';
import { wholeDashboard } from './dashboard-example.ts';

type Part = Record<string, unknown>;
const panel = (id: string, more: Part = {}): Part => ({ id, visual: { kind: 'text' }, ...more });
const dashboard = (more: Part): Part => ({ name: 'one', ...more });

/** Returns the paths of errors. */
const wrong = (document: Part): string[] => {
  const parsed = DashboardFields.safeParse(document);
  return parsed.success
    ? []
    : parsed.error.issues.flatMap((issue) =>
        issue.code === 'unrecognized_keys'
          ? issue.keys.map((key) => [...issue.path, key].join('.'))
          : [issue.path.join('.')],
      );
};

test('a parsed dashboard is unchanged when it is parsed again', (t) => {
  const first = DashboardFields.parse(wholeDashboard);
  t.deepEqual(DashboardFields.parse(JSON.parse(JSON.stringify(first))), first);
  t.is(first.panels[0]?.queries.length, 3);
});

for (const [what, document, path] of [
  ['two panels of one id', dashboard({ panels: [panel('a'), panel('a')] }), 'panels.1.id'],
  [
    'a panel that exceeds the grid',
    dashboard({ panels: [panel('a', { place: { x: 20, width: 5 } })] }),
    'panels.0.place.width',
  ],
  ['a panel left of the grid', dashboard({ panels: [panel('a', { place: { x: -1 } })] }), 'panels.0.place.x'],
  [
    'a panel in a section that does not exist',
    dashboard({ panels: [panel('a', { place: { section: 'x' } })] }),
    'panels.0.place.section',
  ],
  [
    'sections in a circle',
    dashboard({
      sections: [
        { id: 'a', within: 'b' },
        { id: 'b', within: 'a' },
      ],
    }),
    'sections.0.within',
  ],
  ['301 panels', dashboard({ panels: Array.from({ length: 301 }, (_, index) => panel(`p${index}`)) }), 'panels'],
  [
    '101 variables',
    dashboard({ variables: Array.from({ length: 101 }, (_, index) => ({ kind: 'text', name: `v${index}` })) }),
    'variables',
  ],
  [
    'two variables of one name',
    dashboard({
      variables: [
        { kind: 'text', name: 'v' },
        { kind: 'text', name: 'v' },
      ],
    }),
    'variables.1.name',
  ],
  [
    'an unknown key',
    dashboard({ panels: [panel('a', { visual: { kind: 'text', surprise: 1 } })] }),
    'panels.0.visual.surprise',
  ],
  [
    'a query of both kinds',
    dashboard({
      panels: [
        panel('a', { queries: [{ name: 'A', savedQueryId: 'x', query: { kind: 'promql', expression: 'up' } }] }),
      ],
    }),
    'panels.0.queries.0.query',
  ],
  ['a query of no kind', dashboard({ panels: [panel('a', { queries: [{ name: 'A' }] })] }), 'panels.0.queries.0.query'],
  [
    'a formula with the name of a query',
    dashboard({
      panels: [panel('a', { queries: [{ name: 'A', savedQueryId: 'x' }], formulas: [{ name: 'A', expression: 'A' }] })],
    }),
    'panels.0.formulas.0.name',
  ],
  [
    'more than 1 MiB',
    dashboard({
      panels: Array.from({ length: 20 }, (_, index) =>
        panel(`p${index}`, { visual: { kind: 'text', content: 'x'.repeat(60_000) } }),
      ),
    }),
    '',
  ],
  ['an invalid id', dashboard({ panels: [panel('a b')] }), 'panels.0.id'],
  ['a folder with an empty name', dashboard({ folder: 'a//b' }), 'folder'],
] as const)
  test(`${what} is rejected with its path`, (t) => t.true(wrong(document).includes(path), String(wrong(document))));

for (const url of [
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'data:text/html,x',
  '//evil.example/x',
  '/\\evil.example',
  '$target',
  'https:/evil',
  'vbscript:x',
  '/x\ny',
])
  test(`a link to ${JSON.stringify(url)} is rejected in every position`, (t) => {
    const link = { url };
    for (const [document, path] of [
      [dashboard({ links: [{ kind: 'address', ...link }] }), 'links.0.url'],
      [dashboard({ panels: [panel('a', { links: [link] })] }), 'panels.0.links.0.url'],
      [dashboard({ panels: [panel('a', { fields: { links: [link] } })] }), 'panels.0.fields.links.0.url'],
      [
        dashboard({
          panels: [panel('a', { overrides: [{ match: { by: 'name', name: 'x' }, settings: { links: [link] } }] })],
        }),
        'panels.0.overrides.0.settings.links.0.url',
      ],
    ] as const)
      t.deepEqual(wrong(document), [path]);
  });

for (const url of ['https://example.com/$x', 'http://localhost:3000', '/logs?service=$service', '/'])
  test(`a link to ${url} is accepted`, (t) => t.deepEqual(wrong(dashboard({ links: [{ kind: 'address', url }] })), []));

const older = { ...currentVersions, documentVersion: documentVersion - 1 };

test('a dashboard of an older version is migrated, and fields that no longer exist are reported with their path', (t) => {
  const saved = {
    ...wholeDashboard,
    theme: 'dark',
    panels: [
      { id: 'gone', visual: { kind: 'weather' } },
      { ...wholeDashboard.panels[0], colourful: true, fields: { ...wholeDashboard.panels[0].fields, decimals: -3 } },
      wholeDashboard.panels[1],
    ],
  };
  const brought = parseStoredDashboard({ ...saved, ...older });
  t.deepEqual(brought?.losses.map(({ path }) => path).sort(), [
    'panels.0',
    'panels.1.colourful',
    'panels.1.fields.decimals',
    'theme',
  ]);
  const whole = DashboardFields.parse(wholeDashboard);
  const { decimals: _, ...fields } = whole.panels[0]?.fields ?? {};
  t.deepEqual(brought?.document, {
    ...whole,
    panels: [{ ...(whole.panels[0] as object), fields }, whole.panels[1]],
  } as typeof whole);
});

test('a dashboard of a newer version, and one without required fields, cannot be read', (t) => {
  t.is(
    parseStoredDashboard({
      ...wholeDashboard,
      ...currentVersions,
      documentVersion: documentVersion + 1,
    } as SavedVersions),
    undefined,
  );
  t.is(parseStoredDashboard({ panels: [], ...older } as SavedVersions), undefined);
});

test('names of version 1 are read as their version 2 equivalents', (t) => {
  const panel = {
    id: 'p',
    title: 'P',
    visual: { kind: 'stat', reduce: { most: 5 } },
    queries: [{ name: 'A', query: { kind: 'promql', expression: 'up' }, shortestStep: '1m' }],
    mostPoints: 100,
    shortestStep: '30s',
    repeat: { variable: 'v', most: 3 },
    imported: { from: 'grafana', kept: { 'options.most': 1 } },
  };
  const variables = [{ kind: 'interval', name: 'v', options: ['1m'], auto: { least: '20s' } }];
  const read = parseStoredDashboard({
    name: 'Former',
    panels: [panel],
    variables,
    ...currentVersions,
    documentVersion: 1,
  } as SavedVersions);
  t.deepEqual(read?.losses, []);
  t.like(read?.document.panels[0], {
    maxDataPoints: 100,
    minStep: '30s',
    queries: [{ minStep: '1m' }],
    repeat: { max: 3 },
    imported: { unmapped: { 'options.most': 1 } },
  });
  t.like(read?.document.panels[0]?.visual, { reduce: { max: 5 } });
  t.like(read?.document.variables[0], { auto: { min: '20s' } });
});
