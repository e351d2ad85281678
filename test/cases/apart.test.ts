/** Long texts are read in a thread: with the same result, and while the main thread goes on. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import test from 'ava';
import { zipSync } from 'fflate';
import type { Reader } from '../../queries/apart.ts';
import { threadMs } from '../../runtime/thread-time.ts';
import { readAlertmanager, readAlertmanagerApart } from '../../subjects/alerts/routing/alertmanager.ts';
import { readRuleFile, readRuleFileApart } from '../../subjects/alerts/rule-file.ts';
import { readArchive, readArchiveApart } from '../../subjects/detections/archive.ts';
import { readRules, readRulesApart } from '../../subjects/detections/read.ts';
import { readDocument, readDocumentApart, readPage, readPageApart } from '../../subjects/threat-intel/read-document.ts';
import { cpuMsOf } from '../processor-time.ts';

const reader: Reader = { tenantId: 'a' };
const repeated = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

const routing = `route: { receiver: a0 }\nreceivers:\n${repeated(500, (index) => `  - name: a${index}\n    webhook_configs: [{ url: 'https://a.example' }]\n`)}`;
const rules = `groups:\n- name: a\n  rules:\n${repeated(500, (index) => `  - { alert: a${index}, expr: "sum by (job) (up{a=~\\"b.*\\"}) == ${index}", for: 5m }\n`)}`;
const detections = `${repeated(2, (index) => `title: a${index}\nid: 4be0643f-1d98-473b-97d4-1a1e5c2a9f6${index}\nlogsource: { product: linux }\ndetection:\n  a:\n    b|contains:\n${repeated(1_000, (value) => `      - 'v${value}*'\n`)}  condition: a\n---\n`)}title: wrong\n`;

const indicators = `type,value,score\n${repeated(1_000, (index) => `domain,a${index}.example,${index % 100}\nnothing,${index}\n`)}`;

/** Of 100,000 characters, which the readers take 0.2 to 0.7 seconds for. */
const [slowYaml, slowLines] = ['"'.repeat(100_000), repeated(10_000, (index) => `k${index}: 1\n`)];

const bundled = (count: number): string =>
  repeated(
    count,
    (index) => `{"type":"indicator","id":"indicator--${index}","pattern":"[domain-name:value = 'a${index}.example']"},`,
  ).slice(0, -1);

const reads = [
  {
    what: 'a configuration file of Alertmanager',
    ...{ text: routing, slow: slowYaml },
    atOnce: (text: string): unknown => readAlertmanager(text),
    apart: (text: string): Promise<unknown> => readAlertmanagerApart(reader, text),
  },
  {
    what: 'a rule file of Prometheus',
    ...{ text: rules, slow: slowYaml },
    atOnce: (text: string): unknown => readRuleFile(text, 'a.yaml'),
    apart: (text: string): Promise<unknown> => readRuleFileApart(reader, text, 'a.yaml'),
  },
  {
    what: 'Sigma rules',
    ...{ text: detections, slow: slowYaml },
    atOnce: (text: string): unknown => readRules(text),
    apart: async (text: string): Promise<unknown> => (await readRulesApart(reader, [text]))[0],
  },
  {
    what: 'indicators as CSV',
    ...{ text: indicators, slow: slowLines },
    atOnce: (text: string): unknown => readDocument('csv', text, { confidence: 50, most: 5_000 }),
    apart: (text: string): Promise<unknown> => readDocumentApart(reader, 'csv', text, { confidence: 50, most: 5_000 }),
  },
  {
    what: 'a page of TAXII',
    text: `{"more":true,"next":"b","objects":[${bundled(1_000)}]}`,
    slow: `{"objects":[${bundled(30_000)}]}`,
    atOnce: (text: string): unknown => readPage(text, { most: 100 }),
    apart: (text: string): Promise<unknown> => readPageApart(reader, text, { most: 100 }),
  },
] as const;

for (const { what, text, slow, atOnce, apart } of reads) {
  test.serial(`${what}: a long text is read in a thread as it is read at once`, async (t) => {
    t.true(text.length > 16_384);
    t.deepEqual(await apart(text), atOnce(text));
  });

  test.serial(`${what}: a text that takes long takes next to nothing from the main thread`, async (t) => {
    const beside = [await cpuMsOf(() => apart(slow)), await cpuMsOf(() => apart(slow))];
    const atOnceMs = await cpuMsOf(() => atOnce(slow));
    t.true(Math.min(...beside) < atOnceMs / 5, `${beside} ms beside ${atOnceMs} ms`);
  });
}

test.serial('an archive is unpacked in a thread as it is at once, and refused for the same reason', async (t) => {
  const files = { 'a.yml': randomBytes(20_000), 'b.yml': new Uint8Array(40 * 1024 * 1024) };
  const archive = zipSync(files);
  t.deepEqual(await readArchiveApart(reader, archive), readArchive(archive));
  const bomb = zipSync({ ...files, 'c.yml': new Uint8Array(40 * 1024 * 1024) });
  t.deepEqual(await readArchiveApart(reader, bomb), {
    problem: 'the archive unpacks to more than 67108864 bytes',
  });
  const beside = [
    await cpuMsOf(() => readArchiveApart(reader, bomb)),
    await cpuMsOf(() => readArchiveApart(reader, bomb)),
  ];
  const atOnceMs = await cpuMsOf(() => readArchive(bomb));
  t.true(Math.min(...beside) < atOnceMs / 5, `${beside} ms beside ${atOnceMs} ms`);
});

test.serial('a request that ends takes its reading with it, and the next one is read', async (t) => {
  const left = new Error('the client left');
  const client = new AbortController();
  const reading = readAlertmanagerApart({ ...reader, signal: client.signal }, '- a\n'.repeat(250_000));
  setTimeout(() => client.abort(left), 1);
  t.is(await t.throwsAsync(reading), left);
  t.deepEqual(await readAlertmanagerApart(reader, routing), readAlertmanager(routing));
});

test.serial('many indicators come out of the thread in parts, between which the loop turns', async (t) => {
  const text = repeated(100_500, (index) => `a${index}.example\n`);
  const most = 200_000;
  const atOnce = readDocument('list', text, { most });
  /** What the longest turn of the loop takes meanwhile; what is collected in it is no part of it, so the best of some. */
  const longestTurnMs = async (): Promise<number> => {
    const bytes = new TextEncoder().encode(text);
    let longestMs = 0;
    let before = threadMs();
    const turn = (): void => {
      const now = threadMs();
      longestMs = Math.max(longestMs, now - before);
      before = now;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const read = await readDocumentApart(reader, 'list', bytes, { most });
    clearImmediate(next);
    // Of so many ava's own comparison takes seconds.
    t.true(isDeepStrictEqual(read, atOnce));
    return longestMs;
  };
  const longestMs = Math.min(await longestTurnMs(), await longestTurnMs(), await longestTurnMs());
  const message = serialize(atOnce);
  const inOneMs = Math.min(await cpuMsOf(() => deserialize(message)), await cpuMsOf(() => deserialize(message)));
  t.true(longestMs < inOneMs / 2, `${longestMs} ms, where one message of all takes ${inOneMs} ms`);
});
