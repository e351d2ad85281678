/**
 * The cost of service edges: CPU-seconds per million spans of each processor, compared with stepping over the spans
 * alone; bytes that a span adds to the topic on which the ends of calls are joined; memory of an end that waits. Prints
 * the median of the rounds as JSON.
 *
 *     node --expose-gc test/bench/edges.ts [traces a round]
 */

import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { callEnds } from '../../processors/edges/call-ends.ts';
import { serviceEdges } from '../../processors/edges/edges.ts';
import { Task } from '../../processors/engine/task.ts';
import type { BusRecord, Message } from '../../schemas/ports/bus.ts';
import { iterateItems } from '../../schemas/records/source.ts';
import { spans } from '../../schemas/records/sources.ts';
import { encodeHeaders } from '../../schemas/telemetry-message.ts';
import { topics } from '../../schemas/topics.ts';
import { requestTypes } from '../cases/proto/load.ts';

const traces = Number(process.argv[2] ?? 2_000);
const rounds = 12;
const perMessage = 500;

interface Made {
  readonly service: string;
  readonly span: object;
}

const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });
const attributesOf = (attributes: Readonly<Record<string, string>>): object[] =>
  Object.entries(attributes).map(([key, value]) => text(key, value));

const http = {
  'http.request.method': 'GET',
  'url.scheme': 'http',
  'network.protocol.version': '1.1',
  'user_agent.original': 'shop/1.2',
  'http.response.status_code': '200',
  'server.address': 'cart.shop.svc',
  'server.port': '8080',
  'url.path': '/v1/cart',
};
const database = {
  'db.system.name': 'postgresql',
  'db.namespace': 'shop',
  'db.operation.name': 'SELECT',
  'db.collection.name': 'carts',
  'db.query.text': 'SELECT id, name, price FROM carts WHERE id = $1',
  'server.address': 'pg',
  'server.port': '5432',
};
const queue = {
  'messaging.system': 'kafka',
  'messaging.destination.name': 'orders',
  'messaging.operation.type': 'send',
};

/** Twelve spans: three services, two databases, a queue, an external host, and internal steps. */
const traceAt = (startMs: number): Made[] => {
  const traceId = randomBytes(16);
  const created: Made[] = [];
  const add = (
    service: string,
    kind: number,
    parent: Uint8Array,
    attributes: Readonly<Record<string, string>>,
  ): Uint8Array => {
    const spanId = randomBytes(8);
    const startNs = BigInt(startMs) * 1_000_000n;
    created.push({
      service,
      span: {
        traceId,
        spanId,
        parentSpanId: parent,
        kind,
        name: 'GET /v1/cart',
        attributes: attributesOf(attributes),
        startTimeUnixNano: String(startNs),
        endTimeUnixNano: String(startNs + BigInt(Math.floor(Math.random() * 1e8))),
      },
    });
    return spanId;
  };
  const none = new Uint8Array(0);
  const root = add('frontend', 2, none, http);
  const step = add('frontend', 1, root, {});
  const cart = add('cart', 2, add('frontend', 3, step, http), http);
  add('cart', 3, add('cart', 1, cart, {}), database);
  add('cart', 3, cart, { ...database, 'db.system.name': 'redis' });
  const checkout = add('checkout', 2, add('frontend', 3, step, http), http);
  add('checkout', 3, checkout, { ...http, 'server.address': 'api.stripe.example' });
  const sent = add('checkout', 4, checkout, queue);
  add('shipping', 5, sent, { ...queue, 'messaging.operation.type': 'process' });
  return created;
};

const requestOf = (batch: readonly Made[]): Uint8Array => {
  const services = Map.groupBy(batch, ({ service }) => service);
  const request = {
    resourceSpans: Array.from(services, ([service, made]) => ({
      resource: {
        attributes: attributesOf({
          'service.name': service,
          'service.version': '1.2.3',
          'deployment.environment.name': 'production',
          'host.name': 'node-1',
          'k8s.pod.name': `${service}-7d9c5b6f4-x2kzq`,
          'telemetry.sdk.language': 'go',
        }),
      },
      scopeSpans: [{ scope: { name: 'http' }, spans: made.map(({ span }) => span) }],
    })),
  };
  return requestTypes.traces.encode(requestTypes.traces.fromObject(request)).finish();
};

