/**
 * CPU and memory of the log pattern miner: lines of 250 bytes of 300 patterns as text, JSON and logfmt, a flood of
 * random lines, and the state of 100 services with 300 patterns each; and the whole processor.
 *
 *     node --expose-gc test/bench/log-pattern-cost.ts
 */
import { Task } from '../../processors/engine/task.ts';
import { logPatterns } from '../../processors/log-patterns/log-patterns.ts';
import { Miner } from '../../processors/log-patterns/miner.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import { iterateItems } from '../../schemas/records/source.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { firstMs, otlpMessage } from '../cases/run-task.ts';

let seed = 1;
const below = (limit: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
  return (seed >>> 8) % limit;
};
const pick = (items: readonly string[]): string => items[below(items.length)] as string;
const hex = (length: number): string => Array.from({ length }, () => below(16).toString(16)).join('');

const words = (
  'request order payment user session cache queue worker retry timeout connection upstream handler finished started ' +
  'failed accepted rejected shard replica commit index segment flush'
).split(' ');
const templates = Array.from({ length: 300 }, (_, at) => Array.from({ length: 10 + (at % 5) }, () => pick(words)));
const values: readonly (() => string)[] = [
  () => `id=${hex(32)}`,
  () => `${below(100_000)}ms`,
  () => `192.0.2.${below(255)}:${below(60_000)}`,
  () => `/api/v1/orders/${below(99_999)}`,
  () => `user=u${below(9999)}`,
  () => `"some quoted ${below(99)}"`,
];
const textOf = (template: readonly string[]): string => {
  const text = template.map((word, at) => (at % 3 === 1 ? `${word} ${values[at % 6]?.()}` : word)).join(' ');
  return text.length < 248 ? `${text}: ${hex(9).padEnd(248 - text.length, '0')}` : text;
};
const any = (): readonly string[] => templates[below(300)] as readonly string[];
const message = (): string => `${any().slice(0, 8).join(' ')} ${below(999)}`;
const many = (line: () => string): string[] => Array.from({ length: 100_000 }, line);

const heap = (): number => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const before = heap();
const miner = new Miner();
for (let service = 0; service < 100; service++)
  for (let round = 0; round < 40; round++)
    for (const template of templates) miner.add(`tenant/${service}`, textOf(template));
console.log(
  `${((heap() - before) / 2 ** 20).toFixed(1)} MiB for ${miner.size.patterns} patterns of ${miner.size.scopes} services`,
);
const start = process.cpuUsage();
const snapshot = miner.serialize();
const { user } = process.cpuUsage(start);
console.log(
  `snapshot ${(snapshot.length / 2 ** 20).toFixed(1)} MiB, written in ${(user / 1e6).toFixed(2)} CPU-seconds`,
);

const shapes: Readonly<Record<string, readonly string[]>> = {
  text: many(() => textOf(any())),
  json: many(() =>
    JSON.stringify({
      level: 'info',
      time: `2026-01-01T00:00:00.${below(999)}Z`,
      msg: message(),
      request_id: hex(32),
      user: `u${below(999)}`,
      status: below(500),
      path: `/api/v1/${below(99)}`,
    }),
  ),
  logfmt: many(
    () =>
      `level=info time=2026-01-01T00:00:00.${below(999)}Z msg="${message()}" request_id=${hex(32)} user=u${below(999)} ` +
      `status=${below(500)} path=/api/v1/${below(99)} caller=main.go:${below(99)} component=store`,
  ),
  random: many(() =>
    Array.from({ length: 45 }, () =>
      hex(1 + below(9)).replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? ''),
    ).join(' '),
  ),
};

/** CPU-microseconds per line: the minimum of five rounds, because other load only adds time. */
const cost = (lines: readonly string[]): number => {
  const miner = new Miner();
  let min = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6; round++) {
    const start = process.cpuUsage();
    for (const line of lines) miner.add('tenant/service', line);
    const { user, system } = process.cpuUsage(start);
    if (round > 0) min = Math.min(min, (user + system) / lines.length);
  }
  return min;
};

console.log(`Node ${process.version}; CPU-microseconds a line, which is CPU-seconds per million`);
for (const [name, lines] of Object.entries(shapes)) {
  const bytes = lines.reduce((sum, { length }) => sum + length, 0) / lines.length;
  console.log(`${cost(lines).toFixed(2).padStart(8)}  ${name}, ${bytes.toFixed(0)} bytes`);
}

/** Messages with 500 records of two services, for 10,000 records per second. */
const messages = (shapes['text'] as readonly string[]).reduce<string[][]>((parts, body, at) => {
  if (at % 500 === 0) parts.push([]);
  parts.at(-1)?.push(body);
  return parts;
}, []);
const batch = messages.map((bodies, offset): BusRecord => {
  const timestampMs = firstMs + offset * 50;
  const sent = bodies.map((body, at) => ({
    timeUnixNano: `${timestampMs + at}000000`,
    severityNumber: 9 + 4 * (at % 3),
    body: { stringValue: body },
  }));
  const attributes = [{ key: 'service.name', value: { stringValue: `service-${offset % 2}` } }];
  const request = { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: sent }] }] };
  return { offset, timestampMs, key: '', ...otlpMessage('logs', request, { atMs: timestampMs }) };
});
/** The minimum of five rounds, in CPU-microseconds per line. */
const minCpuMs = (round: () => void): number => {
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at < 6; at++) {
    const start = process.cpuUsage();
    round();
    const { user, system } = process.cpuUsage(start);
    if (at > 0) best = Math.min(best, (user + system) / 100_000);
  }
  return best;
};
let length = 0;
const decoding = minCpuMs(() => {
  for (const message of batch)
    for (const record of iterateItems(logRecords, message, { topic: 'otlp.logs', partition: 0 }))
      length += record.body.length + record.service.length + record.timeMs;
});
// A task validates, encodes and counts its output; the engine publishes it.
let emitted = 0;
const running = new Task(logPatterns, { topic: 'otlp.logs', partition: 0 });
let rounds = 0;
const again = (): void => {
  const shift = batch.length * rounds++;
  const later = batch.map((message) => ({
    ...message,
    offset: message.offset + shift,
    timestampMs: message.timestampMs + shift * 50,
  }));
  emitted = running.batch(later).messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
};
for (let warm = 0; warm < 4; warm++) again();
const task = minCpuMs(again);
if (length === 0) throw new Error('nothing was decoded');
console.log(`${decoding.toFixed(2).padStart(8)}  decoding, and reading body, service and time`);
console.log(
  `${task.toFixed(2).padStart(8)}  the processor's task over such records; in the last round it emitted ${(emitted / 100_000).toFixed(1)} bytes a record`,
);
