/** Heartbeats over real HTTP: responses, stored heartbeats, and their order. */
import { hash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import test from 'ava';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { type StoredCheck, syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { heartbeatTokenFormat, syntheticHeartbeatTokens } from '../../schemas/resources/synthetic-heartbeat-token.ts';
import type { SyntheticHeartbeat } from '../../schemas/synthetic-heartbeats.ts';
import { topics } from '../../schemas/topics.ts';
import { eventually } from '../waiting.ts';
import { type Fixture, running, tenantId } from './receivers-fixture.ts';

const checkOf = (name: string, fields: Partial<StoredCheck> = {}): StoredCheck => ({
  name,
  type: 'heartbeat',
  enabled: true,
  projectId: 'shop',
  every: '1m',
  locations: [],
  ...fields,
});

/** Stores a heartbeat; returns its token. */
const addCheck = async ({ documents }: Fixture, id: string, fields: Partial<StoredCheck> = {}): Promise<string> => {
  const token = heartbeatTokenFormat.generate();
  const own = documents.forTenant(tenantId);
  await own.collection(syntheticChecks).insert({ id, ...checkOf(id, fields) });
  await own
    .collection(syntheticHeartbeatTokens)
    .insert({ id, hash: hash('sha256', token), prefix: heartbeatTokenFormat.displayPrefix(token) });
  return token;
};

const itemsIn = ({ bus }: Fixture): SyntheticHeartbeat[] =>
  bus.messages
    .filter(({ topic }) => topic === topics.syntheticHeartbeats.name)
    .flatMap(({ value }) => topics.syntheticHeartbeats.value.parse(JSON.parse(Buffer.from(value).toString())));
const heartbeatsIn = (fixture: Fixture) => itemsIn(fixture).flatMap((item) => (item.kind === 'beat' ? [item] : []));

const get = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, init);
  return { status: response.status, text: await response.text(), headers: response.headers };
};
/** Tokens are valid within a second of their creation. */
const known = (fixture: Fixture, token: string) =>
  eventually('the token is known', async () =>
    (await get(`${fixture.http}/beats/${token}/none`)).text.includes('EXITCODE'),
  );

test('heartbeats are accepted on both addresses, by each method and path', async (t) => {
  await using fixture = await running();
  const token = await addCheck(fixture, 'backup');
  await known(fixture, token);
  const table: readonly (readonly [path: string, init: RequestInit, told: object])[] = [
    ['', {}, { signal: 'end', exitCode: null, runId: '', message: '' }],
    ['', { method: 'HEAD' }, { signal: 'end' }],
    ['', { method: 'POST', body: ' 12 files\n' }, { signal: 'end', message: '12 files' }],
    ['/start?rid=a-1', { method: 'POST' }, { signal: 'start', runId: 'a-1' }],
    ['/fail', { method: 'POST', body: 'disk full' }, { signal: 'fail', message: 'disk full' }],
    ['/0?rid=a-1', {}, { signal: 'end', exitCode: 0, runId: 'a-1' }],
    ['/137', {}, { signal: 'end', exitCode: 137 }],
    ['', { method: 'POST', body: 'é'.repeat(6000) }, { message: 'é'.repeat(4096) }],
    ['', { method: 'POST', body: Buffer.from([0xff, 0xfe]) }, { message: '\ufffd\ufffd' }],
  ];
  for (const address of [fixture.http, fixture.main])
    for (const [path, init, expectedFields] of table) {
      const { status, text } = await get(`${address}/beats/${token}${path}`, init);
      t.is(status, 200);
      t.is(text, init.method === 'HEAD' ? '' : 'OK\n');
      const last = heartbeatsIn(fixture).at(-1);
      t.like(last, { tenantId, kind: 'beat', checkId: 'backup', projectId: 'shop', ...expectedFields });
      t.true(Math.abs(Date.now() - (last?.receivedMs ?? 0)) < 60_000);
    }
  t.is(heartbeatsIn(fixture).length, 2 * table.length);
});

test('an invalid heartbeat is refused with the reason, and is not stored', async (t) => {
  await using fixture = await running();
  const token = await addCheck(fixture, 'backup');
  const off = await addCheck(fixture, 'off', { enabled: false });
  const web = await addCheck(fixture, 'web', { type: 'http' });
  await known(fixture, token);
  const table: readonly (readonly [path: string, init: RequestInit, status: number, text: RegExp])[] = [
    [heartbeatTokenFormat.generate(), {}, 404, /no heartbeat with this token/],
    ['wrong', {}, 404, /no heartbeat with this token/],
    ['', {}, 404, /no heartbeat with this token/],
    [web, {}, 404, /no heartbeat with this token/],
    [`${token.slice(0, -1)}%41`, {}, 404, /no heartbeat with this token/],
    [`${token}/stop`, {}, 404, /\/beats\/TOKEN\/EXITCODE, from 0 to 255/],
    [`${token}/256`, {}, 404, /EXITCODE/],
    [`${token}/-1`, {}, 404, /EXITCODE/],
    [`${token}/start/now`, {}, 404, /EXITCODE/],
    [`${token}/`, {}, 404, /EXITCODE/],
    [`${token}?rid=${'a'.repeat(65)}`, {}, 400, /rid, the id of a run, must be/],
    [`${token}?rid=`, {}, 400, /rid/],
    [`${token}?rid=a%20b`, {}, 400, /rid/],
    [token, { method: 'PUT' }, 405, /use one of GET, HEAD, POST/],
    [token, { method: 'DELETE' }, 405, /use one of GET, HEAD, POST/],
    [token, { method: 'POST', body: 'x'.repeat(1_100_000) }, 413, /at most 1048576 bytes; the first 8192 are stored/],
    [off, {}, 200, /OK, but the check is disabled: this heartbeat does not count/],
  ];
  for (const [path, init, status, text] of table) {
    const response = await get(`${fixture.http}/beats/${path}`, init);
    t.is(response.status, status, path);
    t.regex(response.text, text, path);
    if (status === 405) t.is(response.headers.get('allow'), 'GET, HEAD, POST');
  }
  t.deepEqual(heartbeatsIn(fixture), []);
  t.is((await get(`${fixture.main}/beats`)).status, 418);
});

