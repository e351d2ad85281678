/** The chart follows the code: everything that is registered, declared or released in the code is in the chart. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { parse } from 'yaml';
import { type buildChartData, generateFiles, managedSettings } from '../../charts/generate.ts';
import { processorGroups } from '../../processors/index.ts';
import { processors } from '../../processors/registry.ts';
import { schedules } from '../../processors/schedules.ts';
import { settingDefinitions } from '../../schemas/settings.ts';
import { sinks } from '../../sinks/registry.ts';
import { readChart } from './chart/chart.ts';

const namesOf = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name).sort();
const missing = (expected: readonly string[], found: readonly string[]): string[] =>
  expected.filter((name) => !found.includes(name)).map((name) => `${name}: run node bin/node.mjs charts/generate.ts`);

const values = parse(readChart('values.yaml')) as Record<string, Record<string, unknown>>;
const listed = JSON.parse(readChart('files/components.json')) as ReturnType<typeof buildChartData>;
const schema = JSON.parse(readChart('values.schema.json')) as {
  readonly properties: Record<string, { readonly properties?: Record<string, unknown> }>;
  readonly $defs: { readonly settings: { readonly properties: Record<string, unknown> } };
};

test('every processor and schedule runs in a Deployment, and can have its own Deployment', (t) => {
  // Consumer groups include more than the definitions in the registry.
  const consuming = processorGroups.map(({ group }) => group.slice('processors.'.length));
  const registered = [...new Set([...namesOf([...processors, ...schedules]), ...consuming])];
  t.deepEqual(missing(registered, Object.keys(listed.processors)), []);
  const allowed = Object.keys(schema.properties['processors']?.properties ?? {});
  t.deepEqual(missing([...registered, 'others'], allowed), []);
  t.deepEqual(missing(allowed, [...registered, 'others']), []);
  t.deepEqual(Object.keys(values['processors'] ?? {}), ['others']);
});

test('every sink runs in a Deployment, alone or with other sinks', (t) => {
  t.deepEqual(missing(namesOf(sinks), Object.keys(listed.sinks)), []);
  const allowed = Object.keys(schema.properties['sinks']?.properties ?? {});
  t.deepEqual(missing([...namesOf(sinks), 'others'], allowed), []);
  t.deepEqual(Object.keys(values['sinks'] ?? {}), ['others']);
});

test('every setting can be set by a value', (t) => {
  const reachable = [
    ...Object.keys(managedSettings),
    ...Object.keys(schema.$defs.settings.properties),
    ...Object.keys(schema.properties['secretSettings']?.properties ?? {}),
  ];
  t.deepEqual(missing(Object.keys(settingDefinitions), reachable), []);
  for (const path of Object.values(managedSettings)) {
    const [head = '', key] = path.split('.');
    t.true(head in values && (key === undefined || key in (values[head] ?? {})), path);
  }
});

test('the files generated from the code are current: node bin/node.mjs charts/generate.ts writes them', (t) => {
  const stale = Object.entries(generateFiles()).filter(([path, text]) => readFileSync(path, 'utf8') !== text);
  t.deepEqual(
    stale.map(([path]) => path),
    [],
  );
});

test('chart, image and code have the same version', (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const chart = parse(readChart('Chart.yaml')) as { version: string; appVersion: string };
  t.is(chart.appVersion, version);
  t.is(chart.version, version);
});
