/**
 * CPU and memory of matching log records with threat indicators: records of 600 bytes, of which one in a hundred
 * contains an indicator, decoded from the wire like in the processor, with a thousand indicators and with the given
 * number.
 *
 *     node --expose-gc test/bench/threat-matches.ts [INDICATORS]
 *
 * Memory is that of one thread: the blocks as documents, their bytes, and the table. The process holds the documents
 * once more.
 */

import { Task } from '../../processors/engine/task.ts';
import { threatMatches } from '../../processors/threat-intel/threat-matches.ts';
import { type IndicatorType, indicatorBlocks } from '../../schemas/resources/threat-intel.ts';
import { type BlockIndicator, encodeBlock } from '../../subjects/threat-intel/block.ts';
import { maxBlockEntries } from '../../subjects/threat-intel/merge-blocks.ts';
import { seeded } from '../cases/random.ts';
import { firstMs, otlpMessage } from '../cases/run-task.ts';
import { text } from '../cases/sink-tables.ts';

const indicatorCount = Number(process.argv[2] ?? 1_000_000);
const random = seeded(5);
const hex = (length: number): string => Array.from({ length }, () => random(16).toString(16)).join('');
const word = (length: number): string => Array.from({ length }, () => String.fromCharCode(97 + random(26))).join('');

/** As in real feeds: addresses, domains, URLs and hashes, and some networks. */
const created: readonly (() => readonly [IndicatorType, string])[] = [
  () => ['ip', `203.${random(256)}.${random(256)}.${random(256)}`],
  () => ['domain', `${word(6 + random(10))}.${word(4 + random(8))}.example`],
  () => ['domain', `${word(8 + random(10))}.example`],
  () => ['url', `http://${word(8)}.example/${word(6)}/${hex(12)}`],
  () => ['sha256', hex(64)],
  () => ['sha256', hex(64)],
  () => ['md5', hex(32)],
  () => (random(50) === 0 ? ['network', `198.${random(256)}.${random(256)}.0/24`] : ['sha1', hex(40)]),
];
const indicators = Array.from({ length: indicatorCount }, (): BlockIndicator => {
  const [type, value] = (created[random(created.length)] as (typeof created)[number])();
  return {
    type,
    value,
    source: `feed ${random(8)}`,
    confidence: random(101),
    validFrom: null,
    validUntil: null,
    isRevoked: false,
    seenAt: new Date(firstMs).toISOString(),
    halfLifeDays: null,
    raisesSignals: false,
  };
});

const images = ['chrome.exe', 'svchost.exe', 'agent.exe', 'git.exe'].map(
  (name) => `C:\\Program Files\\Contoso\\${name}`,
);
const image = (): string => images[random(images.length)] as string;
const shapes: readonly (() => object)[] = [
  () => ({
    EventID: 1,
    Image: image(),
    CommandLine: `"${image()}" --type=renderer --handle=${hex(12)}`,
    ParentImage: image(),
    Hashes: `SHA256=${hex(64)},MD5=${hex(32)}`,
  }),
  () => ({
    EventID: 3,
    Image: image(),
    SourceIp: `10.1.${random(256)}.${random(256)}`,
    DestinationIp: `192.0.2.${random(256)}`,
    DestinationHostname: `host${random(99)}.contoso.test`,
  }),
  () => ({ EventID: 22, Image: image(), QueryName: `www.${word(8)}.contoso.test`, QueryResults: '::ffff:192.0.2.7;' }),
  () => ({
    http: { request: { method: 'GET' } },
    url: { full: `https://shop.contoso.test/${word(8)}?id=${random(999)}` },
    client: { address: `10.2.${random(256)}.${random(256)}` },
  }),
];
const padded = (event: object): string => {
  const written = JSON.stringify({ Channel: 'Operational', Computer: `ws-${random(500)}.contoso.test`, ...event });
  return JSON.stringify({ ...JSON.parse(written), Note: 'x'.repeat(Math.max(0, 588 - written.length)) });
};
const lines = [
  () => `Accepted publickey for ann from 10.1.2.${random(256)} port ${random(60_000)} ssh2: RSA SHA256:${hex(40)} `,
  () =>
    `10.0.0.${random(256)} - - "GET /${word(9)}/${word(5)}.js HTTP/1.1" 200 ${random(9999)} "https://shop.contoso.test/" `,
];
const quiet = (at: number): string =>
  at % 4 === 3
    ? ((lines[random(lines.length)] as () => string)() + word(40)).padEnd(600, ` ${word(7)}`)
    : padded((shapes[random(shapes.length)] as () => object)());
const named = indicators.find(({ type }) => type === 'domain')?.value;
const hit = (): string => padded({ EventID: 3, Image: image(), DestinationHostname: named });

const perMessage = 100;
const messages = Array.from({ length: 300 }, (_, offset) => ({
  ...otlpMessage('logs', {
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', 'agent'), text('host.name', `ws-${random(500)}`)] },
        scopeLogs: [
          {
            logRecords: Array.from({ length: perMessage }, (_each, at) => ({
              timeUnixNano: `${firstMs}000000`,
              body: { stringValue: at === 50 ? hit() : quiet(at) },
            })),
          },
        ],
      },
    ],
  }),
  key: '',
  offset,
  timestampMs: firstMs,
}));
const records = messages.length * perMessage;

const cpuMs = (work: () => void): number => {
  const { user, system } = process.cpuUsage();
  work();
  const spent = process.cpuUsage({ user, system });
  return (spent.user + spent.system) / 1_000;
};
const memory = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
};

console.log(
  `${records} records of ${Math.round(messages.reduce((sum, { value }) => sum + value.length, 0) / records)} bytes`,
);
console.log('| indicators | made ready, ms | records/s | µs a record | memory, MB | matches |');
console.log('| --- | --- | --- | --- | --- | --- |');
for (const count of [1_000, indicatorCount]) {
  const before = memory();
  const task = new Task(threatMatches, { topic: 'otlp.logs', partition: 0, emitter: 'bench' });
  for (let from = 0; from < count; from += maxBlockEntries) {
    const part = indicators.slice(from, Math.min(count, from + maxBlockEntries));
    const block = JSON.parse(JSON.stringify(encodeBlock(part, 1))) as ReturnType<typeof encodeBlock>;
    const at = new Date(firstMs).toISOString();
    const stored = { id: String(from), version: 1, createdAt: at, updatedAt: at };
    task.applyChange(indicatorBlocks.name, 'acme', stored.id, { ...block, ...stored });
  }
  const [first, ...others] = messages;
  if (first === undefined) throw new Error('there are messages');
  let matches = 0;
  let offset = 0;
  const handleMessage = (message: typeof first): void => {
    matches += task.batch([{ ...message, offset: offset++ }]).messages.length;
  };
  const readyMs = cpuMs(() => handleMessage(first));
  const used = memory() - before;
  for (const message of others) handleMessage(message);
  const round = matches;
  const minMs = Math.min(
    ...Array.from({ length: 5 }, () =>
      cpuMs(() => {
        for (const message of messages) handleMessage(message);
      }),
    ),
  );
  console.log(
    `| ${count} | ${readyMs.toFixed(0)} | ${Math.round((records * 1_000) / minMs)} | ${((minMs * 1_000) / records).toFixed(1)} | ${used.toFixed(0)} | ${round} |`,
  );
}
console.log(`RSS ${Math.round(process.memoryUsage().rss / 1e6)} MB, with the indicators and records of this program`);
