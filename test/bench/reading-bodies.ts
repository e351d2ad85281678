/**
 * Seeded bodies of a day: log records and spans of 200 services in order of time, with lines of 16 kinds of systems and
 * varying numbers. Each request has a few seconds of five instances.
 */
import { randomOf } from '../cases/random.ts';
import { attribute, Bytes } from './payloads.ts';

export const services = 200;
export const recordsPerRequest = 500;
const groupsPerRequest = 5;
const recordsPerGroup = recordsPerRequest / groupsPerRequest;

/** The time range of a request within the day, and the seed of its random numbers. */
export interface Slice {
  readonly seed: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The value that a run searches for; a seed determines it. */
export const needleOf = (seed: number): string => `${(seed + 0x10_0000).toString(16)}cafe${'0'.repeat(4)}`;
export const traceIdOf = (seed: number, index: number): string =>
  `${(Math.imul(seed + 1, 0x9e37_79b1) >>> 0).toString(16).padStart(8, '0')}${(Math.imul(seed + 7, 0x85eb_ca6b) >>> 0).toString(16).padStart(8, '0')}${(Math.imul(index + 1, 0xc2b2_ae35) >>> 0).toString(16).padStart(8, '0')}${seed.toString(16).padStart(8, '0')}`;

class Draw {
  readonly #next: () => number;
  constructor(seed: number) {
    this.#next = randomOf(seed);
  }
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }
  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += this.below(0x1000_0000).toString(16).padStart(7, '0');
    return text.slice(0, digits);
  }
}

const methods = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'];
const paths = ['orders', 'cart', 'users', 'products', 'search', 'payments', 'sessions', 'inventory'];
const hosts = ['orders-db-0', 'stripe', 'redis-cache-2', 'inventory-svc', 'kafka-broker-1', 's3-gateway'];
const levels = ['INFO', 'INFO', 'INFO', 'INFO', 'DEBUG', 'WARN', 'ERROR'];
const severities: Readonly<Record<string, number>> = { DEBUG: 5, INFO: 9, WARN: 13, ERROR: 17 };

type Line = (draw: Draw) => string;
/** One in 100 lines reports a deadlock; `completed` occurs in three of 16 kinds. */
const lines: readonly Line[] = [
  (d) =>
    `completed ${d.pick(methods)} /api/v1/${d.pick(paths)}/${d.below(100_000)} with status ${d.pick([200, 200, 200, 404, 500])} in ${d.below(90_000) / 100} ms bytes=${d.below(60_000)}`,
  (d) =>
    `10.${d.below(64)}.${d.below(256)}.${d.below(256)} - - "${d.pick(methods)} /${d.pick(paths)}?page=${d.below(90)} HTTP/1.1" ${d.pick([200, 200, 304, 404, 502])} ${d.below(90_000)} "-" "Mozilla/5.0 (X11; Linux x86_64)"`,
  (d) =>
    `{"level":"info","msg":"job completed","job":"${d.pick(paths)}-sync","id":"${d.hex(12)}","rows":${d.below(10_000)},"took_ms":${d.below(5_000)}}`,
  (d) =>
    `level=info caller=cache.go:${d.below(900)} msg="cache lookup" key=user:${d.below(50_000)} hit=${d.pick(['true', 'false'])} ttl=${d.below(3_600)}s`,
  (d) =>
    `Connection to ${d.pick(hosts)} lost after ${d.below(30_000)} ms, retrying (attempt ${d.below(9)} of 10), last error: connection reset by peer`,
  (d) =>
    `[pool-${d.below(9)}-thread-${d.below(64)}] com.shop.${d.pick(paths)}.Handler - Processed message offset=${d.below(9_000_000)} partition=${d.below(64)} lag=${d.below(500)}`,
  (d) =>
    `consumer group ${d.pick(paths)}-indexer committed offset ${d.below(9_000_000)} on partition ${d.below(64)} of topic ${d.pick(paths)}`,
  (d) =>
    `slow query: SELECT * FROM ${d.pick(paths)} WHERE id = ${d.below(900_000)} AND state = 'open' took ${d.below(9_000)} ms, ${d.below(5_000)} rows examined`,
  (d) =>
    `user u${d.below(50_000)} signed in from 10.${d.below(64)}.${d.below(256)}.${d.below(256)} session=${d.hex(16)}`,
  (d) =>
    `GC pause (young) ${d.below(400)}M->${d.below(200)}M(${1024 + d.below(900)}M) ${d.below(90)}.${d.below(999)}ms, heap after ${d.below(70)}%`,
  (d) =>
    `Unable to reserve stock for order ${d.below(900_000)}: item ${d.below(90_000)} has ${d.below(9)} left, wanted ${d.below(40)}`,
  (d) =>
    `kubelet: Liveness probe of container ${d.pick(paths)} returned ${d.pick([200, 200, 503])} after ${d.below(900)} ms`,
  (d) =>
    `payment ${d.hex(10)} authorised by ${d.pick(['visa', 'mastercard', 'paypal'])} amount=${d.below(90_000) / 100} currency=EUR completed`,
  (d) => `TRACE span exported batch=${d.below(512)} queue=${d.below(2_048)} dropped=0 endpoint=https://otel:4318`,
  (d) =>
    `feature flag new-checkout evaluated to ${d.pick(['on', 'off'])} for account ${d.below(20_000)} in ${d.below(40)} us`,
  (d) => `scheduler: task ${d.pick(paths)}-rollup finished with ${d.below(400)} items, next run in ${d.below(900)} s`,
];
const deadlock: Line = (d) =>
  `ERROR deadlock detected: process ${d.below(30_000)} waits for ShareLock on transaction ${d.below(900_000)}; blocked by process ${d.below(30_000)}`;

