/** Imports identify resources by name in the document: no silent change of manual edits; items fail independently. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const request = (method: string, path: string, body?: object) =>
  harness.request(method, path, { ...(body !== undefined && { body }) });
const succeed = async (method: string, path: string, body?: object) => {
  const response = await request(method, path, body);
  if (response.status !== 200)
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
};

interface Item {
  readonly name: string;
  readonly outcome: string;
  readonly id: string | null;
  readonly problems: readonly { readonly message: string }[];
}
const importRules = async (file: string, options: object = {}): Promise<Item[]> =>
  (await succeed('POST', '/api/alerts/rules/import', { file, ...options })).items;
const toOutcomes = (items: readonly Item[]): string[] =>
  items.map(({ name, outcome, problems }) => [name, outcome, ...problems.map(({ message }) => message)].join(', '));

test('a second import of a rule file changes nothing, and preserves what people set', async (t) => {
  const file = (threshold: number): string => `groups:
- name: kept
  rules:
  - { alert: Kept, expr: 'up > ${threshold}' }
  - { record: 'kept:up', expr: 'sum(up)' }
`;
  const options = { fileName: 'kept.yml' };
  t.deepEqual(toOutcomes(await importRules(file(1), { ...options, dryRun: true })), [
    'Kept, created',
    'kept:up, created',
  ]);
  const [rule, group] = await importRules(file(1), options);
  t.deepEqual(toOutcomes(await importRules(file(1), options)), ['Kept, unchanged', 'kept:up, unchanged']);
  await succeed('PATCH', `/api/alerts/rules/${rule?.id}`, { enabled: false });
  await succeed('PATCH', `/api/alerts/recording-groups/${group?.id}`, { enabled: false });
  t.deepEqual(toOutcomes(await importRules(file(2), options)), ['Kept, replaced', 'kept:up, unchanged']);
  t.like(await succeed('GET', `/api/alerts/rules/${rule?.id}`), { enabled: false, version: 3 });
  t.like(await succeed('GET', `/api/alerts/recording-groups/${group?.id}`), { enabled: false, version: 2 });
});

test('a group of recording rules that was created by hand is changed only with takeOver', async (t) => {
  const rules = [{ record: 'hand:up', expression: 'up' }];
  const { id } = await succeed('POST', '/api/alerts/recording-groups', { name: 'hand', rules });
  const file =
    "groups: [{ name: hand, rules: [{ record: 'hand:up', expr: sum(up) }, { alert: Beside, expr: up == 0 }] }]";
  for (const dryRun of [true, false])
    t.deepEqual(toOutcomes(await importRules(file, { dryRun })), [
      'hand:up, refused, is the name of one that was not imported: rename one of them, or import again with takeOver to change it',
      `Beside, ${dryRun ? 'created' : 'created'}`,
    ]);
  t.is((await succeed('GET', `/api/alerts/recording-groups/${id}`)).rules[0].expression, 'up');
  t.deepEqual(toOutcomes(await importRules(file, { takeOver: true })), ['hand:up, replaced', 'Beside, unchanged']);
});

const sigma = (id: string, image: string): string =>
  [
    'title: Found',
    `id: ${id}`,
    'level: high',
    'logsource: { category: process_creation, product: windows }',
    'detection:',
    `  selection: { Image|endswith: '${image}.exe' }`,
    '  condition: selection',
  ].join('\n');
const importSigma = async (source: string, query = ''): Promise<string[][]> =>
  (await succeed('POST', `/api/siem/rules/import${query}`, { files: [{ source }] })).items.map(
    ({ outcome, message }: { outcome: string; message: string }) => [outcome, message.split(';')[0] ?? ''],
  );

test('a detection rule that was created by hand is changed by an import only with takeOver', async (t) => {
  const [hand, other] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
  await succeed('POST', '/api/siem/rules', { source: sigma(hand, 'mine') });
  const message = `the rule with the id ${hand} was not imported: import again with takeOver to change it, or give the document another id`;
  const documents = [sigma(hand, 'theirs'), sigma(other, 'theirs')].join('\n---\n');
  t.deepEqual((await importSigma(documents, '?dryRun=true'))[0], ['refused', message]);
  const [refused, created] = await importSigma(documents);
  t.deepEqual([refused, created?.[0]], [['refused', message], 'created']);
  t.regex((await succeed('GET', `/api/siem/rules/${hand}`)).source, /mine/);
  t.is((await importSigma(sigma(hand, 'theirs'), '?takeOver=true'))[0]?.[0], 'changed');
  t.is((await importSigma(sigma(hand, 'others')))[0]?.[0], 'changed', 'the rule belongs to an import now');
});

test('a detection rule that an import found unchanged is changed by the next import, also after a person changed its settings', async (t) => {
  const id = '33333333-3333-4333-8333-333333333333';
  await succeed('POST', '/api/siem/rules', { source: sigma(id, 'mine') });
  t.deepEqual(await importSigma(sigma(id, 'mine'), '?dryRun=true'), [['unchanged', '']]);
  t.is((await succeed('GET', `/api/siem/rules/${id}`)).isImported, undefined);
  for (let round = 0; round < 2; round++) t.deepEqual(await importSigma(sigma(id, 'mine')), [['unchanged', '']]);
  t.like(await succeed('GET', `/api/siem/rules/${id}`), { isImported: true, version: 2 });
  await succeed('PUT', `/api/siem/rules/${id}`, { source: sigma(id, 'mine'), note: 'checked' });
  t.is((await importSigma(sigma(id, 'theirs')))[0]?.[0], 'changed');
});

test('a dashboard without a uid does not change another one of its title silently', async (t) => {
  const grafana = (text: string) => ({
    title: 'Same title',
    schemaVersion: 39,
    panels: [{ id: 1, type: 'text', title: 't', gridPos: { x: 0, y: 0, w: 12, h: 6 }, options: { content: text } }],
  });
  const path = '/api/dashboards/import';
  const { dashboard } = await succeed('POST', path, grafana('one'));
  t.is((await succeed('POST', path, grafana('one'))).outcome, 'unchanged');
  for (const query of ['?dryRun=true', '']) {
    const { status, body } = await request('POST', `${path}${query}`, grafana('two'));
    t.is(status, 409);
    t.regex(body.message, /has no uid, and the dashboard import-\w+ was imported with its title Same title/);
  }
  t.like(await succeed('POST', `${path}?takeOver=true`, grafana('two')), {
    outcome: 'changed',
    dashboard: { id: dashboard.id },
  });
  t.like(await succeed('POST', `${path}?id=second`, grafana('three')), { outcome: 'created' });
  t.like(await succeed('POST', path, { ...grafana('four'), uid: 'own' }), { outcome: 'created' });
});
