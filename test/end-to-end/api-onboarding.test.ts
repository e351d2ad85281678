/** The checklist, the snippets and the doctor over real embedded stores. */
import test from 'ava';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { buildLicenseKey, type LicenseKey, licenseKeys, toSecretFields } from '../../schemas/resources/license-key.ts';
import { buildUseId, type LicenseKeyUse, licenseKeyUses } from '../../schemas/resources/license-key-use.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const keyOf = async (tenant: string, changes: Partial<LicenseKey> = {}): Promise<string> => {
  const key = generateLicenseKey();
  const fields = buildLicenseKey(key, { name: 'sender', projectId: 'shop', expiresAt: null });
  await harness.documents
    .forTenant(tenant)
    .collection(licenseKeys)
    .insert({ ...fields, ...changes });
  return key;
};

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

/** Stores the use of a key as receivers report it. */
const used = async (key: string, keyId: string, changes: Partial<LicenseKeyUse>): Promise<void> => {
  const uses = harness.documents.forTenant('a').collection(licenseKeyUses);
  const id = buildUseId(keyId, toSecretFields(key).hash);
  await uses.delete(id);
  const nothing = { lastUsedAt: null, addresses: [], firstSeen: {}, lastSeen: {}, lastRefusal: null };
  await uses.insert({ id, keyId, ...nothing, ...changes });
};

