/**
 * Seeded request bodies like those of a shop. The same arguments give the same bytes for every product. They are
 * encoded by hand, so no measured encoder creates its own input.
 */
import { gzipSync } from 'node:zlib';
import { compressSync } from 'snappy';
import { encodeHeaders } from '../../schemas/telemetry-message.ts';
import { randomOf } from '../cases/random.ts';

export class Bytes {
  #buffer = Buffer.allocUnsafe(256);
  length = 0;

  #room(more: number): void {
    if (this.length + more <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.length + more));
    this.#buffer.copy(grown, 0, 0, this.length);
    this.#buffer = grown;
  }

  varint(value: number): this {
    this.#room(10);
    let rest = value;
    while (rest > 127) {
      this.#buffer[this.length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#buffer[this.length++] = rest;
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.varint(field * 8 + 2)
      .varint(value.length)
      .#room(value.length);
    this.#buffer.set(value, this.length);
    this.length += value.length;
    return this;
  }

  text(field: number, value: string): this {
    const length = Buffer.byteLength(value);
    this.varint(field * 8 + 2)
      .varint(length)
      .#room(length);
    this.#buffer.write(value, this.length);
    this.length += length;
    return this;
  }

  number(field: number, value: number): this {
    return this.varint(field * 8).varint(value);
  }

  fixed64(field: number, value: bigint): this {
    this.varint(field * 8 + 1).#room(8);
    this.#buffer.writeBigUInt64LE(value, this.length);
    this.length += 8;
    return this;
  }

  double(field: number, value: number): this {
    this.varint(field * 8 + 1).#room(8);
    this.#buffer.writeDoubleLE(value, this.length);
    this.length += 8;
    return this;
  }

  message(field: number, fill: (inner: Bytes) => void): this {
    const inner = new Bytes();
    fill(inner);
    return this.bytes(field, inner.#buffer.subarray(0, inner.length));
  }

  flush(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.length));
  }
}

export const attribute = (into: Bytes, field: number, key: string, value: string | number): void => {
  into.message(field, (pair) => {
    pair.text(1, key).message(2, (any) => {
      if (typeof value === 'string') any.text(1, value);
      else if (Number.isInteger(value)) any.number(3, value);
      else any.double(4, value);
    });
  });
};

const services = [
  'checkout',
  'cart',
  'payments',
  'catalog',
  'auth',
  'shipping',
  'search',
  'frontend',
  'inventory',
  'email',
];
const routes = [
  '/api/v1/orders/{id}',
  '/api/v1/cart',
  '/api/v1/users/{id}/profile',
  '/api/v1/products',
  '/healthz',
  '/api/v1/search',
];
const methods = ['GET', 'GET', 'GET', 'POST', 'POST', 'DELETE'];
const statuses = [200, 200, 200, 200, 200, 200, 201, 304, 404, 409, 500, 503];
const upstreams = ['orders-db-0', 'stripe', 'redis-cache-2', 'inventory-svc', 'kafka-broker-1', 's3-gateway'];

export interface PayloadOptions {
  readonly seed: number;
  /** Records per request. */
  readonly records: number;
  /** Epoch milliseconds. Records have times within a minute before it. */
  readonly nowMs: number;
}

