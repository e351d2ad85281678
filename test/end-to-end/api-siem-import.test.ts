/** Import of detection rules from YAML and archives: a result per rule, repeated imports, and dry runs. */
import test from 'ava';
import { strToU8, zipSync } from 'fflate';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness.close());

const ids = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;
const rule = (
  title: string,
  { id, level = 'high', image = 'whoami' }: { id?: string; level?: string; image?: string },
) =>
  [
    `title: ${title}`,
    ...(id === undefined ? [] : [`id: ${id}`]),
    'status: stable',
    `level: ${level}`,
    'logsource: { category: process_creation, product: windows }',
    'detection:',
    `  selection: { Image|endswith: '\\${image}.exe' }`,
    '  condition: selection',
  ].join('\n');

interface Item {
  readonly ruleId: string;
  readonly title: string;
  readonly outcome: string;
  readonly message: string;
}

const send = async (content: string, type: string, query = ''): Promise<Item[]> => {
  const { status, body } = await harness.request('POST', `/api/siem/rules/import${query}`, {
    as: 'editor',
    body: content,
    headers: { 'content-type': type },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.items;
};
const yaml = (content: string, query?: string): Promise<Item[]> => send(content, 'application/yaml', query);
const outcomes = (items: readonly Item[]): string[][] => items.map(({ title, outcome }) => [title, outcome]);

test.serial('a dry run reports what would happen, and writes nothing', async (t) => {
  const items = await yaml(rule('One', { id: ids[0] }), '?dryRun=true');
  t.deepEqual(outcomes(items), [['One', 'created']]);
  t.is((await harness.request('GET', `/api/siem/rules/${ids[0]}`, { as: 'viewer' })).status, 404);
});

test.serial('many documents are imported with a result for each, and errors are named by line', async (t) => {
  const broken = rule('Broken', {}).replace('condition: selection', 'condition: other');
  const items = await yaml([rule('One', { id: ids[0] }), rule('Two', {}), broken].join('\n---\n'));
  t.deepEqual(outcomes(items), [
    ['One', 'created'],
    ['Two', 'created'],
    ['Broken', 'refused'],
  ]);
  t.is(items[0]?.ruleId, ids[0]);
  t.regex(items[2]?.message ?? '', /^line \d+: detection\.condition: /);
});

test.serial('a repeated import changes nothing, and changed rules are named', async (t) => {
  t.deepEqual(outcomes(await yaml([rule('One', { id: ids[0] }), rule('Two', {})].join('\n---\n'))), [
    ['One', 'unchanged'],
    ['Two', 'unchanged'],
  ]);
  const [changed] = await yaml(rule('One', { id: ids[0], level: 'low', image: 'net' }));
  t.is(changed?.outcome, 'changed');
  t.is(changed?.message, 'changes level, detection');
  const { body } = await harness.request('GET', `/api/siem/rules/${ids[0]}`, { as: 'viewer' });
  t.deepEqual([body.version, body.severity, body.riskScore], [2, 'low', 20]);
});

test.serial(
  'settings of a rule made by the team are preserved, and its tests prevent a change that breaks them',
  async (t) => {
    const tests = { mustMatch: [{ EventID: 1, Image: 'C:\\net.exe' }], mustNotMatch: [] };
    const source = rule('One', { id: ids[0], level: 'low', image: 'net' });
    const put = await harness.request('PUT', `/api/siem/rules/${ids[0]}`, {
      as: 'editor',
      body: { source, tests, enabled: false, risk: 33, note: 'ours' },
    });
    t.is(put.status, 200);
    const [refused] = await yaml(rule('One', { id: ids[0], image: 'whoami' }));
    t.is(refused?.outcome, 'refused');
    t.regex(refused?.message ?? '', /tests\.mustMatch\.0/);
    const [changed] = await yaml(`${source}\nauthor: somebody`);
    t.is(changed?.outcome, 'changed');
    const { body } = await harness.request('GET', `/api/siem/rules/${ids[0]}`, { as: 'viewer' });
    t.deepEqual([body.enabled, body.riskScore, body.note], [false, 33, 'ours']);
  },
);

test.serial('new rules are enabled by status and level', async (t) => {
  const items = await yaml(rule('Quiet', { id: ids[1], level: 'low' }), '?minLevel=medium&status=stable');
  t.is(items[0]?.message, 'it is not enabled');
  const { body } = await harness.request('GET', `/api/siem/rules/${ids[1]}`, { as: 'viewer' });
  t.false(body.enabled);
});

test.serial('an archive is imported file by file; files that are not YAML are skipped', async (t) => {
  const archive = zipSync({
    'rules/three.yml': strToU8(rule('Three', {})),
    'rules/bad.yaml': strToU8('title: Bad'),
    'README.md': strToU8('# Rules'),
  });
  const response = await fetch(`${harness.url}/api/siem/rules/import`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await harness.signIn('editor@a.example')}`,
      'content-type': 'application/zip',
    },
    body: Buffer.from(archive),
  });
  const { items } = (await response.json()) as { items: Item[] };
  t.deepEqual(outcomes(items), [
    ['Three', 'created'],
    ['Bad', 'refused'],
  ]);
  t.regex(items[1]?.message ?? '', /^rules\/bad\.yaml: line /);
  const broken = await harness.request('POST', '/api/siem/rules/import', {
    as: 'editor',
    body: 'no archive',
    headers: { 'content-type': 'application/zip' },
  });
  t.is(broken.status, 400);
});

test.serial('an export can be imported again', async (t) => {
  const { status, body } = await harness.request('GET', '/api/siem/rules/export', { as: 'viewer' });
  t.is(status, 200);
  const items = await yaml(body);
  t.deepEqual([...new Set(items.map(({ outcome }) => outcome))], ['unchanged']);
  t.is(items.length, 4);
});