const landLog = (project: string, tenant = 'a'): Promise<void> =>
  harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, body) VALUES
      ('${tenant}', '${project}', now64(3), 0, 1, 0, now64(9), 'x')`,
  );

const steps = (body: { steps: { id: string; isDone: boolean }[] }): string[] =>
  body.steps.filter(({ isDone }) => isDone).map(({ id }) => id);

test.serial(
  'the checklist reflects what really happened, and a step stays completed after its records are gone',
  async (t) => {
    const before = await harness.request('GET', '/api/onboarding', { as: 'viewer' });
    t.deepEqual(steps(before.body), ['invite-teammate']);
    t.false(before.body.complete);
    await keyOf('a', { projectId: 'elsewhere' });
    await landLog('elsewhere');
    const dashboard = await harness.request('POST', '/api/dashboards', { as: 'editor', body: { name: 'first' } });
    const after = await harness.request('GET', '/api/onboarding', { as: 'viewer' });
    t.deepEqual(steps(after.body), ['create-key', 'send-logs', 'create-dashboard', 'invite-teammate']);
    t.is(
      after.body.steps.find(({ id }: { id: string }) => id === 'create-dashboard').completedAt,
      dashboard.body.createdAt,
    );
    const { completedAt } = after.body.steps.find(({ id }: { id: string }) => id === 'send-logs');
    t.true(Math.abs(Date.parse(completedAt) - Date.now()) < 60_000);
    await harness.columns.execute('TRUNCATE TABLE logs');
    t.deepEqual((await harness.request('GET', '/api/onboarding')).body.steps, after.body.steps);
  },
);

test.serial(
  'another organization’s records and keys complete no step, and the plan determines which steps exist',
  async (t) => {
    const token = await harness.signIn('owner@b.example');
    const { body } = await harness.request('GET', '/api/onboarding', { as: `token ${token}` });
    t.deepEqual(steps(body), ['invite-teammate']);
    t.false(body.steps.some(({ id }: { id: string }) => id === 'send-traces'));
  },
);

test.serial('steps can be dismissed and restored by Editors; a checklist that was read can be sent back', async (t) => {
  const put = (body: unknown, as: 'editor' | 'viewer' = 'editor') =>
    harness.request('PUT', '/api/onboarding', { as, body });
  t.is((await put({ dismissed: [] }, 'viewer')).status, 403);
  t.is((await put({ dismissed: ['no-such-step'] })).status, 400);
  const dismissed = await put({ dismissed: ['create-alert'] });
  t.is(dismissed.status, 200);
  t.true(dismissed.body.steps.find(({ id }: { id: string }) => id === 'create-alert').dismissed);
  const read = await harness.request('GET', '/api/onboarding');
  t.deepEqual((await put(read.body)).body, read.body);
  t.deepEqual((await put({ dismissed: [] })).body.dismissed, []);
});

test('demo data needs a process that runs all roles', async (t) => {
  const shown = await harness.request('GET', '/api/onboarding/demo', { as: 'viewer' });
  t.deepEqual(shown.body, { isAvailable: false, isLoaded: false, projectId: 'demo', sending: null });
  const { status, body } = await harness.request('POST', '/api/onboarding/demo', { as: 'admin' });
  t.is(status, 409);
  t.regex(body.message, /oiq demo/);
});

test('snippets contain this installation’s endpoints and never a key', async (t) => {
  const { status, body } = await harness.request('GET', '/api/onboarding/snippets', { as: 'viewer' });
  t.is(status, 200);
  const ids = body.items.map(({ id }: { id: string }) => id);
  for (const id of 'node python java go dotnet ruby php collector prometheus fluent-bit vector curl kubernetes'.split(
    ' ',
  ))
    t.true(ids.includes(id), id);
  for (const item of body.items) {
    const text = item.pieces.map((piece: { text: string }) => piece.text).join('\n');
    t.true(text.includes(item.kind === 'browser' ? 'YOUR_BROWSER_KEY' : 'YOUR_LICENSE_KEY'), item.id);
    t.true(text.includes(new URL(harness.url).port), item.id);
    t.notRegex(text, /oiq_lk_|undefined|\[object/, item.id);
  }
  const one = await harness.request('GET', '/api/onboarding/snippets?id=prometheus');
  t.is(one.body.items.length, 1);
  t.true(one.body.items[0].pieces[0].text.includes(`${harness.url}/api/v1/prom/write`));
});

test('snippets for pages contain the newest browser key that works', async (t) => {
  const readText = async (id: string): Promise<string> => {
    const { body } = await harness.request('GET', `/api/onboarding/snippets?id=${id}`, { as: 'viewer' });
    return body.items[0].pieces.map((piece: { text: string }) => piece.text).join('\n');
  };
  t.true((await readText('browser')).includes('YOUR_BROWSER_KEY'));
  const project = await harness.request('POST', '/api/projects', { as: 'owner', body: { name: 'Pages' } });
  const key = { name: 'Pages', projectId: project.body.id, kind: 'browser', application: 'shop-web' };
  const body = { ...key, origins: ['https://shop.example.com'] };
  const created = await harness.request('POST', '/api/license-keys', { as: 'owner', body });
  t.is(created.status, 200);
  t.is(
    await readText('browser'),
    `<script async src="${harness.url}/rum/oiq.js" data-key="${created.body.key}" data-release="1.0.0"></script>`,
  );
  t.true((await readText('browser-opentelemetry')).includes(`${harness.url}/rum/${created.body.key}/v1/traces`));
  const faro = await readText('browser-faro');
  t.true(faro.includes(`${harness.url}/rum/${created.body.key}/faro`));
  t.true(faro.includes("name: 'shop-web'"));
  t.true((await readText('browser-hyperdx')).includes(`logsUrl: '${harness.url}/rum/${created.body.key}/v1/logs'`));
  t.true((await readText('browser-splunk')).includes("applicationName: 'shop-web'"));

  const admin = { ...body, application: 'shop-admin' };
  const newest = await harness.request('POST', '/api/license-keys', { as: 'owner', body: admin });
  t.true((await readText('browser-faro')).includes("name: 'shop-admin'"));
  const ofOlder = await readText(`browser-faro&browserKey=${created.body.key}`);
  t.true(ofOlder.includes(`/rum/${created.body.key}/faro`) && ofOlder.includes("name: 'shop-web'"));
  await harness.request('DELETE', `/api/license-keys/${newest.body.id}`, { as: 'owner' });
});

const diagnose = (body: unknown, as: 'admin' | 'editor' | `token ${string}` = 'admin') =>
  harness.request('POST', '/api/onboarding/doctor', { as, body });

test('the doctor distinguishes a misspelt, an unknown, a revoked and an expired key', async (t) => {
  const misspelt = generateLicenseKey().slice(0, -1);
  t.is((await diagnose({ key: misspelt })).body.verdict, 'malformed-key');
  t.is((await diagnose({ key: generateLicenseKey() })).body.verdict, 'unknown-key');
  const past = new Date(Date.now() - 60_000).toISOString();
  t.is((await diagnose({ key: await keyOf('a', { revokedAt: past }) })).body.verdict, 'revoked-key');
  t.is((await diagnose({ key: await keyOf('a', { expiresAt: past }) })).body.verdict, 'expired-key');
  t.is((await diagnose({ key: misspelt }, 'editor')).status, 403);
});

test('another organization’s key gets the same response as an unknown key', async (t) => {
  const otherKey = await keyOf('b');
  const unknown = await diagnose({ key: generateLicenseKey(), status: 401 });
  t.deepEqual((await diagnose({ key: otherKey, status: 401 })).body, unknown.body);
  const token = await harness.signIn('owner@b.example');
  t.not((await diagnose({ key: otherKey }, `token ${token}`)).body.verdict, 'unknown-key');
});

test('the doctor reports what the key, the plan and the source address exclude', async (t) => {
  const key = await keyOf('a', { signals: ['logs'], allowedCidrs: ['10.0.0.0/8'] });
  t.is((await diagnose({ key, signal: 'traces' })).body.verdict, 'signal-not-on-key');
  t.is((await diagnose({ key, signal: 'logs', source: '192.0.2.1' })).body.verdict, 'blocked-address');
  const inside = await diagnose({ key, signal: 'logs', source: '10.1.2.3' });
  t.is(inside.body.verdict, 'nothing-arrived');
  const silent = await diagnose({ key, signal: 'logs' });
  t.true(silent.body.findings.some(({ code }: { code: string }) => code === 'address-restricted'));
  const token = await harness.signIn('owner@b.example');
  t.is(
    (await diagnose({ key: await keyOf('b'), signal: 'traces' }, `token ${token}`)).body.verdict,
    'signal-not-on-plan',
  );
});

test('the doctor distinguishes a wrong endpoint, another key, a refused payload and a working request', async (t) => {
  const key = await keyOf('a', { projectId: 'refusing' });
  t.is((await diagnose({ key, endpoint: `${harness.url}/v1/logs` })).body.verdict, 'wrong-endpoint');
  t.is((await diagnose({ key, status: 401 })).body.verdict, 'other-key-sent');
  t.is((await diagnose({ key })).body.verdict, 'nothing-arrived');
  const { id } = (await diagnose({ key })).body.key;
  await harness.columns.execute(
    `INSERT INTO dead_letters (tenant_id, id, project_id, key_id, signal, origin, kind, reason, message, position, received_at, source, size, cut, chunks, partition, offset)
      SELECT tenant, concat('letter-', key), 'refusing', key, 'logs', 'otlp-http', 'refused', 'malformed', concat('fault of ', key), 7, now64(3) - 5, '10.0.0.1', 3, false, 1, 0, 0
      FROM (SELECT arrayJoin(['a', 'b']) AS tenant, arrayJoin(['${id}', 'another-key']) AS key)`,
  );
  const refused = await diagnose({ key, status: 400 });
  t.is(refused.body.verdict, 'refused-payload');
  t.deepEqual(
    refused.body.refused.map((deadLetter: { id: string }) => deadLetter.id),
    [`letter-${id}`],
  );
  t.regex(refused.body.findings[0].message, new RegExp(`fault of ${id} at byte 7`));
  const began = Date.now() - 1_000;
  await landLog('refusing');
  await used(key, id, { lastSeen: { logs: ago(30) } });
  const working = await diagnose({ key });
  t.is(working.body.verdict, 'working');
  t.is(working.body.findings[0].level, 'hint', 'earlier refusals are still reported');
  t.is(working.body.landed.metrics, null);
  t.true(Date.parse(working.body.landed.logs) >= began);
});

test('the doctor reports what receivers refused, and what was accepted and cannot be read yet', async (t) => {
  const key = await keyOf('a', { projectId: 'waiting' });
  const { id } = (await diagnose({ key })).body.key;
  const lastRefusal = { at: ago(5), address: '192.0.2.7', reason: 'address' } as const;
  await used(key, id, { lastRefusal, lastSeen: { logs: ago(600) } });
  const blocked = await diagnose({ key });
  t.is(blocked.body.verdict, 'blocked-address');
  t.regex(blocked.body.findings[0].message, /192\.0\.2\.7/);
  t.deepEqual(blocked.body.key.lastRefusal, lastRefusal);
  await used(key, id, { lastRefusal: { ...lastRefusal, reason: 'signal' } });
  t.is((await diagnose({ key })).body.verdict, 'signal-not-on-key');
  await used(key, id, { lastRefusal: { ...lastRefusal, at: ago(700) }, lastSeen: { logs: ago(5) } });
  const fresh = await diagnose({ key });
  t.is(fresh.body.verdict, 'not-indexed-yet');
  t.is(fresh.body.findings[0].level, 'hint');
  t.is((await diagnose({ key, signal: 'traces' })).body.verdict, 'nothing-arrived');
  await used(key, id, { lastSeen: { logs: ago(300) } });
  const stuck = await diagnose({ key });
  t.is(stuck.body.verdict, 'not-indexed-yet');
  t.is(stuck.body.findings[0].level, 'problem');
  await landLog('waiting');
  t.is((await diagnose({ key })).body.verdict, 'working');
});

test('the doctor counts the ledger’s refused records, and detects an exhausted quota', async (t) => {
  const key = await keyOf('a', { projectId: 'limited' });
  const { id } = (await diagnose({ key })).body.key;
  const reject = (reason: string, of = id): Promise<void> =>
    harness.columns.execute(
      `INSERT INTO usage (tenant_id, hour, signal, project_id, key_id, outcome, reason, id, requests) VALUES
        ('a', toStartOfHour(now()), 'logs', 'limited', '${of}', 'rejected', '${reason}', '${reason} ${of}', 17)`,
    );
  await reject('rate-limited', 'another-key');
  t.is((await diagnose({ key })).body.verdict, 'nothing-arrived');
  await reject('unsupported-type');
  t.is((await diagnose({ key })).body.verdict, 'wrong-content-type');
  await reject('rate-limited');
  const limited = await diagnose({ key });
  t.is(limited.body.verdict, 'rate-limited');
  t.regex(limited.body.findings[0].message, /^17 requests/);
  const token = await harness.signIn('owner@b.example');
  const otherKey = await keyOf('b');
  t.is((await diagnose({ key: otherKey, signal: 'metrics' }, `token ${token}`)).body.verdict, 'nothing-arrived');
  await harness.columns.execute(
    `INSERT INTO usage (tenant_id, hour, signal, outcome, id, requests, records, bytes) VALUES ('b', toStartOfHour(now()), 'logs', 'accepted', 'much', 1, 1, ${2 * 1024 ** 3})`,
  );
  const spent = await diagnose({ key: otherKey, signal: 'metrics' }, `token ${token}`);
  t.is(spent.body.verdict, 'over-quota');
});

test('the doctor recognizes keys that were rotated out', async (t) => {
  const old = generateLicenseKey();
  const previous = (validUntil: string) => [{ ...toSecretFields(old), rotatedAt: ago(60), validUntil }];
  await keyOf('a', { previous: previous(ago(-600)) });
  const working = await diagnose({ key: old });
  t.is(working.body.verdict, 'rotated-key');
  t.is(working.body.findings[0].level, 'hint');
  const expiredKey = generateLicenseKey();
  await keyOf('a', { previous: [{ ...toSecretFields(expiredKey), rotatedAt: ago(60), validUntil: ago(1) }] });
  const over = await diagnose({ key: expiredKey, status: 401 });
  t.is(over.body.verdict, 'rotated-key');
  t.is(over.body.findings[0].level, 'problem');
});

test('the doctor’s responses contain no key', async (t) => {
  const key = await keyOf('a');
  for (const body of [{ key }, { key: `${key}x` }, { key, endpoint: 'http://x', error: 'y' }])
    t.false(JSON.stringify((await diagnose(body)).body).includes(key));
});
