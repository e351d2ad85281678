/** Dashboards exported for Grafana match the types of its SDK exactly, so that a strict parser accepts them. */
import '../../../subjects/query-kinds.ts';
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { FieldOverride, FieldSettings } from '../../../schemas/dashboards/fields.ts';
import { DashboardLink } from '../../../schemas/dashboards/links.ts';
import { Transformation } from '../../../schemas/dashboards/transformations.ts';
import { Variable } from '../../../schemas/dashboards/variables.ts';
import { Visual } from '../../../schemas/dashboards/visuals.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { writeGrafana } from '../../../subjects/dashboards/grafana/export.ts';
import { readGrafana } from '../../../subjects/dashboards/grafana/import.ts';
import { loadTemplates } from '../../../subjects/dashboards/templates/templates.ts';
import { scratchDirectory } from '../../services/scratch.ts';
import { wholeDashboard } from './dashboard-example.ts';
import { valuesOf } from './every-setting.ts';
import { oldDashboard, presentDashboard } from './grafana-example.ts';
import { grafanaFiles } from './grafana-files.ts';
import { otherType, typedPanels } from './grafana-typed.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const declared = fileURLToPath(new URL('./grafana-typed.ts', import.meta.url));
const directory = scratchDirectory();
test.after.always(() => rmSync(directory, { recursive: true, force: true }));

/** Returns compiler errors in texts, by name. */
const problemsOf = async (name: string, exports: Readonly<Record<string, string>>): Promise<string[]> => {
  const files = Object.entries(exports).map(([title, json], index) => {
    const file = `${name}-${index}.mts`;
    writeFileSync(
      join(directory, file),
      `// ${title}\nimport type { TypedDashboard } from '${declared}';\nexport const exported: TypedDashboard = ${json};\n`,
    );
    return file;
  });
  const config = join(directory, `${name}.json`);
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions: { types: [] }, include: [], files }),
  );
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  return await new Promise((resolve) => {
    execFile(
      process.execPath,
      [compiler, '--pretty', 'false', '--project', config],
      { maxBuffer: 2 ** 28 },
      (_, output, errors) => resolve(`${output}${errors}`.split('\n').filter((line) => line.trim() !== '')),
    );
  });
};

const datasourceTypes = ['prometheus', '__expr__'];
/** A panel in the form for the type check: queries of other data sources have their own types. */
const marked = (_: string, value: unknown): unknown => {
  const { type, gridPos, targets } = (value ?? {}) as Record<string, unknown>;
  if (gridPos === undefined || type === 'row') return value;
  return {
    ...(value as object),
    ...(!(String(type) in typedPanels) && { type: `${otherType}${type}` }),
    ...(Array.isArray(targets) && {
      targets: targets.filter(({ datasource }) => datasourceTypes.includes(datasource?.type)),
    }),
  };
};

const exported = (dashboards: Readonly<Record<string, DashboardFields>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(dashboards).map(([name, document]) => [
      name,
      JSON.stringify(writeGrafana(name, JSON.parse(JSON.stringify(document))), marked, 1),
    ]),
  );

const importedOf = (body: object): DashboardFields => {
  const read = readGrafana(structuredClone(body));
  if (read === undefined || 'problems' in read) throw new Error(JSON.stringify(read));
  return read.document;
};

const kinds = Visual.options.length;
const rounds = 10;

/** All kinds of panels, variables and transformations with all their settings, in as many dashboards as necessary. */
const everything = (): Record<string, DashboardFields> => {
  const visuals = valuesOf(Visual, kinds * rounds);
  const settings = valuesOf(FieldSettings, rounds);
  const overrides = valuesOf(FieldOverride, 16);
  const transformations = valuesOf(Transformation, 32 * rounds);
  const variables = valuesOf(Variable, Variable.options.length * 4) as object[];
  const links = valuesOf(DashboardLink, 4);
  const annotations = valuesOf(DashboardFields.shape.annotations.unwrap().element, 6) as object[];
  const dashboardOf = (round: number): DashboardFields =>
    DashboardFields.parse({
      name: `Everything ${round}`,
      variables: variables.map((one, index) => ({ ...one, name: `v${index}` })),
      panels: visuals.slice(round * kinds, (round + 1) * kinds).map((visual, index) => ({
        id: `p${index}`,
        visual,
        queries: [{ name: 'A', query: { kind: 'promql', expression: 'up' }, answers: index % 2 ? 'table' : 'series' }],
        formulas: [{ name: 'share', expression: '100 * A' }],
        fields: settings[round],
        ...(index === 0 && { transformations: transformations.slice(round * 32, round * 32 + 32), overrides }),
        links: [{ title: 'Logs', url: '/logs' }],
      })),
      annotations: annotations.map((one, index) => ({ ...one, name: `a${index}` })),
      links,
    });
  return Object.fromEntries(Array.from({ length: rounds }, (_, round) => [`everything ${round}`, dashboardOf(round)]));
};

test('every kind of panel, variable, transformation and annotation conforms to Grafana’s types', async (t) => {
  t.deepEqual(await problemsOf('everything', exported(everything())), []);
});

