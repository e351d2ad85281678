/**
 * Possible stores of processor snapshots: 50 MB in 12 partitions, saved five times with changes, then loaded by a new
 * client. Servers are separate instances. Figures are for one save and one load of everything.
 *
 *     node bin/node.mjs test/bench/states.ts [documents-sqlite | files | …]
 */
import '../../subjects/query-kinds.ts';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openMongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { collections } from '../../api/collections.ts';
import { openStates } from '../../runtime/states.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { ServiceName } from '../services/definition.ts';
import { freePorts } from '../services/ports.ts';
import { type Instance, startService } from '../services/services.ts';
import { cpuSeconds } from './process-cost.ts';
import { type Row, table } from './report.ts';
import { scratch } from './scratch.ts';
import { blobs, clickhouseTable, compactedTopics, files, type StateStore } from './state-stores.ts';

const partitions = 12;
const rounds = 5;
const keys = Array.from({ length: partitions }, (_, index) => `processors.log-patterns/otlp.logs/${index}`);

/** Seeded, so that every store gets the same bytes. */
const numbersFrom = (seed: number) => {
  let state = seed * 2_654_435_761 + 1;
  return (): number => {
    state = (Math.imul(state >>> 0, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const words = 'completed failed order user retry with status from upstream cache timeout payment region attempt'.split(
  ' ',
);

/** The state of a pattern processor (3 MB of JSON) and of statistics (1.2 MB of numbers). A tenth changes per round. */
const stateOf = (partition: number, round: number): Buffer => {
  const entries: string[] = [];
  for (let index = 0, length = 0; length < 3_000_000; index++) {
    const next = numbersFrom(partition * 1_000_003 + index + (index % 10 === 0 ? round * 7_919 : 0));
    const hex = (digits: number): string =>
      Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join('');
    const template = Array.from({ length: 12 }, () =>
      next() < 0.3 ? '<*>' : `${words[Math.floor(next() * words.length)]}`,
    ).join(' ');
    const entry = JSON.stringify({
      id: hex(16),
      service: `service-${Math.floor(next() * 40)}`,
      template,
      count: Math.floor(next() * 1e6),
      firstSeen: 1.7e12 + Math.floor(next() * 1e9),
      lastSeen: 1.7e12 + Math.floor(next() * 1e9),
      example: `${template} ${hex(24)}`,
    });
    entries.push(entry);
    length += entry.length + 1;
  }
  const next = numbersFrom(partition + 77 + round);
  const numbers = Float64Array.from({ length: 150_000 }, () => Math.round(next() * 1e6) / 100);
  return Buffer.concat([Buffer.from(`[${entries.join(',')}]`), Buffer.from(numbers.buffer)]);
};

const overDocuments = async (documents: Documents): Promise<StateStore> => {
  await documents.ensureCollections(collections);
  const states = openStates({ documents, clock: systemClock });
  const numbers = new Map<string, number>();
  return {
    async save(key, bytes) {
      numbers.set(key, await states.save(key, bytes, numbers.get(key)));
    },
    load: async (key) => (await states.load(key))?.bytes ?? new Uint8Array(),
    close: () => documents.close(),
  };
};

interface Place {
  readonly what: string;
  readonly canCompare: string;
  readonly service?: ServiceName;
  open(directory: string, url: string): Promise<StateStore>;
}

const addressOf = (url: string): string => url.replace(/^\w+:\/\//, '').replace(/\/.*$/, '');

const places: Readonly<Record<string, Place>> = {
  'documents-sqlite': {
    what: 'documents in SQLite',
    canCompare: 'yes',
    open: async (directory) => overDocuments(await openSqliteDocuments({ path: join(directory, 'documents.sqlite') })),
  },
  blobs: { what: 'blobs in SQLite', canCompare: 'yes', open: blobs },
  files: { what: 'files', canCompare: 'within one process', open: files },
  'documents-mongodb': {
    what: 'documents in MongoDB',
    canCompare: 'yes',
    service: 'mongodb',
    open: async (_, url) => overDocuments(await openMongoDocuments({ url })),
  },
  clickhouse: {
    what: 'a ClickHouse table',
    canCompare: 'no',
    service: 'clickhouse',
    open: (_, url) => clickhouseTable(url),
  },
  topics: {
    what: 'compacted topics',
    canCompare: 'fences older writers',
    service: 'kafka',
    open: (_, url) => compactedTopics(addressOf(url), keys),
  },
};

const sizeOf = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0);

/** Bytes that a process has written to disks. */
const writtenBy = (pid: number | 'self'): number =>
  Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);

const mebibyte = 1024 ** 2;

const measured = async (server: Instance | undefined, times: number, work: () => Promise<void>) => {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const written = (): number => writtenBy('self') + (server === undefined ? 0 : writtenBy(server.pid));
  const before = { cpu: process.cpuUsage(), server: server && cpuSeconds(server.pid), written: written() };
  delay.enable();
  const started = performance.now();
  await work();
  const elapsedMs = performance.now() - started;
  delay.disable();
  const { user, system } = process.cpuUsage(before.cpu);
  return {
    s: elapsedMs / 1_000 / times,
    'CPU-s': (user + system) / 1e6 / times,
    'CPU-s of the server': server === undefined ? '' : (cpuSeconds(server.pid) - (before.server ?? 0)) / times,
    'loop held ms': delay.max / 1e6,
    'MiB written': (written() - before.written) / mebibyte / times,
  };
};

const measure = async ({ what, canCompare, service, open }: Place): Promise<Row> => {
  const directory = scratch();
  const [port = 0] = await freePorts(1);
  const server = service && (await startService(service, { port, directory: join(directory, 'server') }));
  const url = server?.url ?? '';
  const states = Array.from({ length: rounds + 1 }, (_, round) => keys.map((_key, index) => stateOf(index, round)));
  const before = sizeOf(directory);
  let store = await open(directory, url);
  const save = async (round: number): Promise<void> => {
    for (const [index, key] of keys.entries()) await store.save(key, states[round]?.[index] ?? Buffer.of(), round);
  };
  await save(0);
  const saving = await measured(server, rounds, async () => {
    for (let round = 1; round <= rounds; round++) await save(round);
  });
  await store.close();
  const onDisk = sizeOf(directory) - before;
  if (server !== undefined) {
    await server.stop();
    await server.start();
  }
  store = await open(directory, url);
  const loading = await measured(server, 1, async () => {
    for (const [index, key] of keys.entries())
      if (Buffer.compare(await store.load(key), states[rounds]?.[index] ?? Buffer.of()) !== 0)
        throw new Error(`${what}: ${key} was not loaded as it was saved`);
  });
  await store.close();
  await server?.stop();
  return {
    place: what,
    'save: s': saving['s'],
    'CPU-s': saving['CPU-s'],
    'CPU-s of the server': saving['CPU-s of the server'],
    'loop held at most, ms': saving['loop held ms'],
    'MiB written': saving['MiB written'],
    'MiB on disk after six': onDisk / mebibyte,
    'load: s': loading['s'],
    'load: CPU-s': loading['CPU-s'],
    'load: loop held at most, ms': loading['loop held ms'],
    'compare-and-set': canCompare,
  };
};

const chosen = process.argv.slice(2);
const rows: Row[] = [];
for (const [name, place] of Object.entries(places)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  rows.push(await measure(place));
}
console.log(table(rows));
process.exit(0);
