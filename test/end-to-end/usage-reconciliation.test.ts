/**
 * One process, killed while it processes known amounts of good, poison, malformed, forbidden and over-quota data.
 * All figures of the ledger agree with the responses and with the stored rows.
 */
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { encodeHeaders } from '../../schemas/telemetry-message.ts';
import { topics } from '../../schemas/topics.ts';
import { tracesRequest } from '../cases/sink-tables.ts';
import { jsonRequest } from '../contract/receivers-bodies.ts';
import { freePorts } from '../services/ports.ts';
import { eventually } from '../waiting.ts';
import { type OiqProcess, type Ports, read, signIn, startOiq } from './oiq-process.ts';
import { logsRequest, Oracle } from './oracle.ts';
import { readBackEmbedded } from './read-back.ts';
import { assertReadBack, installation } from './reliability.ts';

interface Amount {
  readonly requests: number;
  readonly records: number;
  readonly bytes: number;
}
interface Volume {
  readonly accepted: Amount;
  readonly landed: Omit<Amount, 'requests'>;
  readonly deadLettered: Amount;
  readonly replayed: Amount;
  readonly refused: Amount;
  readonly dropped: Amount;
  readonly rejected: Amount;
  readonly rejectedBy: readonly (Amount & { readonly reason: string })[];
}
interface Usage {
  readonly signals: Readonly<Record<'logs' | 'metrics' | 'traces', Volume>>;
  readonly total: Volume;
  readonly pending: { readonly messages: { readonly value: number | null } };
}

const goodMessages = 200;
const poisonRecords = 5;
const garbage = Buffer.from('none of this is OTLP, whatever the headers say');

/** Publishes without the receivers: messages of 2 records, and two that no sink can store. */
const publishPoison = async (dataDirectory: string): Promise<void> => {
  const bus = await openSegmentsBus({ directory: join(dataDirectory, 'bus') });
  const producer = await bus.producer();
  const message = (value: Buffer, records: number) => {
    const member = { length: value.length, size: value.length, records, receivedAtMs: Date.now() };
    const headers = encodeHeaders({
      tenantId: 'default',
      projectId: 'default',
      keyId: 'poison',
      signal: 'logs',
      format: 'otlp',
      encoding: 'identity',
      members: [{ ...member, source: '127.0.0.1', traceparent: '' }],
    });
    return { topic: topics.logs.name, key: 'default', value, headers };
  };
  const good = Array.from({ length: goodMessages }, (_, index) =>
    message(logsRequest('before', [`good ${index} a`, `good ${index} b`]), 2),
  );
  await producer.publish([...good.slice(0, 100), message(garbage, poisonRecords), ...good.slice(100)]);
  await producer.publish([message(garbage, poisonRecords)]);
  await producer.close();
  await bus.close();
};

const spans = (count: number): Uint8Array => {
  const span = { traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 1), name: 'span'.repeat(100) };
  return tracesRequest({ resourceSpans: [{ scopeSpans: [{ spans: Array.from({ length: count }, () => span) }] }] });
};

