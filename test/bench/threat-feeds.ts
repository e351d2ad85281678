/**
 * The longest event loop iteration while a feed of indicators is read and stored: a list of domains and a bundle of
 * STIX 2.1 from a local server, with a search in stored records. CPU time of the main thread, so other load on the
 * machine does not count. Documents are discarded, as with a remote store; with `sqlite` they are stored, which takes
 * minutes for 100,000.
 *
 *     node bin/node.mjs test/bench/threat-feeds.ts [sqlite] [INDICATORS …]
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { openOutbound } from '../../runtime/outbound.ts';
import { createSecretBox, loadSecretKey } from '../../runtime/secret-box.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { ThreatFeed } from '../../schemas/resources/threat-intel.ts';
import { readFeed } from '../../subjects/threat-intel/read-feed.ts';
import { type WriteCounts, writeIndicators } from '../../subjects/threat-intel/write-indicators.ts';
import { type Row, table } from './report.ts';
import { scratch } from './scratch.ts';

const isStored = process.argv.includes('sqlite');
const sizes = process.argv
  .slice(2)
  .map(Number)
  .filter((size) => size > 0);
const tenantId = 'a';
const directory = scratch();
const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
const box = createSecretBox(await loadSecretKey({ SECRET_KEY: undefined, DATA_DIR: directory }));

/** CPU time of the longest event loop iteration until stopped, in milliseconds. */
const watchLoopIterations = (): (() => number) => {
  let longestUs = 0;
  let stopped = false;
  let before = process.threadCpuUsage();
  const note = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longestUs = Math.max(longestUs, user + system);
    before = process.threadCpuUsage();
  };
  const iterate = (): void => {
    note();
    if (!stopped) setImmediate(iterate);
  };
  setImmediate(iterate);
  return () => {
    note();
    stopped = true;
    return longestUs / 1000;
  };
};

const domainOf = (index: number): string => `host-${index}.of-a-campaign-${index % 97}.example`;
const texts = {
  list: (count: number) => Array.from({ length: count }, (_, index) => domainOf(index)).join('\n'),
  stix: (count: number) =>
    JSON.stringify({
      type: 'bundle',
      objects: Array.from({ length: count }, (_, index) => ({
        type: 'indicator',
        id: `indicator--${index}`,
        pattern_type: 'stix',
        name: `Campaign ${index % 97}`,
        pattern: `[domain-name:value = '${domainOf(index)}']`,
        valid_from: '2026-01-01T00:00:00Z',
      })),
    }),
} as const;

let served: Buffer = Buffer.alloc(0);
const server = createServer((_, response) => response.end(served)).listen(0, '127.0.0.1');
const port = await new Promise<number>((resolve) =>
  server.once('listening', () => resolve((server.address() as AddressInfo).port)),
);
const reader = {
  outbound: openOutbound({ allowedNetworks: ['127.0.0.0/8'] }),
  box,
  tenantId,
  signal: new AbortController().signal,
};
const dropping = ((_tenant: string) => ({
  collection: () => ({ list: async () => ({ items: [] }), insert: async (document: object) => document }),
})) as unknown as Documents['forTenant'];
const commit = async (work: (of: Documents['forTenant']) => Promise<WriteCounts>): Promise<WriteCounts> => {
  if (isStored) return documents.transaction(({ forTenant }) => work(forTenant));
  await yieldToEventLoop();
  return work(dropping);
};

const rows: Row[] = [];
for (const size of sizes.length > 0 ? sizes : [100_000, 250_000])
  for (const format of ['list', 'stix'] as const) {
    served = Buffer.from(texts[format](size));
    const feed: ThreatFeed = {
      name: `${format} ${size}`,
      description: '',
      enabled: true,
      everySeconds: 3600,
      confidence: 50,
      location: { type: 'url', url: `http://127.0.0.1:${port}/`, format },
      authentication: { type: 'none' },
      validDays: null,
      halfLifeDays: null,
      maxBytes: 500_000_000,
      maxIndicators: 1_000_000,
      raisesSignals: false,
      retroHuntDays: 7,
    };
    const nowMs = Date.now();
    const importOptions = {
      source: feed.name,
      nowMs,
      halfLifeDays: null,
      validDays: null,
      raisesSignals: false,
      huntFromMs: nowMs,
    };
    const place = { etag: null, lastModified: null, addedAfter: null };
    let stop = watchLoopIterations();
    for await (const { document } of readFeed(feed, place, reader)) {
      const readMs = stop();
      stop = watchLoopIterations();
      const { created } = await writeIndicators(commit, tenantId, document.indicators, importOptions);
      rows.push({
        format,
        indicators: created,
        'reading: longest turn, CPU-ms': readMs,
        'writing: longest turn, CPU-ms': stop(),
      });
    }
    stop();
  }
process.stdout.write(`${table(rows)}\n`);
server.close();
await documents.close();
