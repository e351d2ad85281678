/** Receivers on the embedded bus: records of requests with 200 are read back from the log. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { decompress } from '../../schemas/compression.ts';
import { decodeDeadLetter } from '../../schemas/dead-letter.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { decodeHeaders } from '../../schemas/telemetry-message.ts';
import { allTopics, topics } from '../../schemas/topics.ts';
import { request } from '../contract/receivers-bodies.ts';
import { manyRequests, running } from '../contract/receivers-fixture.ts';

test('every acknowledged record is in the log once, including large requests, and refused bodies are in the dead letter queue', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'oiq-receivers-bus-'));
  const bus = await openSegmentsBus({ directory });
  await bus.ensureTopics(allTopics);
  {
    await using fixture = await running({ bus, plan: manyRequests });
    const send = async (body: Buffer, headers: Record<string, string> = {}): Promise<number> => {
      const response = await fetch(`${fixture.http}/v1/logs`, {
        method: 'POST',
        headers: { 'x-license-key': fixture.secret, 'content-type': 'application/x-protobuf', ...headers },
        body: body as Uint8Array<ArrayBuffer>,
      });
      await response.arrayBuffer();
      return response.status;
    };
    const small = Array.from({ length: 100 }, () => send(request('logs', 7)));
    const zipped = Array.from({ length: 20 }, () => send(gzipSync(request('logs', 5)), { 'content-encoding': 'gzip' }));
    const large = send(request('logs', 10_000, 'w'.repeat(900)));
    t.deepEqual(new Set(await Promise.all([...small, ...zipped, large])), new Set([200]));
    t.is(await send(Buffer.from('nothing of ours')), 400);
  }
  let records = 0;
  for (const { partition, earliest, end } of await bus.offsets(topics.logs.name)) {
    for await (const { headers: encoded, value } of bus.read(topics.logs.name, partition, earliest, end)) {
      const { encoding, members } = decodeHeaders(encoded);
      let at = 0;
      for (const { length, size } of members) {
        const plain = decompress(encoding, value.subarray(at, at + length), 1e8);
        t.is(plain.length, size);
        records += scanRequest('logs', plain).records;
        at += length;
      }
      t.is(at, value.length);
    }
  }
  t.is(records, 100 * 7 + 20 * 5 + 10_000);
  const [place] = await bus.offsets(topics.deadLetter.name);
  for await (const { headers, value } of bus.read(topics.deadLetter.name, 0, place?.earliest ?? 0, place?.end ?? 0)) {
    t.is(decodeDeadLetter(headers).kind, 'refused');
    t.is(value.toString(), 'nothing of ours');
  }
  t.is(place?.end, 1);
  await bus.close();
  await rm(directory, { recursive: true, force: true });
});
