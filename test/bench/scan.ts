/**
 * CPU time of the admission of one record: checking wire bytes, translating OTLP/JSON, decompressing, splitting.
 *
 *     node bin/node.mjs test/bench/scan.ts
 */
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { compressSnappy, decompress } from '../../schemas/compression.ts';
import { convertJsonRequest } from '../../schemas/otlp/json.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { splitRequest } from '../../schemas/otlp/split.ts';
import { scanWriteRequest } from '../../schemas/prometheus/scan.ts';
import { requestTypes } from '../cases/proto/load.ts';
import { logsPayload, remoteWritePayload } from './payloads.ts';

const cap = 50_000_000;
const options = { seed: 1, records: 500, nowMs: 1_700_000_000_000 };
const logs = logsPayload(options);
const write = decompress('snappy', remoteWritePayload({ ...options, records: 1000 }), cap);

/** The body as OTLP/JSON: IDs in hexadecimal, 64-bit integers as strings, enums as integers. */
const json = ((): Buffer => {
  const type = requestTypes.logs;
  const hex = (key: string, value: unknown): unknown =>
    key === 'traceId' || key === 'spanId' ? Buffer.from(value as string, 'base64').toString('hex') : value;
  return Buffer.from(JSON.stringify(type.toObject(type.decode(logs), { longs: String, bytes: String }), hex));
})();

const packed = { gzip: gzipSync(logs), zstd: zstdCompressSync(logs), snappy: compressSnappy(logs) };

/** CPU-microseconds per record: the minimum of five rounds, because other load only adds time. */
const cost = (records: number, work: () => void): number => {
  const repetitions = 100;
  let min = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6; round++) {
    const start = process.cpuUsage();
    for (let index = 0; index < repetitions; index++) work();
    const { user, system } = process.cpuUsage(start);
    if (round > 0) min = Math.min(min, (user + system) / repetitions / records);
  }
  return min;
};

const rows: readonly (readonly [string, number, number, () => void])[] = [
  ['scanRequest, logs', logs.length, 500, () => scanRequest('logs', logs)],
  ['protobufjs decode, logs (for comparison)', logs.length, 500, () => requestTypes.logs.decode(logs)],
  ['requestFromJson, logs', json.length, 500, () => convertJsonRequest('logs', json)],
  ['JSON.parse alone (for comparison)', json.length, 500, () => JSON.parse(json.toString())],
  ['splitRequest into 64 KiB, logs', logs.length, 500, () => splitRequest('logs', logs, 65_536)],
  ['decompress gzip, logs', packed.gzip.length, 500, () => decompress('gzip', packed.gzip, cap)],
  ['decompress zstd, logs', packed.zstd.length, 500, () => decompress('zstd', packed.zstd, cap)],
  ['scanWriteRequest 2.0', write.length, 1000, () => scanWriteRequest(2, write)],
  ['decompress snappy, logs', packed.snappy.length, 500, () => decompress('snappy', packed.snappy, cap)],
];

console.log(`Node ${process.version}; CPU-microseconds a record`);
for (const [name, bytes, records, work] of rows)
  console.log(`${cost(records, work).toFixed(3).padStart(8)}  ${name}, ${bytes} bytes`);