const serviceName = (number: number): string => `${paths[number % paths.length]}-${String(number).padStart(3, '0')}`;

const writeResource = (into: Bytes, draw: Draw): string => {
  const service = serviceName(draw.below(services));
  const host = draw.below(4);
  into.message(1, (resource) => {
    attribute(resource, 1, 'service.name', service);
    attribute(resource, 1, 'service.namespace', 'shop');
    attribute(resource, 1, 'service.version', '1.2.3');
    attribute(resource, 1, 'deployment.environment.name', 'prod');
    attribute(resource, 1, 'host.name', `node-${host}.eu-west-1.compute.internal`);
    attribute(resource, 1, 'k8s.pod.name', `${service}-7d9c5b6f4${host}-x2kzq`);
  });
  return service;
};

const timeIn = ({ fromMs, toMs }: Slice, share: number): bigint =>
  BigInt(Math.floor(fromMs)) * 1_000_000n + BigInt(Math.floor((toMs - fromMs) * share * 1e6));

/** ExportLogsServiceRequest. The first record contains the needle of its seed. */
export const logsBody = (slice: Slice): Buffer => {
  const draw = new Draw(slice.seed);
  const request = new Bytes();
  for (let group = 0; group < groupsPerRequest; group++)
    request.message(1, (groupBytes) => {
      const service = writeResource(groupBytes, draw);
      groupBytes.message(2, (scope) => {
        scope.message(1, (about) => about.text(1, `shop.${service}`).text(2, '1.0.0'));
        for (let index = 0; index < recordsPerGroup; index++) {
          const time = timeIn(slice, index / recordsPerGroup);
          const isNeedle = group === 0 && index === 0;
          const line = draw.below(100) === 0 ? deadlock : draw.pick(lines);
          const level = line === deadlock ? 'ERROR' : draw.pick(levels);
          scope.message(2, (record) => {
            record
              .fixed64(1, time)
              .number(2, severities[level] ?? 9)
              .text(3, level);
            const body = `${line(draw)}${isNeedle ? ` reference ${needleOf(slice.seed)}` : ''}`;
            record.message(5, (any) => any.text(1, body));
            attribute(record, 6, 'user.id', `u${String(draw.below(50_000)).padStart(6, '0')}`);
            attribute(record, 6, 'cloud.zone', draw.pick(['eu-west-1a', 'eu-west-1b', 'eu-west-1c']));
            attribute(record, 6, 'duration_ms', draw.below(1_000_000) / 1_000 + 0.0001);
            attribute(record, 6, 'request.id', draw.hex(16));
            record
              .bytes(9, Buffer.from(traceIdOf(slice.seed, Math.floor(index / 2)), 'hex'))
              .bytes(10, Buffer.from(draw.hex(16), 'hex'))
              .fixed64(11, time);
          });
        }
      });
    });
  return request.flush();
};

const spanAttributes = (span: Bytes, draw: Draw): void => {
  attribute(span, 9, 'http.request.method', draw.pick(methods));
  attribute(span, 9, 'http.route', `/api/v1/${draw.pick(paths)}/{id}`);
  attribute(span, 9, 'http.response.status_code', draw.pick([200, 200, 200, 404, 500]));
  attribute(span, 9, 'user.id', `u${String(draw.below(50_000)).padStart(6, '0')}`);
  attribute(span, 9, 'server.address', draw.pick(hosts));
};

/** ExportTraceServiceRequest: traces with ten spans, two in each of five services. */
export const spansBody = (slice: Slice): Buffer => {
  const draw = new Draw(slice.seed ^ 0x5555_0000);
  const request = new Bytes();
  for (let group = 0; group < groupsPerRequest; group++)
    request.message(1, (groupBytes) => {
      const service = writeResource(groupBytes, draw);
      groupBytes.message(2, (scope) => {
        scope.message(1, (about) => about.text(1, `shop.${service}`).text(2, '1.0.0'));
        for (let index = 0; index < recordsPerGroup; index++) {
          const trace = Math.floor(index / 2);
          const start =
            timeIn(slice, trace / (recordsPerGroup / 2)) + BigInt(group * 1_000_000 + (index % 2) * 500_000);
          const isRoot = group === 0 && index % 2 === 0;
          scope.message(2, (span) => {
            span.bytes(1, Buffer.from(traceIdOf(slice.seed, trace), 'hex')).bytes(2, Buffer.from(draw.hex(16), 'hex'));
            if (!isRoot) span.bytes(4, Buffer.from(draw.hex(16), 'hex'));
            span
              .text(5, `${draw.pick(methods)} /api/v1/${draw.pick(paths)}/{id}`)
              .number(6, 2 + (index % 2))
              .fixed64(7, start)
              .fixed64(8, start + BigInt(1_000 + draw.below(900_000_000)));
            spanAttributes(span, draw);
            if (draw.below(20) === 0) span.message(15, (status) => status.number(3, 2));
          });
        }
      });
    });
  return request.flush();
};
