/** Long texts are parsed in a worker thread, with the same result and without blocking the main thread. */
import '../../subjects/query-kinds.ts';
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import test from 'ava';
import { zipSync } from 'fflate';
import type { WorkerRequester } from '../../queries/worker.ts';
import { readAlertmanager, readAlertmanagerInWorker } from '../../subjects/alerts/routing/alertmanager.ts';
import { readRuleFile, readRuleFileInWorker } from '../../subjects/alerts/rule-file.ts';
import { readArchive, readArchiveInWorker } from '../../subjects/detections/archive.ts';
import { readRules, readRulesInWorker } from '../../subjects/detections/read.ts';
import {
  readDocument,
  readDocumentInWorker,
  readPage,
  readPageInWorker,
} from '../../subjects/threat-intel/read-document.ts';
import { measureCpuMs, measureLongestIterationMs } from '../cpu-time.ts';

const reader: WorkerRequester = { tenantId: 'a' };
const repeated = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

const routing = `route: { receiver: a0 }\nreceivers:\n${repeated(500, (index) => `  - name: a${index}\n    webhook_configs: [{ url: 'https://a.example' }]\n`)}`;
const rules = `groups:\n- name: a\n  rules:\n${repeated(500, (index) => `  - { alert: a${index}, expr: "sum by (job) (up{a=~\\"b.*\\"}) == ${index}", for: 5m }\n`)}`;
const detections = `${repeated(2, (index) => `title: a${index}\nid: 4be0643f-1d98-473b-97d4-1a1e5c2a9f6${index}\nlogsource: { product: linux }\ndetection:\n  a:\n    b|contains:\n${repeated(1_000, (value) => `      - 'v${value}*'\n`)}  condition: a\n---\n`)}title: wrong\n`;

const indicators = `type,value,score\n${repeated(1_000, (index) => `domain,a${index}.example,${index % 100}\nnothing,${index}\n`)}`;

/** Texts of 100,000 characters, which take 0.2 to 0.7 seconds to parse. */
const [slowYaml, slowLines] = ['"'.repeat(100_000), repeated(10_000, (index) => `k${index}: 1\n`)];

const bundled = (count: number): string =>
  repeated(
    count,
    (index) => `{"type":"indicator","id":"indicator--${index}","pattern":"[domain-name:value = 'a${index}.example']"},`,
  ).slice(0, -1);

const reads = [
  {
    what: 'a configuration file of Alertmanager',
    text: routing,
    slow: slowYaml,
    atOnce: (text: string): unknown => readAlertmanager(text),
    inWorker: (text: string): Promise<unknown> => readAlertmanagerInWorker(reader, text),
  },
  {
    what: 'a rule file of Prometheus',
    text: rules,
    slow: slowYaml,
    atOnce: (text: string): unknown => readRuleFile(text, 'a.yaml'),
    inWorker: (text: string): Promise<unknown> => readRuleFileInWorker(reader, text, 'a.yaml'),
  },
  {
    what: 'Sigma rules',
    text: detections,
    slow: slowYaml,
    atOnce: (text: string): unknown => readRules(text),
    inWorker: async (text: string): Promise<unknown> => (await readRulesInWorker(reader, [text]))[0],
  },
  {
    what: 'indicators as CSV',
    text: indicators,
    slow: slowLines,
    atOnce: (text: string): unknown => readDocument('csv', text, { confidence: 50, max: 5_000 }),
    inWorker: (text: string): Promise<unknown> =>
      readDocumentInWorker(reader, 'csv', text, { confidence: 50, max: 5_000 }),
  },
  {
    what: 'a page of TAXII',
    text: `{"more":true,"next":"b","objects":[${bundled(1_000)}]}`,
    slow: `{"objects":[${bundled(30_000)}]}`,
    atOnce: (text: string): unknown => readPage(text, { max: 100 }),
    inWorker: (text: string): Promise<unknown> => readPageInWorker(reader, text, { max: 100 }),
  },
] as const;

for (const { what, text, slow, atOnce, inWorker } of reads) {
  test.serial(`${what}: a long text is parsed in a thread with the same result as inline`, async (t) => {
    t.true(text.length > 16_384);
    t.deepEqual(await inWorker(text), atOnce(text));
  });

  test.serial(`${what}: a slow text takes almost no time on the main thread`, async (t) => {
    const mainThreadMs = [await measureCpuMs(() => inWorker(slow)), await measureCpuMs(() => inWorker(slow))];
    const atOnceMs = await measureCpuMs(() => atOnce(slow));
    t.true(Math.min(...mainThreadMs) < atOnceMs / 5, `${mainThreadMs} ms beside ${atOnceMs} ms`);
  });
}

test.serial('an archive is unpacked in a thread with the same result or error as inline', async (t) => {
  const files = { 'a.yml': randomBytes(20_000), 'b.yml': new Uint8Array(40 * 1024 * 1024) };
  const archive = zipSync(files);
  t.deepEqual(await readArchiveInWorker(reader, archive), readArchive(archive));
  const bomb = zipSync({ ...files, 'c.yml': new Uint8Array(40 * 1024 * 1024) });
  t.deepEqual(await readArchiveInWorker(reader, bomb), {
    problem: 'the archive decompresses to more than 67108864 bytes',
  });
  const mainThreadMs = [
    await measureCpuMs(() => readArchiveInWorker(reader, bomb)),
    await measureCpuMs(() => readArchiveInWorker(reader, bomb)),
  ];
  const atOnceMs = await measureCpuMs(() => readArchive(bomb));
  t.true(Math.min(...mainThreadMs) < atOnceMs / 5, `${mainThreadMs} ms beside ${atOnceMs} ms`);
});

test.serial('a request that ends cancels its parsing, and the next text is parsed', async (t) => {
  const left = new Error('the client left');
  const client = new AbortController();
  const parsing = readAlertmanagerInWorker({ ...reader, signal: client.signal }, '- a\n'.repeat(250_000));
  setTimeout(() => client.abort(left), 1);
  t.is(await t.throwsAsync(parsing), left);
  t.deepEqual(await readAlertmanagerInWorker(reader, routing), readAlertmanager(routing));
});

test.serial('bytes that share their memory with others are copied to the thread', async (t) => {
  // Node allocates buffers of this length from its pool.
  const bytes = Buffer.from(repeated(250, (index) => `a${index}.example\n`));
  t.true(bytes.buffer.byteLength > bytes.length);
  const read = await readDocumentInWorker(reader, 'list', bytes, { max: 1000 });
  t.deepEqual(read, readDocument('list', bytes, { max: 1000 }));
});

test.serial('many indicators are returned from the thread in parts, and the event loop runs in between', async (t) => {
  const text = repeated(100_500, (index) => `a${index}.example\n`);
  const max = 200_000;
  const atOnce = readDocument('list', text, { max });
  let read: unknown;
  const longestMs = await measureLongestIterationMs(async () => {
    read = await readDocumentInWorker(reader, 'list', new TextEncoder().encode(text), { max });
  });
  // For results of this size, the comparison of ava takes seconds.
  t.true(isDeepStrictEqual(read, atOnce));
  const message = serialize(atOnce);
  const inOneMs = Math.min(
    await measureCpuMs(() => deserialize(message)),
    await measureCpuMs(() => deserialize(message)),
  );
  t.true(longestMs < inOneMs / 2, `${longestMs} ms, where one message of all takes ${inOneMs} ms`);
});
