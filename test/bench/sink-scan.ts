/**
 * CPU time of scanning: wire bytes to Native blocks. Prints one line of JSON per run. `logs` and `metrics`
 * (remote-write) use bodies of `payloads.ts` by default. Any telemetry sink accepts bodies in files: OTLP, plain or
 * with gzip (`.gz`), and remote-write in snappy (`.snappy`).
 *
 *     node bin/node.mjs test/bench/sink-scan.ts [logs | metrics | traces] [rounds] ['FILES']
 */
import { globSync, readFileSync } from 'node:fs';
import { type Encoding, encodeHeaders, type Format } from '../../schemas/telemetry-message.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { encodeBlock } from '../../sinks/native/rows.ts';
import { sinks } from '../../sinks/registry.ts';
import { bodies, logsPayload, remoteWritePayload } from './payloads.ts';

const [name = 'logs', rounds = '20', pattern] = process.argv.slice(2);
const definition = sinks.find((sink) => sink.name === name);
if (definition === undefined) throw new Error(`no sink is called ${name}`);

const bodyCount = 50;
const nowMs = Date.UTC(2026, 0, 1);
const madeUp: Readonly<Record<string, () => Buffer[]>> = {
  logs: () => bodies(bodyCount, (seed) => logsPayload({ seed, records: 500, nowMs })),
  metrics: () => bodies(bodyCount, (seed) => remoteWritePayload({ seed, records: 500, nowMs })),
};
const fromFiles = (files: string): Buffer[] =>
  globSync(files)
    .sort()
    .slice(0, bodyCount)
    .map((file) => readFileSync(file));
const payloads = pattern === undefined ? (madeUp[name]?.() ?? []) : fromFiles(pattern);
if (payloads.length === 0) {
  console.error(
    pattern === undefined ? `there are no made-up bodies for ${name}: name files` : `no file matches ${pattern}`,
  );
  process.exit(2);
}

const isRemoteWrite = pattern === undefined ? name === 'metrics' : pattern.endsWith('.snappy');
const format: Format = isRemoteWrite ? (pattern === undefined ? 'remote-write-2' : 'remote-write-1') : 'otlp';
const encoding: Encoding = isRemoteWrite ? 'snappy' : pattern?.endsWith('.gz') ? 'gzip' : 'identity';
const messages = payloads.map((value, offset) => {
  const headers = encodeHeaders({
    tenantId: 'bench',
    projectId: 'default',
    keyId: 'key',
    signal: (name === 'logs' || name === 'traces' ? name : 'metrics') as Signal,
    format,
    encoding,
    members: [{ length: value.length, size: 0, records: 0, receivedAtMs: nowMs, source: '', traceparent: '' }],
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
  for (const seen of scanner.landedHours) seen.begin(serial);
  for (const { columns } of scanner.tables) for (const column of columns.values()) column.reset();
  for (const message of messages) scanner.scan({ ...message, timestampMs: 0 }, 0);
  scanner.finish?.(0, messages.length - 1);
  for (const seen of scanner.landedHours) {
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