test('templates, and a dashboard with queries that Grafana does not support, conform to Grafana’s types', async (t) => {
  const all = await loadTemplates();
  const documents = {
    whole: DashboardFields.parse(wholeDashboard),
    ...Object.fromEntries(all.map(({ id, document }) => [id, document])),
  };
  t.deepEqual(await problemsOf('templates', exported(documents)), []);
});

test('dashboards imported from Grafana conform to Grafana’s types, whatever they preserve of the original', async (t) => {
  const files = Object.fromEntries(grafanaFiles().map(({ name, dashboard }) => [name, importedOf(dashboard)]));
  const examples = { present: importedOf(presentDashboard), old: importedOf(oldDashboard) };
  t.deepEqual(await problemsOf('imported', exported({ ...examples, ...files })), []);
});

test('extra settings of public dashboards are converted to Grafana’s types on export, and stay in the dashboard', async (t) => {
  const gridPos = { x: 0, y: 0, w: 12, h: 8 };
  const prometheus = { type: 'prometheus', uid: 'p' };
  const imported = importedOf({
    uid: 'odd',
    title: 'Odd',
    schemaVersion: 39,
    panels: [
      {
        id: 1,
        type: 'table',
        gridPos,
        datasource: prometheus,
        targets: [
          { refId: 'A', expr: 'up', format: 'timeseries' },
          { refId: 'B', datasource: prometheus },
        ],
        options: { footer: { enablePagination: true }, frozen: { columns: { left: 1 } } },
      },
      {
        id: 2,
        type: 'timeseries',
        gridPos: { ...gridPos, y: 8 },
        datasource: prometheus,
        targets: [{ refId: 'A', expr: 'up' }],
        options: { legend: { unheard: { of: 1 } } },
        fieldConfig: { defaults: { custom: { axisColorMode: 'thresholds', unheard: true } }, overrides: [] },
      },
      {
        id: 3,
        type: 'timeseries',
        gridPos: { ...gridPos, y: 16 },
        datasource: { type: 'loki', uid: 'l' },
        targets: [{ datasource: { type: 'loki', uid: 'l' }, expr: '{a="b"}' }],
      },
    ],
  });
  const before = structuredClone(imported);
  const { odd = '' } = exported({ odd: imported });
  t.deepEqual(await problemsOf('odd', { odd }), []);
  const written = JSON.parse(JSON.stringify(writeGrafana('odd', imported)));
  t.deepEqual(imported, before);
  t.deepEqual(importedOf(written), before);
});

test('numbers as texts and missing members of public dashboards are written as Grafana’s types have them', async (t) => {
  const gridPos = { x: 0, y: 0, w: 12, h: 8 };
  const prometheus = { type: 'prometheus', uid: 'p' };
  const targets = [{ refId: 'A', expr: 'up', datasource: prometheus }];
  const imported = importedOf({
    uid: 'numbers',
    title: 'Numbers',
    schemaVersion: 39,
    templating: {
      list: [
        { type: 'custom', name: 'v', query: 'a,b', current: { value: 'a' } },
        { type: 'foreign', query: 'x', current: { value: 'x' }, name: 'w' },
        { type: 'custom', query: 'c', current: {} },
      ],
    },
    panels: [
      {
        id: 1,
        type: 'heatmap',
        gridPos,
        datasource: prometheus,
        targets,
        options: { yAxis: { min: '0', max: 'auto', unit: 's' } },
      },
      {
        id: 2,
        type: 'timeseries',
        gridPos: { ...gridPos, y: 8 },
        datasource: prometheus,
        targets,
        transformations: [{ id: 'merge' }, { id: 'unheard' }],
        fieldConfig: {
          defaults: { min: '0', custom: { hideFrom: { graph: true, legend: true } } },
          overrides: [],
        },
      },
    ],
  });
  const { numbers = '' } = exported({ numbers: imported });
  t.deepEqual(await problemsOf('numbers', { numbers }), []);
  const { panels, templating } = JSON.parse(JSON.stringify(writeGrafana('numbers', imported)));
  t.deepEqual(panels[0].options.yAxis, { min: 0, unit: 's' });
  t.is(panels[1].fieldConfig.defaults.min, 0);
  t.deepEqual(panels[1].fieldConfig.defaults.custom.hideFrom, { legend: true, tooltip: false, viz: false });
  t.true(panels[1].transformations.every(({ options }: { options: unknown }) => options !== undefined));
  t.true(templating.list.every(({ name }: { name: unknown }) => typeof name === 'string'));
  t.deepEqual(importedOf(JSON.parse(JSON.stringify(writeGrafana('numbers', imported)))), imported);
});

test('a setting outside Grafana’s types is found', async (t) => {
  const [json = ''] = Object.values(exported({ present: importedOf(presentDashboard) }));
  const wrong = { ...JSON.parse(json), unheardOf: 1 };
  const [problem = ''] = await problemsOf('wrong', { wrong: JSON.stringify(wrong) });
  t.regex(problem, /unheardOf/);
});
