/** Alternative stores for state snapshots, implemented just far enough to be compared with `runtime/states.ts`. */
import { mkdirSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { createClient } from '@clickhouse/client';
import kafkajs from 'kafkajs';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';

/** The measured operations of a store. */
export interface StateStore {
  save(key: string, bytes: Uint8Array, round: number): Promise<void>;
  load(key: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

const compressed = (bytes: Uint8Array): Promise<Buffer> =>
  promisify(zstdCompress)(bytes, {
    chunkSize: 1024 * 1024,
    params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
  });
const decompressed = (bytes: Uint8Array): Promise<Buffer> =>
  promisify(zstdDecompress)(bytes, { chunkSize: 4 * 1024 * 1024 });

/** Each snapshot is a file, written under a temporary name and renamed. */
export const files = async (directory: string): Promise<StateStore> => {
  mkdirSync(directory, { recursive: true });
  const pathOf = (key: string): string => join(directory, `${key.replaceAll('/', '.')}.state`);
  return {
    async save(key, bytes) {
      const file = await open(`${pathOf(key)}.new`, 'w');
      await file.write(await compressed(bytes));
      await file.sync();
      await file.close();
      await rename(`${pathOf(key)}.new`, pathOf(key));
      const folder = await open(directory);
      await folder.sync();
      await folder.close();
    },
    load: async (key) => decompressed(await readFile(pathOf(key))),
    close: async () => {},
  };
};

/** A separate SQLite table of blobs, one row per snapshot. */
export const blobs = async (directory: string): Promise<StateStore> => {
  mkdirSync(directory, { recursive: true });
  const database = new DatabaseSync(join(directory, 'states.sqlite'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec('CREATE TABLE IF NOT EXISTS states (key TEXT PRIMARY KEY, number INTEGER, bytes BLOB) WITHOUT ROWID');
  const put = database.prepare('INSERT OR REPLACE INTO states (key, number, bytes) VALUES (?, ?, ?)');
  const read = database.prepare('SELECT bytes FROM states WHERE key = ?');
  return {
    async save(key, bytes, round) {
      put.run(key, round, await compressed(bytes));
    },
    load: async (key) => decompressed(read.get(key)?.['bytes'] as Uint8Array),
    close: async () => database.close(),
  };
};

const pieceBytes = 768 * 1024;
const piecesOf = (bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
};

/** A ClickHouse table that retains the newest row of each key. */
export const clickhouseTable = async (url: string): Promise<StateStore> => {
  const client = createClient({ url });
  await client.command({
    query:
      'CREATE TABLE IF NOT EXISTS bench_states (key String, number UInt64, bytes String CODEC(NONE)) ENGINE = ReplacingMergeTree(number) ORDER BY key',
  });
  return {
    async save(key, bytes, round) {
      const body = await compressed(bytes);
      const number = Buffer.alloc(8);
      number.writeBigUInt64LE(BigInt(round));
      const name = Buffer.from(key);
      const row = Buffer.concat([varint(name.length), name, number, varint(body.length), body]);
      const { stream } = await client.exec({
        query: 'INSERT INTO bench_states FORMAT RowBinary',
        values: Readable.from([row]),
      });
      for await (const _ of stream);
    },
    async load(key) {
      const { stream } = await client.exec({
        query: 'SELECT bytes FROM bench_states WHERE key = {key:String} ORDER BY number DESC LIMIT 1 FORMAT RowBinary',
        query_params: { key },
      });
      const parts: Buffer[] = [];
      for await (const part of stream) parts.push(part as Buffer);
      const row = Buffer.concat(parts);
      let at = 0;
      while ((row[at] ?? 0) > 127) at++;
      return decompressed(row.subarray(at + 1));
    },
    close: () => client.close(),
  };
};

/** A compacted topic per key. The chunks of a snapshot are in one transaction, whose ID fences an older writer. */
export const compactedTopics = async (broker: string, keys: readonly string[]): Promise<StateStore> => {
  const topicOf = (key: string): string => `bench-states-${keys.indexOf(key)}`;
  const admin = new kafkajs.Kafka({ brokers: [broker], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const configEntries = [{ name: 'cleanup.policy', value: 'compact' }];
  await admin
    .createTopics({ topics: keys.map((key) => ({ topic: topicOf(key), numPartitions: 1, configEntries })) })
    .catch(() => false);
  await admin.disconnect();
  const bus = await openKafkaBus({ brokers: [broker], replication: 1 });
  const producer = await bus.producer();
  return {
    async save(key, bytes) {
      const pieces = piecesOf(await compressed(bytes));
      const topic = topicOf(key);
      await producer.transaction(topic, (publish) =>
        publish(pieces.map((value, index) => ({ topic, key: `${index}`, value, headers: { of: `${pieces.length}` } }))),
      );
    },
    async load(key) {
      const topic = topicOf(key);
      const [range] = await bus.offsets(topic);
      const pieces = new Map<string, Buffer>();
      let count = 0;
      for await (const message of bus.read(topic, 0, range?.earliest ?? 0, range?.end ?? 0)) {
        pieces.set(message.key, Buffer.from(message.value));
        count = Number(message.headers['of']);
      }
      const parts = Array.from({ length: count }, (_, index) => pieces.get(`${index}`) ?? Buffer.of());
      return decompressed(Buffer.concat(parts));
    },
    async close() {
      await producer.close();
      await bus.close();
    },
  };
};