test.serial('records sent, responses, counts and stored rows agree, even after kill -9', async (t) => {
  const { dataDirectory, environment, licenseKey } = await installation(t, 'ledger');
  const ports = (await freePorts(3)) as unknown as Ports;
  await publishPoison(dataDirectory);
  let oiq: OiqProcess = await startOiq({ dataDirectory, ports, environment });
  const oracle = new Oracle({ otlp: () => oiq.otlp, licenseKey, connections: 4, pauseMs: 5, run: 'ledger' });
  t.teardown(async () => {
    await oiq.kill();
    await oracle.close();
  });

  const post = (
    signal: string,
    body: Uint8Array,
    key = licenseKey,
    headers: Record<string, string> = {},
  ): Promise<number> =>
    fetch(`${oiq.otlp}/v1/${signal}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf', 'x-license-key': key, ...headers },
      body: Buffer.from(body),
    }).then(async (response) => {
      await response.arrayBuffer();
      return response.status;
    });
  let token = '';
  const usage = (): Promise<Usage> => read(oiq.http, '/api/usage', token, { 'cache-control': 'no-cache' });
  const restarted = async (): Promise<void> => {
    await oiq.kill();
    oiq = await startOiq({ dataDirectory, ports, environment });
  };

  oracle.start();
  await eventually('records before the kill', () => oracle.counts().acknowledged > 2_000);
  await oiq.kill();
  oiq = await startOiq({ dataDirectory, ports, environment });
  await eventually('records after the kill', () => oracle.counts().acknowledged > 4_000);
  await oracle.stop();

  for (let index = 0; index < 7; index++) t.is(await post('logs', garbage), 400);
  t.is(await post('logs', gzipSync(garbage), licenseKey, { 'content-encoding': 'gzip' }), 400);

  // One is split, one is published unchanged, one is only translated.
  const json = [9_000, 3, 5].map((records) => Buffer.from(jsonRequest('metrics', records, 'äöü'.repeat(9))));
  const [long = garbage, short = garbage, plain = garbage] = json;
  const type = { 'content-type': 'application/json' };
  t.is(await post('metrics', gzipSync(long), licenseKey, { ...type, 'content-encoding': 'gzip' }), 200);
  t.is(await post('metrics', zstdCompressSync(short), licenseKey, { ...type, 'content-encoding': 'zstd' }), 200);
  t.is(await post('metrics', plain, licenseKey, type), 200);

  token = await signIn(oiq.http);
  const limit = 100_000;
  const quota = { day: { traces: { warnBytes: 10_000, rejectBytes: limit } }, month: {} };
  const put = await fetch(`${oiq.http}/api/usage/quotas`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(quota),
  });
  t.is(put.status, 200, await put.text());
  const body = spans(10);
  let acceptedCount = 0;
  // The quota takes effect through the change feed.
  while ((await post('traces', body)) === 200) acceptedCount++;
  let rejected = 1;
  for (; rejected < 6; rejected++) t.is(await post('traces', body), 429);

  await eventually(
    'what was rejected is reported',
    async () => (await usage()).signals.traces.rejected.requests === rejected,
  );
  await restarted();
  t.is(await post('traces', body), 429, 'the quota stays exhausted after a restart');
  t.is(await post('metrics', new Uint8Array(0)), 200);
  t.is(await post('logs', garbage, 'no key'), 401);
  await eventually('everything is counted', async () => {
    const { pending, signals } = await usage();
    return pending.messages.value === 0 && signals.traces.rejected.requests === rejected + 1;
  });

  const { signals, total } = await usage();
  const states = await read<{ states: { scope: string; state: string }[] }>(oiq.http, '/api/usage/quotas', token);
  t.like(states.states[0], { scope: 'traces', state: acceptedCount * body.length >= limit ? 'rejecting' : 'warning' });
  t.is(await oiq.stop(), 0, oiq.output());
  const landed = await readBackEmbedded(dataDirectory, oracle.service);
  assertReadBack(t, oracle, landed);

  const { logs, metrics, traces } = signals;
  const sent = oracle.counts();
  const ofOracle = logs.accepted.records - goodMessages * 2 - 2 * poisonRecords;
  t.true(ofOracle >= sent.acknowledged && ofOracle <= sent.acknowledged + sent.unknown, `${ofOracle}`);
  t.is(
    ofOracle,
    [...landed.values()].reduce((sum, times) => sum + times, 0),
    'counts match the stored rows',
  );
  t.is(logs.landed.records, ofOracle + goodMessages * 2);
  t.deepEqual(logs.deadLettered, { requests: 2, records: 2 * poisonRecords, bytes: 2 * garbage.length });
  t.deepEqual(logs.refused, { requests: 8, records: 0, bytes: 8 * garbage.length });
  const sentJson = json.reduce((sum, { length }) => sum + length, 0);
  t.deepEqual(metrics.accepted, { requests: metrics.accepted.requests, records: 9_008, bytes: sentJson });
  t.deepEqual(metrics.landed, { records: 9_008, bytes: sentJson });
  for (const { accepted, landed, deadLettered } of Object.values(signals))
    t.is(accepted.bytes, landed.bytes + deadLettered.bytes, 'to the byte');
  t.deepEqual(traces.accepted, {
    requests: acceptedCount,
    records: acceptedCount * 10,
    bytes: acceptedCount * body.length,
  });
  t.true(traces.accepted.bytes <= limit && traces.accepted.bytes > limit - 3 * body.length, `${traces.accepted.bytes}`);
  t.deepEqual(traces.rejectedBy, [
    { reason: 'quota', requests: rejected + 1, records: (rejected + 1) * 10, bytes: (rejected + 1) * body.length },
  ]);
  t.is(total.accepted.records + total.replayed.records, total.landed.records + total.deadLettered.records);
  t.is(total.accepted.bytes, total.landed.bytes + total.deadLettered.bytes);
});
