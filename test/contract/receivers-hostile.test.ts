/** Hostile bodies: none may crash a receiver, block its event loop, or grow its memory. */
import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import test from 'ava';
import { measureLongestIterationMs } from '../cpu-time.ts';
import { jsonRequest, nestedArrays, request } from './receivers-bodies.ts';
import { manyRequests, running } from './receivers-fixture.ts';

const mebibyte = 1024 * 1024;
const protobuf = { 'content-type': 'application/x-protobuf' };
const json = { 'content-type': 'application/json' };
const gzip = { ...protobuf, 'content-encoding': 'gzip' };

/** Sends from another thread, so that only the receiver's work is measured here. Returns the status. */
const postFromWorker = (url: string, headers: Record<string, string>, body: Uint8Array): Promise<number> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(
      `const { workerData, parentPort } = require('node:worker_threads');
       const { request } = require('node:http');
       const { url, headers, body } = workerData;
       const sent = request(url, { method: 'POST', headers: 'transfer-encoding' in headers ? headers : { ...headers, 'content-length': body.length } }, (response) => {
         response.resume();
         parentPort.postMessage(response.statusCode);
       });
       sent.on('error', () => parentPort.postMessage(0));
       sent.end(body);`,
      { eval: true, workerData: { url, headers, body } },
    );
    worker.once('message', (status: number) => {
      resolve(status);
      void worker.terminate();
    });
    worker.once('error', reject);
  });

/** Unknown groups in unknown groups, which overflow the stack of recursive parsers. */
const nestedGroups = (depth: number): Buffer =>
  Buffer.concat([Buffer.alloc(depth, (100 << 3) | 3), Buffer.alloc(depth, (100 << 3) | 4)]);
const nestedJson = (depth: number): string =>
  `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${'{"arrayValue":{"values":['.repeat(depth)}{"stringValue":"x"}${']}}'.repeat(depth)}}]}]}]}`;
const records = (bytes: number): Buffer => {
  const one = request('logs', 2_000, 'y'.repeat(400));
  return Buffer.concat(Array.from({ length: Math.floor(bytes / one.length) }, () => one));
};

const bodies: readonly [string, number, Record<string, string>, () => Uint8Array][] = [
  ['values 32 deep', 200, protobuf, () => nestedArrays(31)],
  ['values 50 deep', 400, protobuf, () => nestedArrays(50)],
  ['values 10,000 deep', 400, protobuf, () => nestedArrays(10_000)],
  ['21,000 unknown groups', 400, protobuf, () => nestedGroups(21_000)],
  ['JSON values 10,000 deep', 400, json, () => Buffer.from(nestedJson(10_000))],
  ['JSON arrays 20,000 deep', 400, json, () => Buffer.from(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)],
  ['256 MiB in 260 KB of gzip', 413, gzip, () => gzipSync(Buffer.alloc(256 * mebibyte, 120))],
  [
    '256 MiB in a few KB of zstd',
    413,
    { ...gzip, 'content-encoding': 'zstd' },
    () => zstdCompressSync(Buffer.alloc(256 * mebibyte)),
  ],
  ['49 MiB of records', 200, protobuf, () => records(49 * mebibyte)],
  ['49 MiB of records as gzip', 200, gzip, () => gzipSync(records(49 * mebibyte), { level: 1 })],
  ['49 MiB of rubbish', 400, protobuf, () => randomBytes(49 * mebibyte)],
  ['30 MiB of JSON', 200, json, () => Buffer.from(jsonRequest('logs', 30_000, 'z'.repeat(900)))],
  ['49 MiB of JSON string that does not end', 400, json, () => Buffer.alloc(49 * mebibyte, '{"resourceLogs":"')],
  ['49 MiB of JSON brackets', 400, json, () => Buffer.alloc(49 * mebibyte, '[')],
];

for (const [name, status, headers, make] of bodies) {
  test.serial(`${name}: returns ${status}, and no iteration of the event loop takes 100 ms`, async (t) => {
    await using fixture = await running({ plan: manyRequests });
    fixture.bus.storesMessages = false;
    const body = make();
    const url = `${fixture.http}/v1/logs`;
    await postFromWorker(url, { ...protobuf, 'x-license-key': fixture.secret }, request('logs'));
    const minMs = await measureLongestIterationMs(async () => {
      t.is(await postFromWorker(url, { ...headers, 'x-license-key': fixture.secret }, body), status);
    }, 100);
    t.true(minMs < 100, `${minMs.toFixed(0)} ms`);
    t.log(`${minMs.toFixed(0)} ms`);
  });
}

/** Size of the largest `Buffer` that this thread concatenates while `work` runs. */
const largestJoin = async (work: () => Promise<unknown>): Promise<number> => {
  const { concat } = Buffer;
  let largest = 0;
  Buffer.concat = (parts, length) => {
    const joined = concat(parts, length);
    largest = Math.max(largest, joined.length);
    return joined;
  };
  await work().finally(() => {
    Buffer.concat = concat;
  });
  return largest;
};

const plainBodies: readonly [string, number, Record<string, string>, Buffer][] = [
  ['spaces as JSON', 400, json, Buffer.alloc(49 * mebibyte, ' ')],
  ['zeros as protobuf', 400, protobuf, Buffer.alloc(49 * mebibyte)],
  ['empty parts', 200, protobuf, Buffer.alloc(49 * mebibyte, Buffer.from([0x0a, 0]))],
];

for (const [name, status, headers, body] of plainBodies)
  test.serial(`49 MiB of ${name} are never copied in one step`, async (t) => {
    await using fixture = await running({ plan: manyRequests });
    fixture.bus.storesMessages = false;
    const largest = await largestJoin(async () => {
      t.is(
        await postFromWorker(`${fixture.http}/v1/logs`, { ...headers, 'x-license-key': fixture.secret }, body),
        status,
      );
    });
    t.true(largest < mebibyte, `${largest} bytes`);
  });

test.serial(
  'a body above the size limit, of unknown length, is stored up to the limit and never copied in one step',
  async (t) => {
    await using fixture = await running({ plan: manyRequests });
    const headers = { ...protobuf, 'x-license-key': fixture.secret, 'transfer-encoding': 'chunked' };
    const largest = await largestJoin(async () => {
      t.is(await postFromWorker(`${fixture.http}/v1/logs`, headers, Buffer.alloc(51 * mebibyte)), 413);
    });
    t.true(largest < mebibyte, `${largest} bytes`);
    const messageSizes = fixture.bus.messages.map(({ value }) => value.length);
    t.is(
      messageSizes.reduce((sum, length) => sum + length, 0),
      50 * mebibyte,
    );
  },
);

test.serial('many large concurrent bodies do not grow memory beyond a limit', async (t) => {
  await using fixture = await running({ plan: manyRequests });
  fixture.bus.storesMessages = false;
  const body = gzipSync(Buffer.alloc(256 * mebibyte, 120));
  const before = process.memoryUsage().rss;
  const headers = { ...gzip, 'x-license-key': fixture.secret };
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  const url = `${fixture.http}/v1/logs`;
  const responses = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const response = await fetch(url, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  clearInterval(timer);
  t.deepEqual(new Set(responses), new Set([413]));
  const grown = (peak - before) / mebibyte;
  t.log(`${grown.toFixed(0)} MiB`);
  t.true(grown < 400, `${grown.toFixed(0)} MiB`);
});
