/**
 * CPU of scanning: wire bytes to Native blocks, for request bodies in files. One line of JSON a run.
 *
 *     node test/bench/sink-scan.ts logs 'payloads/logs/*.pb' [rounds]
 */
import { globSync, readFileSync } from 'node:fs';
import { type Encoding, encodeHeaders, type Format } from '../../schemas/telemetry-message.ts';
import type { Signal } from '../../schemas/topics.ts';
import { sinks } from '../../sinks/index.ts';
import { encodeBlock } from '../../sinks/native/rows.ts';

const [name = 'logs', pattern = 'payloads/logs/*.pb', rounds = '20'] = process.argv.slice(2);
const definition = sinks.find((sink) => sink.name === name);
if (definition === undefined) throw new Error(`no sink is called ${name}`);
const isRemoteWrite = pattern.endsWith('.snappy');
const format: Format = isRemoteWrite ? 'remote-write-1' : 'otlp';
const encoding: Encoding = isRemoteWrite ? 'snappy' : pattern.endsWith('.gz') ? 'gzip' : 'identity';
const messages = globSync(pattern)
  .sort()
  .slice(0, 50)
  .map((file, offset) => {
    const value = readFileSync(file);
    const headers = encodeHeaders({
      tenantId: 'bench',
      projectId: 'default',
      keyId: 'key',
      signal: (name === 'logs' || name === 'traces' ? name : 'metrics') as Signal,
      format,
      encoding,
      members: [{ length: value.length, size: 0, records: 0, receivedAtMs: Date.now(), source: '', traceparent: '' }],
    });
    return { offset, headers, value };
  });
const scanner = await definition.scanner();
let memory = Buffer.allocUnsafeSlow(1 << 20);
const allocate = (bytes: number): Uint8Array => {
  if (memory.length < bytes) memory = Buffer.allocUnsafeSlow(bytes * 2);
  return memory;
};

let rows = 0;
let bytes = 0;
const run = (serial: number): void => {
  for (const seen of scanner.seen) seen.begin(serial);
  for (const { columns } of scanner.tables) for (const column of columns.values()) column.reset();
  for (const message of messages) scanner.scan({ ...message, timestampMs: 0 }, 0);
  for (const seen of scanner.seen) {
    seen.end();
    seen.settle(serial, true);
  }
  for (const table of scanner.tables) {
    const block = encodeBlock(table, allocate);
    rows += block.rows;
    bytes += block.bytes.length;
  }
};
for (let serial = 1; serial <= 5; serial++) run(serial);
const best: number[] = [];
for (let serial = 6; serial < 6 + Number(rounds); serial++) {
  rows = 0;
  bytes = 0;
  const start = process.cpuUsage();
  run(serial);
  const { user, system } = process.cpuUsage(start);
  best.push((user + system) / rows);
}
best.sort((left, right) => left - right);
console.log(
  JSON.stringify({
    sink: name,
    messages: messages.length,
    rows,
    nativeBytes: bytes,
    cpuMicrosecondsPerRow: { least: best[0]?.toFixed(3), median: best[best.length >> 1]?.toFixed(3) },
  }),
);