test('a successful heartbeat is durable: while the bus does not accept it, the response waits or is 503', async (t) => {
  await using fixture = await running();
  const token = await addCheck(fixture, 'backup');
  await known(fixture, token);
  const url = `${fixture.http}/beats/${token}`;
  const { promise, resolve } = Promise.withResolvers<void>();
  fixture.bus.held = promise;
  let isAnswered = false;
  const response = get(url).finally(() => {
    isAnswered = true;
  });
  await new Promise((done) => setTimeout(done, 100));
  t.false(isAnswered);
  t.deepEqual(heartbeatsIn(fixture), []);
  resolve();
  t.is((await response).status, 200);
  fixture.bus.held = undefined;
  fixture.bus.broken = topics.syntheticHeartbeats.name;
  const refused = await get(url);
  t.is(refused.status, 503);
  t.regex(refused.text, /was not stored: send it again/);
  t.not(refused.headers.get('retry-after'), null);
  fixture.bus.broken = undefined;
  t.is((await get(url)).status, 200);
  t.is(heartbeatsIn(fixture).length, 2);
});

test('a token may send ten heartbeats a second, a hundred at once; clients that guess tokens are limited as well', async (t) => {
  let nowMs = Date.now();
  await using fixture = await running({ clock: { now: () => nowMs } });
  const token = await addCheck(fixture, 'backup');
  const other = await addCheck(fixture, 'other');
  await known(fixture, other);
  const statusesOf = async (count: number, tokenOf: () => string) =>
    Promise.all(Array.from({ length: count }, async () => (await get(`${fixture.http}/beats/${tokenOf()}`)).status));
  const counted = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length;
  const statuses = await statusesOf(150, () => token);
  t.deepEqual([counted(statuses, 200), counted(statuses, 429), heartbeatsIn(fixture).length], [100, 50, 100]);
  const response = await get(`${fixture.http}/beats/${token}`);
  t.regex(response.text, /too many heartbeats with this token: ten a second/);
  t.is(response.headers.get('retry-after'), '1');
  t.is((await get(`${fixture.http}/beats/${other}`)).status, 200);
  nowMs += 1000;
  t.is(counted(await statusesOf(20, () => token), 200), 10);
  t.is(counted(await statusesOf(400, () => heartbeatTokenFormat.generate()), 429), 200);
});

test('a request whose body breaks off is not a heartbeat', async (t) => {
  await using fixture = await running();
  const token = await addCheck(fixture, 'backup');
  await known(fixture, token);
  const { hostname, port } = new URL(fixture.http);
  const sending = httpRequest({
    hostname,
    port,
    method: 'POST',
    path: `/beats/${token}`,
    headers: { 'content-length': 100 },
  });
  sending.on('error', () => undefined);
  sending.write('half');
  await new Promise((done) => setTimeout(done, 50));
  sending.destroy();
  t.is((await get(`${fixture.http}/beats/${token}/7`)).status, 200);
  t.deepEqual(
    heartbeatsIn(fixture).map(({ exitCode }) => exitCode),
    [7],
  );
});

test('a pulse follows the accepted heartbeats; it is not sent for organizations without heartbeat checks or for disabled organizations', async (t) => {
  await using fixture = await running();
  t.deepEqual(itemsIn(fixture), []);
  const token = await addCheck(fixture, 'backup');
  await known(fixture, token);
  await get(`${fixture.http}/beats/${token}`);
  await eventually('it is told', async () => itemsIn(fixture).some(({ kind }) => kind === 'pulse'));
  const items = itemsIn(fixture);
  t.deepEqual(
    items.map(({ receivedMs }) => receivedMs),
    items.map(({ receivedMs }) => receivedMs).toSorted((one, other) => one - other),
  );
  t.deepEqual([...new Set(items.map((item) => item.tenantId))], [tenantId]);
  const platform = fixture.documents.forTenant(organizationsTenant).collection(organizations);
  await platform.update(tenantId, { disabled: true });
  await eventually('it is off', async () => (await get(`${fixture.http}/beats/${token}`)).text.includes('is disabled'));
  await fixture.documents.forTenant(tenantId).collection(syntheticHeartbeatTokens).delete('backup');
  await eventually('it ended', async () => (await get(`${fixture.http}/beats/${token}`)).status === 404);
});