/** ExportLogsServiceRequest: a resource with six attributes per 100 records; about 540 bytes per record. */
export const logsPayload = ({ seed, records, nowMs }: PayloadOptions): Buffer => {
  const next = randomOf(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item;
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join('');
  const request = new Bytes();
  for (let written = 0; written < records; written += 100) {
    const service = pick(services);
    const pod = `${service}-7d9c5b6f4${Math.floor(next() * 4)}-x2kzq`;
    request.message(1, (group) => {
      group.message(1, (resource) => {
        attribute(resource, 1, 'service.name', service);
        attribute(resource, 1, 'service.namespace', 'shop');
        attribute(resource, 1, 'service.version', '1.2.3');
        attribute(resource, 1, 'deployment.environment.name', 'prod');
        attribute(resource, 1, 'host.name', `node-0${Math.floor(next() * 9)}.eu-west-1.compute.internal`);
        attribute(resource, 1, 'k8s.pod.name', pod);
      });
      group.message(2, (scope) => {
        scope.message(1, (about) => about.text(1, `shop.${service}`).text(2, '1.0.0'));
        for (let index = written; index < Math.min(records, written + 100); index++) {
          const method = pick(methods);
          const route = pick(routes).replace('{id}', String(Math.floor(next() * 100_000)));
          const status = pick(statuses);
          const durationMs = Math.exp(3 + next() * 2 - 1);
          const user = `u${String(Math.floor(next() * 50_000)).padStart(6, '0')}`;
          const client = `10.${Math.floor(next() * 64)}.${Math.floor(next() * 256)}.${Math.floor(next() * 256)}`;
          const id = hex(32);
          const time = BigInt(nowMs) * 1_000_000n - BigInt(Math.floor(next() * 60_000_000)) * 1_000n;
          const body = `completed ${method} ${route} with status ${status} in ${durationMs.toFixed(2)} ms for user ${user} from ${client}; upstream=${pick(upstreams)} cache=hit bytes=${Math.floor(next() * 60_000)} retries=0 request=${id} region=eu-west-1 build=2026.11.3`;
          scope.message(2, (record) => {
            record
              .fixed64(1, time)
              .number(2, status >= 500 ? 17 : 9)
              .text(3, status >= 500 ? 'ERROR' : 'INFO');
            record.message(5, (any) => any.text(1, body));
            attribute(record, 6, 'http.request.method', method);
            attribute(record, 6, 'url.path', route);
            attribute(record, 6, 'http.response.status_code', status);
            attribute(record, 6, 'http.server.duration_ms', Math.round(durationMs * 1_000) / 1_000 + 0.0001);
            attribute(record, 6, 'user.id', user);
            attribute(record, 6, 'client.address', client);
            attribute(record, 6, 'thread.name', `worker-${Math.floor(next() * 32)}`);
            attribute(record, 6, 'request.id', id);
            record
              .bytes(9, Buffer.from(id, 'hex'))
              .bytes(10, Buffer.from(hex(16), 'hex'))
              .fixed64(11, time);
          });
        }
      });
    });
  }
  return request.flush();
};

/** One series with eight labels, determined by `group` and `index`. */
const shopSeries = (group: number, index: number): Readonly<Record<string, string>> => {
  const service = services[group] ?? 'checkout';
  return {
    __name__: `shop_metric_${index % 50}_total`,
    env: 'prod',
    instance: `10.0.${group}.${Math.floor(index / 50)}:9090`,
    job: service,
    method: methods[index % 6] ?? 'GET',
    namespace: 'shop',
    pod: `${service}-${String(group * 7919).padStart(5, '0')}-${Math.floor(index / 50)}`,
    route: (routes[index % 6] ?? '').replace('{id}', ':id'),
  };
};

/** Remote-write 2.0 in a snappy block: `records` counters with eight labels and one sample each, in 8 groups. */
export const remoteWritePayload = ({ seed, records, nowMs }: PayloadOptions): Buffer => {
  const group = seed % 8;
  const step = Math.floor(seed / 8);
  const symbols = new Map<string, number>([['', 0]]);
  const reference = (text: string): number => {
    const known = symbols.get(text);
    if (known !== undefined) return known;
    symbols.set(text, symbols.size);
    return symbols.size - 1;
  };
  const series = Array.from({ length: records }, (_, index) => {
    const references = Object.entries(shopSeries(group, index)).flatMap(([name, value]) => [
      reference(name),
      reference(value),
    ]);
    const one = new Bytes();
    const packed = new Bytes();
    for (const number of references) packed.varint(number);
    one.bytes(1, packed.flush());
    one.message(2, (sample) =>
      sample.double(1, 10_000 + step * (index + 1)).number(2, nowMs - (1_000 - step) * 15_000),
    );
    return one.message(5, (metadata) => metadata.number(1, 1)).flush();
  });
  const request = new Bytes();
  for (const symbol of symbols.keys()) request.text(4, symbol);
  for (const one of series) request.bytes(5, one);
  return compressSync(request.flush());
};

/** `count` different bodies, optionally compressed with gzip's default level. */
export const bodies = (count: number, make: (seed: number) => Buffer, gzip = false): Buffer[] =>
  Array.from({ length: count }, (_, seed) => (gzip ? gzipSync(make(seed), { level: 6 }) : make(seed)));

/** Twenty messages of the bus, each with one request of log records, as decoded by a source. */
export const logMessages = (perMessage: number) =>
  Array.from({ length: 20 }, (_, seed) => {
    const value = logsPayload({ seed, records: perMessage, nowMs: Date.now() });
    const member = {
      length: value.length,
      size: value.length,
      records: perMessage,
      receivedAtMs: Date.now(),
      source: '',
      traceparent: '',
    };
    const headers = encodeHeaders({
      tenantId: 'bench',
      projectId: 'default',
      keyId: 'key',
      signal: 'logs',
      format: 'otlp',
      encoding: 'identity',
      members: [member],
    });
    return { offset: seed, timestampMs: 0, key: 'bench', headers, value };
  });
