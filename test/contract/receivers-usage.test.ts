/** What receivers tell the ledger, and quotas as a running receiver hears of them. */
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { Quota, quotaId, quotas } from '../../schemas/resources/quota.ts';
import { topics, UsageReport } from '../../schemas/topics.ts';
import { jsonRequest, request } from './receivers-bodies.ts';
import { type Fixture, projectId, running, tenantId } from './receivers-fixture.ts';

const post = async ({ http, secret }: Fixture, body: Uint8Array | string, headers: Record<string, string> = {}) => {
  const { path = '/v1/logs', ...others } = headers;
  const answer = await fetch(http + path, {
    method: 'POST',
    headers: { 'x-license-key': secret, 'content-type': 'application/x-protobuf', ...others },
    body: body as Uint8Array<ArrayBuffer>,
  });
  await answer.arrayBuffer();
  return answer.status;
};

/** Rows of the reports that were published, without what all of them have. */
const reported = ({ bus, keyId }: Fixture) => {
  const reports = bus.messages.filter(({ topic }) => topic === topics.usage.name);
  const rows = reports.flatMap(({ value }) => UsageReport.parse(JSON.parse(value.toString())).rows);
  return rows.map(({ hour, ...row }) => {
    if (row.tenantId !== tenantId || row.projectId !== projectId || row.keyId !== keyId)
      throw new Error('whose is it?');
    return `${row.signal} ${row.reason} ${row.requests} ${row.records} ${row.bytes}`;
  });
};

/** Asks until it is answered so: the change feed is heard within a second, and a busy machine takes longer. */
const until = async (status: number, ask: () => Promise<number>): Promise<void> => {
  for (const deadline = Date.now() + 100_000; (await ask()) !== status; await delay(20)) {
    if (Date.now() > deadline) throw new Error(`it never answered ${status}`);
  }
};

test('what a known key is refused is reported at the end, by reason; what is kept as a dead letter is not', async (t) => {
  await using fixture = await running({ key: { signals: ['logs'] } });
  t.is(await post(fixture, request('logs')), 200);
  t.is(await post(fixture, request('traces'), { path: '/v1/traces' }), 403);
  t.is(await post(fixture, request('logs'), { 'content-type': 'text/plain' }), 415);
  t.is(await post(fixture, request('logs'), { 'content-encoding': 'br' }), 415);
  t.is(await post(fixture, 'garbage'), 400);
  t.is(await post(fixture, gzipSync(Buffer.alloc(51 * 1024 * 1024)), { 'content-encoding': 'gzip' }), 413);
  t.is(await post({ ...fixture, secret: 'unknown' } as Fixture, request('logs')), 401);
  fixture.bus.broken = topics.logs.name;
  const body = request('logs', 3);
  t.is(await post(fixture, body), 503);
  fixture.bus.broken = undefined;
  await fixture.receivers.stop();
  t.deepEqual(reported(fixture).sort(), [
    `logs unavailable 1 3 ${body.length}`,
    'logs unsupported-encoding 1 0 0',
    'logs unsupported-type 1 0 0',
    'traces forbidden 1 0 0',
  ]);
  t.is(fixture.bus.deadLetters().length, 2);
});

test('a quota that is set, raised and taken away is heard of while requests come', async (t) => {
  await using fixture = await running();
  const stored = fixture.documents.of(tenantId).collection(quotas);
  const body = request('logs', 2, 'z'.repeat(400));
  const ask = () => post(fixture, body);
  t.is(await ask(), 200);
  const dayOf = (rejectBytes: number) => Quota.parse({ day: { logs: { rejectBytes } } });
  await stored.insert({ id: quotaId, ...dayOf(body.length - 1) });
  await until(429, ask);
  t.is(await post(fixture, request('traces'), { path: '/v1/traces' }), 200, 'another signal is not held by it');
  await stored.replace(quotaId, dayOf(1_000_000));
  await until(200, ask);
  await stored.replace(quotaId, dayOf(1));
  await until(429, ask);
  await stored.delete(quotaId);
  await until(200, ask);
  await fixture.receivers.stop();
  t.true(reported(fixture).every((row) => row.startsWith('logs quota ')));
});

test('a quota counts the bytes that are carried: JSON as the protobuf that it becomes', async (t) => {
  await using fixture = await running();
  t.is(await post(fixture, jsonRequest('logs'), { 'content-type': 'application/json' }), 200);
  const carried = fixture.bus.members()[0]?.bytes.length ?? 0;
  t.true(carried > 0 && carried < jsonRequest('logs').length);
  const stored = fixture.documents.of(tenantId).collection(quotas);
  await stored.insert({ id: quotaId, ...Quota.parse({ day: { total: { rejectBytes: carried } } }) });
  const large = request('traces', 1, 'z'.repeat(carried));
  await until(429, () => post(fixture, large, { path: '/v1/traces' }));
  t.is(await post(fixture, jsonRequest('logs'), { 'content-type': 'application/json' }), 200, 'exactly the quota');
  t.is(await post(fixture, jsonRequest('logs'), { 'content-type': 'application/json' }), 429);
});
