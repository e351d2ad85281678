/** Security through the API: SIEM rules, secrets in telemetry, and decisions about findings. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { LicenseKeyFields, licenseKeys } from '../../schemas/resources/license-key.ts';
import type { RuntimeThreat } from '../../schemas/runtime-threats.ts';
import type { SecretFinding } from '../../schemas/secret-findings.ts';
import type { DetectionSignal } from '../../schemas/signals.ts';
import { topics } from '../../schemas/topics.ts';
import { landIn } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landOtlp, landTopic, resourceOf } from './land-otlp.ts';

let harness: Harness;
const nowMs = Math.floor(Date.now() / 1000) * 1000;
const licenseKey = generateLicenseKey();
const keyHash = createHash('sha256').update(licenseKey).digest('hex');

let offset = 0;
const land = (sink: string, values: readonly { readonly tenantId: string }[]) =>
  landIn(harness.columns)(
    values.map((value) => ({
      offset: offset++,
      timestampMs: nowMs,
      headers: { tenant: value.tenantId },
      value: Buffer.from(JSON.stringify([value])),
    })),
    { sink },
  );

const secretOf = (fields: Partial<SecretFinding>): SecretFinding => ({
  tenantId: 'a',
  projectId: 'shop',
  id: `record-${offset}-${Math.random()}`,
  findingId: 'finding-1',
  timeMs: nowMs - 60_000,
  signal: 'logs',
  recordId: '1-0-0-0',
  traceId: '',
  spanId: '',
  service: 'cart',
  field: 'body',
  rule: 'github-pat',
  fingerprint: '0123456789abcdef01234567',
  preview: 'ghp_',
  keyHash: '',
  occurrences: 1,
  isRedacted: false,
  ...fields,
});

const signalOf = (fields: Partial<DetectionSignal>): DetectionSignal => ({
  tenantId: 'a',
  projectId: 'shop',
  id: 'signal',
  kind: 'rule',
  ruleId: 'rule',
  ruleVersion: 1,
  ruleTitle: 'Shell in a container',
  severity: 'high',
  riskScore: 70,
  timeMs: nowMs - 60_000,
  events: [],
  eventCount: 1,
  entities: [],
  tactics: [],
  techniques: [],
  group: {},
  suppressedBy: '',
  ...fields,
});

test.before(async () => {
  harness = await startHarness({ now: () => nowMs, projects: ['shop'] });
  const twice = secretOf({ timeMs: nowMs - 120_000, occurrences: 2 });
  await land('secret-findings', [
    twice,
    twice,
    secretOf({}),
    secretOf({
      findingId: 'finding-2',
      rule: 'oiq-license-key',
      keyHash,
      service: 'proxy',
      timeMs: nowMs - 30_000,
      preview: 'oiq_',
    }),
    secretOf({ tenantId: 'b', findingId: 'finding-b', service: 'canary' }),
  ]);
  await harness.documents
    .forTenant('a')
    .collection(licenseKeys)
    .insert({
      ...LicenseKeyFields.parse({ name: 'Collectors' }),
      id: 'key-1',
      hash: keyHash,
      prefix: 'oiq_lk_',
      projectId: 'shop',
      revokedAt: null,
      previous: [],
    } as never);
});
test.after.always(() => harness?.close());

const threatOf = (fields: Partial<RuntimeThreat>): RuntimeThreat => ({
  tenantId: 'a',
  projectId: 'shop',
  id: `threat-${offset}-${Math.random()}`,
  groupId: 'group-1',
  recordId: '1-0-0-0',
  timeMs: nowMs - 60_000,
  source: 'falco',
  rule: 'Read sensitive file untrusted',
  severity: 'medium',
  message: 'read',
  service: 'cart',
  host: 'node-1',
  workload: 'shop/cart',
  namespace: 'shop',
  pod: 'cart-0',
  image: 'shop/cart',
  program: 'cat',
  commandLine: 'cat /etc/shadow',
  target: '/etc/shadow',
  targetPattern: '/etc/shadow',
  user: 'root',
  action: 'open',
  techniques: ['T1555'],
  ...fields,
});

test.serial('threats are groups of events, and a preview shows what a decision would have hidden', async (t) => {
  const twice = threatOf({ timeMs: nowMs - 120_000, host: 'node-2' });
  await land('runtime-threats', [
    twice,
    twice,
    threatOf({}),
    threatOf({ groupId: 'group-2', severity: 'critical', timeMs: nowMs - 180_000 }),
    threatOf({ tenantId: 'b', groupId: 'group-b', workload: 'canary' }),
  ]);
  const { items } = await get('/api/security/threats');
  t.is(items.length, 2);
  t.like(items[0], {
    id: 'group-1',
    count: 2,
    hostCount: 2,
    hosts: ['node-1', 'node-2'],
    techniques: ['T1555'],
    severity: 'medium',
    lastTime: new Date(nowMs - 60_000).toISOString(),
  });
  t.deepEqual(
    items[0].events.map(({ host }: { host: string }) => host),
    ['node-1', 'node-2'],
  );
  t.is((await get('/api/security/threats?severity=critical')).items.length, 1);
  const path = '/api/security/threats/group-1';
  const until = new Date(nowMs + 3_600_000).toISOString();
  const { body: previewed } = await patch(`${path}?dryRun=true`, { state: 'accepted', until });
  t.like(previewed, { state: 'open', preview: { events: 2, hosts: 2 } });
  t.like((await patch(path, { state: 'accepted', until })).body, { state: 'accepted', preview: null });
  t.is((await get('/api/security/threats?state=open')).items.length, 1);
  t.is((await patch('/api/security/threats/group-b', { state: 'resolved' })).status, 404);
});

test.serial('a threat has the services of its pods, and their deployments near its events', async (t) => {
  await landOtlp(harness.columns, {
    signal: 'logs',
    request: {
      resourceLogs: [
        {
          resource: resourceOf({ 'service.name': 'checkout', 'k8s.pod.name': 'checkout-0' }),
          scopeLogs: [{ logRecords: [{ timeUnixNano: `${nowMs - 1_000}000000`, body: { stringValue: 'x' } }] }],
        },
      ],
    },
    atMs: nowMs - 1_000,
  });
  const deploy = async (id: string, service: string, atMs: number) => {
    const time = new Date(atMs).toISOString();
    const { status, body } = await harness.request('POST', '/api/deployments', {
      as: 'editor',
      body: { id, service, version: '2.0', time },
    });
    t.is(status, 200, JSON.stringify(body));
  };
  await deploy('near', 'checkout', nowMs - 1_200_000);
  await deploy('far', 'checkout', nowMs - 2 * 86_400_000);
  await deploy('other', 'web', nowMs - 1_200_000);
  await landTopic(harness, topics.events.name);
  await land('runtime-threats', [
    threatOf({ groupId: 'near', service: 'falco', pod: 'checkout-0', rule: 'Deployed', timeMs: nowMs - 60_000 }),
  ]);
  const [item] = (await get('/api/security/threats?rule=Deployed')).items;
  t.deepEqual(item.services, ['checkout', 'falco']);
  t.like(item.deployments, [{ id: 'near', service: 'checkout', version: '2.0' }]);
  t.is(item.deployments.length, 1);
});

const get = async (path: string) => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  if (JSON.stringify(body).includes('canary')) throw new Error(`${path} returns data of another organization`);
  return body;
};
const patch = (path: string, body: object) => harness.request('PATCH', path, { as: 'editor', body });

const rule = [
  'title: Reading of passwords',
  'level: high',
  'logsource: { product: linux }',
  'detection:',
  '  selection: { User: root }',
  '  condition: selection',
].join('\n');

test('a rule is the same document at both paths', async (t) => {
  const { status, body: created } = await harness.request('POST', '/api/security/rules', {
    as: 'editor',
    body: { source: rule },
  });
  t.is(status, 200);
  t.deepEqual(await get(`/api/siem/rules/${created.id}`), created);
  const { body: changed } = await harness.request('PUT', `/api/security/rules/${created.id}`, {
    as: 'editor',
    headers: { 'if-match': '"1"' },
    body: { source: rule, enabled: false },
  });
  t.is(changed.version, 2);
  t.like(await get(`/api/siem/rules/${created.id}`), { version: 2, enabled: false });
  t.is((await get('/api/security/rules')).items.length, 1);
  const { status: deleted } = await harness.request('DELETE', `/api/security/rules/${created.id}`, { as: 'editor' });
  t.is(deleted, 200);
  t.is((await get('/api/siem/rules')).items.length, 0);
});

test('secrets are counted once per record, with the key of the organization that has to be revoked', async (t) => {
  const { items } = await get('/api/security/secrets');
  t.is(items.length, 2);
  t.like(items[0], {
    id: 'finding-2',
    rule: 'oiq-license-key',
    ownKey: { kind: 'license-key', id: 'key-1', name: 'Collectors', isActive: true },
  });
  const toRevoke = (await get('/api/security/secrets?key=active')).items;
  t.deepEqual(
    toRevoke.map(({ id }: { id: string }) => id),
    ['finding-2'],
  );
  t.like(items[1], {
    id: 'finding-1',
    service: 'cart',
    field: 'body',
    records: 2,
    count: 3,
    firstTime: new Date(nowMs - 120_000).toISOString(),
    lastTime: new Date(nowMs - 60_000).toISOString(),
    preview: 'ghp_',
    state: 'open',
    ownKey: null,
    isRedacted: false,
  });
  t.is((await get('/api/security/secrets?service=proxy')).items.length, 1);
  const first = await get('/api/security/secrets?limit=1');
  const second = await get(`/api/security/secrets?limit=1&cursor=${first.nextCursor}`);
  t.deepEqual([first.items[0].id, second.items[0].id, second.nextCursor], ['finding-2', 'finding-1', null]);
});

test.serial('a decision changes the state, and the next occurrence reopens a resolved finding', async (t) => {
  const path = '/api/security/secrets/finding-1';
  t.is((await patch(path, { state: 'accepted' })).status, 400);
  t.is((await patch(path, { until: new Date(nowMs + 1_000).toISOString() })).status, 400);
  t.is((await patch('/api/security/secrets/finding-b', { state: 'resolved' })).status, 404);
  const { body } = await patch(path, { state: 'resolved', reason: 'rotated' });
  t.like(body, { state: 'resolved', isReopened: false, reason: 'rotated', version: 1 });
  t.is((await get('/api/security/secrets?state=open')).items.length, 1);
  await land('secret-findings', [secretOf({ timeMs: nowMs + 1 })]);
  const { items } = await get(`/api/security/secrets?to=${nowMs + 1_000}`);
  t.like(
    items.find(({ id }: { id: string }) => id === 'finding-1'),
    { state: 'open', isReopened: true, records: 3 },
  );
  const until = new Date(nowMs + 3_600_000).toISOString();
  t.like((await patch(path, { state: 'accepted', until })).body, { state: 'accepted', until });
  t.like((await patch(path, { state: 'ignored', until: new Date(nowMs - 1_000).toISOString() })).body, {
    state: 'open',
    isReopened: true,
  });
});

test.serial('the feed has events of all kinds in one shape, and each counter equals its list', async (t) => {
  const { items } = await get('/api/security/events?kinds=secret,runtime-threat');
  t.deepEqual(new Set(items.map(({ kind }: { kind: string }) => kind)), new Set(['secret', 'runtime-threat']));
  const times = items.map(({ time }: { time: string }) => time);
  t.deepEqual(times, times.toSorted().toReversed());
  const pages: string[] = [];
  let cursor = '';
  do {
    const page = await get(`/api/security/events?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    pages.push(...page.items.map(({ id }: { id: string }) => id));
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  const all = await get('/api/security/events');
  t.deepEqual(
    pages,
    all.items.map(({ id }: { id: string }) => id),
  );
  await land('signals', [
    signalOf({ id: 'signal-1', severity: 'critical' }),
    signalOf({ id: 'signal-1', severity: 'critical', eventCount: 2 }),
    signalOf({ id: 'signal-2' }),
    signalOf({ id: 'signal-3', suppressedBy: 'exception' }),
    signalOf({ id: 'signal-4', timeMs: nowMs - 30 * 86_400_000 }),
  ]);
  const overview = await get('/api/security/overview');
  t.is(overview.signals.count, 2);
  for (const { count, query } of [overview.signals, overview.criticalSignals]) {
    const separator = query.includes('?') ? '&' : '?';
    const list = await get(`${query}${separator}from=${overview.from}&to=${overview.to}`);
    t.is(list.items.length, count, query);
  }
  for (const { count, query } of [overview.threats, overview.secrets, overview.criticalThreats, overview.rules]) {
    const list = await get(query);
    t.is(list.items.length, count, query);
  }
  for (const { count, query } of [overview.vulnerabilities, overview.runningVulnerabilities])
    t.is((await get(query)).total, count, query);
});
