/** License keys from the API that creates them to the receivers that check them, over any store. */
import { hash, randomUUID } from 'node:crypto';
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { startReceivers } from '../../receivers/index.ts';
import { generateLicenseKey, isWellFormedLicenseKey } from '../../schemas/license-key-format.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { buildLicenseKey, type LicenseKey, licenseKeys } from '../../schemas/resources/license-key.ts';
import { licenseKeyUses } from '../../schemas/resources/license-key-use.ts';
import { projects } from '../../schemas/resources/project.ts';
import { resourceHistory } from '../../schemas/resources/resource-history.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { jsonRequest } from '../contract/receivers-bodies.ts';
import { eventually } from '../waiting.ts';
import { type Harness, startHarness, withRetries } from './api-harness.ts';

/** Without `open`, receivers and API share the embedded store; with it, each has its own connection. */
export const licenseKeysContract = (store: string, open?: () => Promise<Documents>): void => {
  let harness: Harness;
  let receivers: Awaited<ReturnType<typeof startReceivers>>;
  let documents: Documents;
  let url = '';
  const lines: unknown[] = [];
  const write = (...args: unknown[]): void => void lines.push(args);
  const log = { info: write, warn: write, error: write };

  test.before(async () => {
    harness = withRetries(await startHarness({ log, openDocuments: open }));
    documents = open === undefined ? harness.documents : await open();
    const clock = { now: () => Date.now() };
    receivers = await startReceivers({
      bus: harness.bus,
      documents,
      counters: createMemoryCounters({ clock }),
      metrics: silentMetrics,
      log,
      clock,
      settings: parseSettings({ OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0', OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0' }),
    });
    url = `http://${receivers.addresses.OTLP_HTTP_ADDRESS}`;
    await harness.documents
      .forTenant('a')
      .collection(projects)
      .insert({ id: 'default', name: 'Default', description: '' });
  });
  test.after.always(async () => {
    await receivers?.stop();
    if (documents !== harness?.documents) await documents?.close();
    await harness?.close();
  });

  const send = async (key: string, signal: 'logs' | 'traces' = 'logs'): Promise<number> => {
    const response = await fetch(`${url}/v1/${signal}`, {
      method: 'POST',
      headers: { 'x-license-key': key, 'content-type': 'application/json' },
      body: jsonRequest(signal, 1, 'hello'),
    });
    await response.arrayBuffer();
    return response.status;
  };

  /** Polls until the response is as expected, and returns it. */
  const poll = async <Value>(what: string, send: () => Promise<Value>, holds: (value: Value) => boolean) => {
    let value = await send();
    await eventually(what, async () => {
      value = await send();
      return holds(value);
    }).catch((cause: Error) => {
      throw new Error(`${cause.message}: ${JSON.stringify(value)}`, { cause });
    });
    return value;
  };
  const sends = (key: string, status: number) =>
    poll(
      `sending answers ${status}`,
      () => send(key),
      (response) => response === status,
    );

  const mint = async (fields: object = {}) => {
    const body = { name: `Key ${randomUUID()}`, projectId: 'default', ...fields };
    const response = await harness.request('POST', '/api/license-keys', { as: 'admin', body });
    if (response.status !== 200) throw new Error(JSON.stringify(response.body));
    return response.body;
  };
  const show = async (id: string) => (await harness.request('GET', `/api/license-keys/${id}`, { as: 'admin' })).body;
  const rotate = async (id: string, body?: object) =>
    harness.request('POST', `/api/license-keys/${id}/rotate`, { as: 'admin', body });

  const browserFields = { kind: 'browser', application: 'checkout', origins: ['https://shop.example.com'] };

  test(`${store}: a browser key is always shown, and accepts the telemetry of its application from its origins only`, async (t) => {
    const { key, id, signals } = await mint(browserFields);
    t.regex(key, /^oiq_pk_/);
    t.deepEqual(signals, ['logs', 'traces']);
    t.like(await show(id), {
      publicKey: key,
      kind: 'browser',
      application: 'checkout',
      origins: ['https://shop.example.com'],
    });
    const visit = async (origin: string, body: string): Promise<{ status: number; allowed: string | null }> => {
      const response = await fetch(`${url}/rum/${key}/v1/logs`, { method: 'POST', headers: { origin }, body });
      await response.arrayBuffer();
      return { status: response.status, allowed: response.headers.get('access-control-allow-origin') };
    };
    const origin = 'https://shop.example.com';
    const request = jsonRequest('logs', 1, 'hello');
    await poll(
      'the browser key is known',
      () => visit(origin, request),
      ({ status }) => status === 200,
    );
    t.deepEqual(await visit(origin, request), { status: 200, allowed: origin });
    t.deepEqual(await visit('https://evil.example', request), { status: 403, allowed: null });
    t.deepEqual(await visit(origin, request.replaceAll('checkout', 'payments')), { status: 400, allowed: origin });
    t.is(await send(key), 403);
    const preflight = await fetch(`${url}/rum/${key}/v1/traces`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    t.is(preflight.status, 204);
    t.is(preflight.headers.get('access-control-allow-origin'), origin);
    await harness.documents.forTenant('a').collection(licenseKeyUses).list();
    t.deepEqual((await show(id)).addresses, []);
  });

  test(`${store}: fields of a browser key are refused for a server key, and the kind never changes`, async (t) => {
    const attempt = (fields: object) =>
      harness.request('POST', '/api/license-keys', {
        as: 'admin',
        body: { name: 'k', projectId: 'default', ...fields },
      });
    const wrong: [object, string][] = [
      [{ application: 'checkout' }, 'application'],
      [{ origins: ['https://a.example.com'] }, 'origins'],
      [{ maxBytesPerDay: 5 }, 'maxBytesPerDay'],
      [{ ...browserFields, application: null }, 'application'],
      [{ ...browserFields, origins: [] }, 'origins'],
      [{ ...browserFields, signals: ['metrics'] }, 'signals'],
      [{ ...browserFields, origins: ['https://*.com'] }, 'origins.0'],
    ];
    for (const [fields, path] of wrong) {
      const { status, body } = await attempt(fields);
      t.is(status, 400, JSON.stringify(fields));
      t.is(body.details[0].path, path);
    }
    const { id } = await mint(browserFields);
    const change = await harness.request('PATCH', `/api/license-keys/${id}`, {
      as: 'admin',
      body: { kind: 'server', application: null, origins: [] },
      headers: { 'if-match': '*' },
    });
    t.is(change.status, 400);
    t.is(change.body.details[0].path, 'kind');
  });

  test(`${store}: a key from before the introduction of kinds is a server key, works, and can be changed`, async (t) => {
    const key = generateLicenseKey();
    const {
      kind: _,
      application: __,
      origins: ___,
      maxBytesPerDay: ____,
      ...former
    } = buildLicenseKey(key, {
      name: `Key ${randomUUID()}`,
      projectId: 'default',
      expiresAt: null,
    });
    const { id } = await harness.documents
      .forTenant('a')
      .collection(licenseKeys)
      .insert(former as LicenseKey);
    const kindFields = { kind: 'server', application: null, origins: [], maxBytesPerDay: null, publicKey: null };
    t.like(await show(id), kindFields);
    await sends(key, 200);
    const { status, body } = await harness.request('PATCH', `/api/license-keys/${id}`, {
      as: 'admin',
      body: { name: 'Renamed' },
      headers: { 'if-match': '*' },
    });
    t.is(status, 200, JSON.stringify(body));
    t.like(body, { ...kindFields, name: 'Renamed' });
  });

  test(`${store}: a key is shown once, works, and is stored nowhere in plain text`, async (t) => {
    const { key, ...view } = await mint();
    t.true(isWellFormedLicenseKey(key));
    t.true(key.startsWith(view.prefix) && view.prefix.length < 16);
    t.is(view.state, 'active');
    t.is(view.lastUsedAt, null);
    await sends(key, 200);
    const rotated = (await rotate(view.id)).body;
    const own = harness.documents.forTenant('a');
    const everything = await Promise.all([
      show(view.id),
      harness.request('GET', '/api/license-keys?limit=1000'),
      own.collection(licenseKeys).list(),
      own.collection(licenseKeyUses).list(),
      own.collection(auditRecords).list(),
      own.collection(resourceHistory).list(),
    ]);
    const text = JSON.stringify([everything, lines]);
    for (const secret of [key, rotated.key]) t.false(text.includes(secret));
    t.false(JSON.stringify(await show(view.id)).includes(hash('sha256', key)));
    const records = await own.collection(auditRecords).list({ filter: { 'resource.id': view.id } });
    t.deepEqual(records.items.map(({ action }) => action).sort(), ['license-key.create', 'license-key.rotate']);
    t.false(JSON.stringify(records).includes(hash('sha256', key)));
  });

  test(`${store}: the time, address and signals of the use of a key are shown within seconds`, async (t) => {
    const { id, key } = await mint();
    const before = Date.now();
    await sends(key, 200);
    const first = await poll(
      'the use is shown',
      () => show(id),
      ({ firstSeen }) => 'logs' in firstSeen,
    );
    t.true(Date.parse(first.lastUsedAt) >= before - 1 && Date.parse(first.lastUsedAt) <= Date.now());
    t.is(first.addresses[0].address, '127.0.0.1');
    t.deepEqual(Object.keys(first.firstSeen), ['logs']);
    t.is(first.version, 1);
    t.is(await send(key, 'traces'), 200);
    const second = await poll(
      'the signal is shown',
      () => show(id),
      ({ firstSeen }) => 'traces' in firstSeen,
    );
    t.is(second.firstSeen.logs, first.firstSeen.logs);
  });

  test(`${store}: a rotated key works along with the new one during its grace period, and its users are shown`, async (t) => {
    const { id, key } = await mint();
    const response = await rotate(id, { graceSeconds: 3_600 });
    t.is(response.status, 200);
    t.not(response.body.key, key);
    t.is(response.body.version, 2);
    t.is(response.body.previous[0].isActive, true);
    t.is(response.body.previous[0].lastUsedAt, null);
    await sends(response.body.key, 200);
    t.is(await send(key), 200);
    const { previous, prefix } = await poll(
      'the use of the old key is shown',
      () => show(id),
      (view) => view.previous[0].lastUsedAt !== null && view.lastUsedAt !== null,
    );
    t.is(prefix, response.body.prefix);
    t.is(previous[0].prefix, key.slice(0, previous[0].prefix.length));
    t.is(previous[0].addresses[0].address, '127.0.0.1');
    const hours = (Date.parse(previous[0].validUntil) - Date.parse(previous[0].rotatedAt)) / 3_600_000;
    t.is(hours, 1);
  });

  test(`${store}: after the grace period the old key is refused, and senders that still use it are shown`, async (t) => {
    const { id, key } = await mint();
    await sends(key, 200);
    const { body } = await rotate(id, { graceSeconds: 1 });
    await sends(body.key, 200);
    await sends(key, 401);
    const { previous } = await poll(
      'the attempt is shown',
      () => show(id),
      (view) => view.previous[0].lastRefusal !== null,
    );
    t.is(previous[0].isActive, false);
    t.is(previous[0].lastRefusal.reason, 'expired');
    t.is(previous[0].lastRefusal.address, '127.0.0.1');
    t.is(await send(body.key), 200);
  });

  test(`${store}: a rotation without grace period ends every key that was rotated out before`, async (t) => {
    const { id, key } = await mint();
    const second = (await rotate(id)).body;
    await sends(second.key, 200);
    t.is(await send(key), 200);
    const third = (await rotate(id, { graceSeconds: 0 })).body;
    await sends(third.key, 200);
    await sends(second.key, 401);
    await sends(key, 401);
    t.deepEqual(
      third.previous.map(({ isActive }: { isActive: boolean }) => isActive),
      [false, false],
    );
  });

  test(`${store}: a revoked key is refused within seconds, and stays listed as revoked`, async (t) => {
    const { id, key } = await mint();
    const { body: second } = await rotate(id);
    await sends(second.key, 200);
    const response = await harness.request('DELETE', `/api/license-keys/${id}`, { as: 'admin' });
    t.is(response.status, 200);
    t.is(response.body.state, 'revoked');
    await sends(second.key, 401);
    await sends(key, 401);
    const again = await harness.request('DELETE', `/api/license-keys/${id}`, { as: 'admin' });
    t.is(again.body.revokedAt, response.body.revokedAt);
    t.is(again.body.version, response.body.version);
    const patched = await harness.request('PATCH', `/api/license-keys/${id}`, { body: { name: 'x' } });
    t.is(patched.status, 409);
    t.is((await rotate(id)).status, 409);
    const listed = async (state: string): Promise<boolean> => {
      const { body } = await harness.request('GET', `/api/license-keys?limit=1000&state=${state}`);
      return body.items.some((one: { id: string }) => one.id === id);
    };
    t.deepEqual([await listed('revoked'), await listed('active'), await listed('expired')], [true, false, false]);
  });

  test(`${store}: a restriction of a key takes effect within seconds, and the reason for a refusal is shown`, async (t) => {
    const { id, key } = await mint();
    await sends(key, 200);
    const change = (body: object) => harness.request('PATCH', `/api/license-keys/${id}`, { as: 'admin', body });
    t.is((await change({ signals: ['traces', 'traces'] })).body.signals.length, 1);
    await sends(key, 403);
    const refused = await poll(
      'the refusal is shown',
      () => show(id),
      ({ lastRefusal }) => lastRefusal !== null,
    );
    t.is(refused.lastRefusal.reason, 'signal');
    await change({ signals: ['logs'], allowedCidrs: ['192.0.2.0/24'] });
    await sends(key, 403);
    await change({ allowedCidrs: ['192.0.2.0/24', '127.0.0.0/8'] });
    await sends(key, 200);
    // A request that takes longer than this is rejected, because the end is then in the past.
    const ending = () => change({ expiresAt: new Date(Date.now() + 1_500).toISOString() });
    await eventually('the expiry is set', async () => (await ending()).status === 200);
    await sends(key, 401);
    t.is((await show(id)).state, 'expired');
    t.is((await rotate(id)).status, 409);
    await change({ expiresAt: null });
    await sends(key, 200);
  });

  const bad: readonly [string, object, string][] = [
    ['a network that is none', { allowedCidrs: ['10.0.0.0/8', 'everywhere'] }, 'allowedCidrs.1'],
    ['a mask that is too long', { allowedCidrs: ['10.0.0.0/33'] }, 'allowedCidrs.0'],
    ['no signal at all', { signals: [] }, 'signals'],
    ['a signal that there is not', { signals: ['smells'] }, 'signals.0'],
    ['an end in the past', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'expiresAt'],
    ['an end that is no time', { expiresAt: 'tomorrow' }, 'expiresAt'],
    ['a limit of nothing', { requestsPerSecond: 0 }, 'requestsPerSecond'],
    ['a project that there is not', { projectId: 'nowhere' }, 'projectId'],
    ['a secret of one’s own', { hash: 'a'.repeat(64) }, 'hash'],
  ];
  test(`${store}: an invalid key setting is refused with its field`, async (t) => {
    const { id } = await mint();
    for (const [what, fields, path] of bad) {
      const body = { name: 'k', projectId: 'default', ...fields };
      const minted = await harness.request('POST', '/api/license-keys', { body });
      t.is(minted.status, 400, what);
      t.is(minted.body.details[0].path, path, what);
      const changed = await harness.request('PATCH', `/api/license-keys/${id}`, { body: fields });
      // The project of a key cannot be changed. The field is ignored, because clients may send back what they read.
      t.is(changed.status, path === 'projectId' ? 200 : 400, what);
    }
    t.is((await show(id)).projectId, 'default');
    t.is((await show(id)).version, 1);
  });

  test(`${store}: a project’s key is created, then rotated, and created again once it was revoked`, async (t) => {
    const created = await harness.request('POST', '/api/projects', { body: { name: `Project ${randomUUID()}` } });
    const path = `/api/projects/${created.body.id}`;
    const rotateKey = (body?: object) => harness.request('POST', `${path}/rotate-key`, { as: 'admin', body });
    t.is((await harness.request('POST', `${path}/rotate-key`, { as: 'editor' })).status, 403);
    const first = (await rotateKey()).body;
    await sends(first.key, 200);
    t.is(first.licenseKey.projectId, created.body.id);
    t.is((await harness.request('GET', path)).body.ingestKeyId, first.licenseKey.id);
    const second = (await rotateKey({ graceSeconds: 3_600 })).body;
    t.is(second.licenseKey.id, first.licenseKey.id);
    await sends(second.key, 200);
    t.is(await send(first.key), 200);
    t.is((await harness.request('DELETE', path)).status, 409);
    await harness.request('DELETE', `/api/license-keys/${first.licenseKey.id}`);
    const third = (await rotateKey()).body;
    t.not(third.licenseKey.id, first.licenseKey.id);
    await sends(third.key, 200);
    await sends(second.key, 401);
    const { items } = await harness.documents
      .forTenant('a')
      .collection(auditRecords)
      .list({ filter: { action: 'project.rotate-key', 'resource.id': created.body.id } });
    t.is(items.length, 3);
  });
};
