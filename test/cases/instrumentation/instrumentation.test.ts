/** How a resource is instrumented, what an eBPF agent could see, and the manifests of agents */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { parseAllDocuments, stringify } from 'yaml';
import { identifyInstrumentation } from '../../../subjects/instrumentation/distributions.ts';
import { createManifest, listFormats, manifestAgents } from '../../../subjects/instrumentation/manifests.ts';
import { predictCoverage } from '../../../subjects/instrumentation/prediction.ts';
import { chartTools, chartToolsMissing } from '../../services/chart-tools.ts';

test('the instrumentation of a resource follows from its distribution, then its SDK', (t) => {
  const cases = [
    [{ 'telemetry.distro.name': 'opentelemetry-ebpf-instrumentation', 'telemetry.sdk.language': 'go' }, 'ebpf', 'obi'],
    [{ 'telemetry.sdk.name': 'beyla', 'telemetry.sdk.language': 'nodejs' }, 'ebpf', 'beyla'],
    [
      { 'telemetry.distro.name': 'opentelemetry-java-instrumentation', 'telemetry.sdk.name': 'opentelemetry' },
      'zero-code',
      'java-agent',
    ],
    [{ 'telemetry.auto.version': '0.58b0', 'telemetry.sdk.name': 'opentelemetry' }, 'zero-code', 'python-automatic'],
    [{ 'telemetry.sdk.name': 'opentelemetry', 'telemetry.sdk.language': 'nodejs' }, 'sdk', 'opentelemetry'],
    [{ 'telemetry.distro.name': 'unheard-of', 'telemetry.sdk.language': 'rust' }, 'sdk', 'opentelemetry'],
  ] as const;
  for (const [attributes, kind, name] of cases) t.like(identifyInstrumentation(attributes), { kind, name });
  t.is(identifyInstrumentation({ 'service.name': 'scraped' }), undefined);
});

test('a kernel decides whether an eBPF agent can run, and an unknown one does not', (t) => {
  const cases = [
    ['6.8.0-45-generic', true],
    ['5.8.0', true],
    ['5.4.0-150-generic', false],
    ['4.18.0-553.el8_10.x86_64', true],
    ['4.18.0', false],
    ['', null],
    ['Debian GNU/Linux', null],
  ] as const;
  for (const [kernel, canRun] of cases) t.is(predictCoverage({ kernel, runtime: '' }).canRun, canRun, kernel);
  t.deepEqual(predictCoverage({ kernel: '5.4.0', runtime: 'go' }).protocols, []);
});

test('the prediction of a runtime states what is missing, and an unknown runtime stays unknown', (t) => {
  t.is(predictCoverage({ kernel: '6.1', runtime: 'go' }).joinsTraces, 'HTTP and gRPC');
  t.true(predictCoverage({ kernel: '6.1', runtime: 'rust' }).missing.some((text) => text.includes('rustls')));
  t.is(predictCoverage({ kernel: '6.1', runtime: 'cobol' }).joinsTraces, 'unknown');
});

const endpoint = 'https://oiq.example.com/otlp';
const allManifests = manifestAgents.flatMap((agent) =>
  listFormats(agent).map((format) => ({
    name: `${agent}, ${format}`,
    manifest: createManifest(agent, format, endpoint),
  })),
);

for (const { name, manifest } of allManifests)
  test(`the manifest of ${name} has the endpoint, valid YAML and no license key`, (t) => {
    const texts = manifest?.files.map(({ text }) => text) ?? [];
    t.true(texts.some((text) => text.includes(endpoint)));
    for (const { language, text, name: file } of manifest?.files ?? [])
      if (language === 'yaml') for (const { errors } of parseAllDocuments(text)) t.deepEqual(errors, [], file);
    t.false(texts.some((text) => /oiq_lk_/.test(text)));
  });

test('collectors report to the fleet over OpAMP, at the address of the telemetry', (t) => {
  for (const format of listFormats('collector')) {
    const files = createManifest('collector', format, endpoint)?.files ?? [];
    const values = files
      .filter(({ language }) => language === 'yaml')
      .map(({ text }) => parseAllDocuments(text)[0]?.toJS());
    const { extensions, service } = values
      .map((value) => value.config ?? value)
      .find((value) => value.service !== undefined);
    t.is(extensions.opamp.server.ws.endpoint, 'wss://oiq.example.com/otlp/v1/opamp', format);
    t.true(service.extensions.includes('opamp'), format);
  }
});

test('a format that an agent does not have returns nothing', (t) => {
  t.is(createManifest('agentsight', 'helm', endpoint), undefined);
});

const withTools = chartToolsMissing === undefined ? test : test.skip;
withTools(
  'Kubernetes supports every field of the pods, which have capabilities instead of all privileges',
  async (t) => {
    const { kubeconform } = await chartTools();
    const folder = mkdtempSync(join(tmpdir(), 'oiq-manifest-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const file = createManifest('obi', 'kubernetes', endpoint)?.files.find(({ language }) => language === 'yaml');
    // The chart schemas have no DaemonSet, so its pods are validated with the schema of another kind.
    const daemonSet = parseAllDocuments(file?.text ?? '')
      .map((document) => document.toJS())
      .find(({ kind }) => kind === 'DaemonSet');
    const { metadata, spec } = daemonSet.spec.template;
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'obi' }, spec };
    writeFileSync(join(folder, 'obi.yaml'), `${stringify(pod)}---\n${file?.text ?? ''}`);
    const schemas = new URL('../chart/schemas/', import.meta.url).pathname;
    const args = [
      '-strict',
      '-summary',
      '-ignore-missing-schemas',
      '-schema-location',
      `${schemas}{{.ResourceKind}}{{.KindSuffix}}.json`,
    ];
    const { stdout } = await promisify(execFile)(kubeconform, [...args, join(folder, 'obi.yaml')]);
    t.regex(stdout, /Valid: [2-9], Invalid: 0, Errors: 0/);
    t.notRegex(file?.text ?? '', /privileged: true/);
  },
);
