/** The chart with Helm's lookup in a cluster: existing objects determine what is rendered. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { chartTools, chartToolsMissing } from '../services/chart-tools.ts';
import { find, renderSet } from './chart/chart.ts';
import { servedObjects } from './chart/kubernetes-api.ts';

const withTools = chartToolsMissing === undefined ? test : test.skip;
const directory = mkdtempSync(join(tmpdir(), 'oiq-chart-lookup-'));
test.after.always(() => rmSync(directory, { recursive: true }));
test.before(async () => {
  if (chartToolsMissing === undefined) await chartTools();
});

const secret = (...keys: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'oiq-settings', namespace: 'observability' },
  data: Object.fromEntries(keys.map((key) => [key, Buffer.from('given').toString('base64')])),
});

withTools('an existing Secret that lacks a store is refused with the missing key', async (t) => {
  for (const [existingKeys, missingKey] of [
    [['OIQ_MONGODB_URL'], 'OIQ_CLICKHOUSE_URL'],
    [['OIQ_CLICKHOUSE_URL'], 'OIQ_MONGODB_URL'],
  ] as const) {
    const args = await servedObjects(t, directory, [secret(...existingKeys)]);
    await t.throwsAsync(renderSet('cluster-existing-secret', args), {
      message: new RegExp(`a cluster needs ${missingKey}, and the Secret oiq-settings lacks it: add that key`),
    });
  }
});

withTools('an existing Secret with all missing stores is accepted', async (t) => {
  const args = await servedObjects(t, directory, [secret('OIQ_CLICKHOUSE_URL', 'OIQ_MONGODB_URL')]);
  t.truthy(find((await renderSet('cluster-existing-secret', args)).manifests, 'Deployment', 'oiq-api'));
});

withTools('an existing Secret that does not exist yet, or cannot be read, is accepted', async (t) => {
  const args = await servedObjects(t, directory, []);
  t.truthy(find((await renderSet('cluster-existing-secret', args)).manifests, 'Deployment', 'oiq-api'));
});

withTools('the notes name the generated Secret only if one is generated', async (t) => {
  const text =
    '{ apiVersion: v1, kind: ConfigMap, metadata: { name: notes }, data: { of: {{ include "oiq/templates/NOTES.txt" . | toJson }} } }';
  const notesWith = async (...keys: readonly string[]): Promise<string> => {
    const args = await servedObjects(t, directory, [secret('OIQ_CLICKHOUSE_URL', 'OIQ_MONGODB_URL', ...keys)]);
    const extra = ['--set-json', `extraObjects=${JSON.stringify([text])}`];
    return find(
      (await renderSet('cluster-existing-secret', [...args, ...extra, '--set', 'generateSecrets=true'])).manifests,
      'ConfigMap',
      'notes',
    ).data.of;
  };
  t.regex(
    await notesWith(),
    /get secret oiq-generated[\s\S]*Secret oiq-generated stays[^\n]*without its OIQ_SECRET_KEY/,
  );
  t.notRegex(await notesWith('OIQ_BOOTSTRAP_PASSWORD'), /get secret oiq-generated/);
  t.notRegex(await notesWith('OIQ_BOOTSTRAP_PASSWORD', 'OIQ_SECRET_KEY'), /oiq-generated/);
});