let offset = 0;
let nowMs = Date.now();
const messagesOfRound = (): { readonly messages: BusRecord[]; readonly spans: number } => {
  const created = Array.from({ length: traces }, () => traceAt(nowMs)).flat();
  nowMs += 2_000;
  const messages: BusRecord[] = [];
  for (let at = 0; at < created.length; at += perMessage) {
    const batch = created.slice(at, at + perMessage);
    const value = Buffer.from(requestOf(batch));
    const { length } = value;
    const member = { length, size: length, records: batch.length, receivedAtMs: nowMs, source: '', traceparent: '' };
    const headers = encodeHeaders({
      tenantId: 'bench',
      projectId: 'default',
      keyId: 'key',
      signal: 'traces',
      format: 'otlp',
      encoding: 'identity',
      members: [member],
    });
    messages.push({ offset: offset++, timestampMs: nowMs, key: 'bench', headers, value });
  }
  return { messages, spans: created.length };
};

const secondsOf = (step: () => void): number => {
  const start = process.cpuUsage();
  step();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
};

const first = new Task(callEnds, { topic: topics.traces.name, partition: 0 });
const second = new Task(serviceEdges, { topic: topics.callEnds.name, partition: 0 });
let endsOffset = 0;
let sum = 0;
const figures: Record<string, number[]> = {};
const note = (name: string, value: number): void => {
  figures[name] = [...(figures[name] ?? []), value];
};
for (let round = 0; round < rounds; round++) {
  const { messages, spans: count } = messagesOfRound();
  const perMillion = 1e6 / count;
  const over = secondsOf(() => {
    for (const message of messages)
      for (const span of iterateItems(spans, message, { topic: topics.traces.name, partition: 0 })) sum += span.kind;
  });
  let emitted: readonly Message[] = [];
  const ends = secondsOf(() => {
    emitted = first.batch(messages).messages;
  });
  const onTopic = emitted.filter(({ topic }) => topic === topics.callEnds.name);
  const records = onTopic.map(({ key, value, headers = {} }) => {
    return { offset: endsOffset++, timestampMs: nowMs, key, headers, value: Buffer.from(value) };
  });
  const join = secondsOf(() => {
    second.batch(records);
  });
  if (round < 4) continue;
  note('stepping over spans, CPU-seconds a million', over * perMillion);
  note('call-ends, CPU-seconds a million spans', ends * perMillion);
  note('service-edges, CPU-seconds a million spans', join * perMillion);
  const bytes = onTopic.reduce((total, { value }) => total + value.length, 0);
  const packed = onTopic.reduce((total, { value }) => total + gzipSync(value, { level: 1 }).length, 0);
  note('ends a span', onTopic.reduce((total, { headers }) => total + Number(headers?.['records']), 0) / count);
  note('bytes on the topic a span', bytes / count);
  note('the same, compressed with gzip', packed / count);
}
const { entries, bytes } = second.status;
globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
const restored = new Task(serviceEdges, { topic: topics.callEnds.name, partition: 0 }, second.snapshot());
globalThis.gc?.();
const grown = process.memoryUsage().heapUsed - before;
const median = (values: number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
console.log(
  JSON.stringify(
    {
      ...Object.fromEntries(Object.entries(figures).map(([name, values]) => [name, Number(median(values).toFixed(2))])),
      'entries that wait': entries,
      'bytes of each, as counted': Math.round(bytes / entries),
      'bytes of each on the heap': Math.round(grown / restored.status.entries),
      'bytes of a snapshot': second.snapshot().length,
      sum,
    },
    null,
    2,
  ),
);
