/**
 * The cost of finding errors: CPU-seconds per million records without errors, compared with stepping over them alone;
 * and 100,000 errors of several languages through fingerprinting and counting. Prints the median of the rounds as JSON.
 *
 *     node bin/node.mjs test/bench/errors.ts
 */

import type { Processor } from '../../processors/engine/definition.ts';
import { defineProcessor } from '../../processors/engine/definition.ts';
import { Task } from '../../processors/engine/task.ts';
import { errorOccurrences } from '../../processors/errors/error-occurrences.ts';
import { logErrors } from '../../processors/errors/log-errors.ts';
import { spanErrors } from '../../processors/errors/span-errors.ts';
import type { RaisedError } from '../../schemas/error-occurrences.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { Source } from '../../schemas/records/source.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { computeFingerprint } from '../../subjects/errors/fingerprint.ts';
import { stackCases } from '../cases/errors/stacks.ts';
import { firstMs, otlpMessage } from '../cases/run-task.ts';
import { text } from '../cases/sink-tables.ts';

const rounds = 9;
const perMessage = 500;
const resource = {
  attributes: [
    text('service.name', 'cart'),
    text('service.version', '1.2'),
    text('host.name', 'h1'),
    text('k8s.pod.name', 'cart-7'),
  ],
};
const ns = (at: number): string => `${firstMs + at}000000`;
const defaultAttributes = (at: number): object[] =>
  ['http.route', 'http.request.method', 'user.id', 'thread.name', 'url.path', 'order.id'].map((key) =>
    text(key, `${key}-${at % 50}`),
  );

const thrown = stackCases.flatMap(({ same }) => same).filter(({ stack = '' }) => stack !== '');
const exceptionAt = (at: number): object[] => {
  const { type = '', message = '', stack = '' } = thrown[at % thrown.length] ?? {};
  return [
    text('exception.type', type),
    text('exception.message', `${message} ${at}`),
    text('exception.stacktrace', stack),
  ];
};

const logsOf = (make: (at: number) => object): object => ({
  resourceLogs: [{ resource, scopeLogs: [{ logRecords: Array.from({ length: perMessage }, (_, at) => make(at)) }] }],
});
const spansOf = (make: (at: number) => object): object => ({
  resourceSpans: [{ resource, scopeSpans: [{ spans: Array.from({ length: perMessage }, (_, at) => make(at)) }] }],
});
const idOf = (at: number, bytes: number): Buffer => Buffer.from((at + 1).toString(16).padStart(2 * bytes, '0'), 'hex');

const log = (severityNumber: number, attributes: (at: number) => object[]) => (at: number) => ({
  timeUnixNano: ns(at),
  severityNumber,
  body: { stringValue: `request ${at} of user took ${at % 90} ms `.repeat(5) },
  attributes: attributes(at),
  traceId: idOf(at, 16),
  spanId: idOf(at, 8),
});
const span = (events: (at: number) => object[], code: number) => (at: number) => ({
  traceId: idOf(at, 16),
  spanId: idOf(at, 8),
  name: 'GET /v1/cart',
  kind: 2,
  startTimeUnixNano: ns(at),
  endTimeUnixNano: ns(at + 5),
  attributes: defaultAttributes(at),
  events: events(at),
  status: { code },
});
const exceptionEvent = (at: number): object[] => [
  { name: 'exception', timeUnixNano: ns(at), attributes: exceptionAt(at) },
];
const messageEvent = (at: number): object[] => [
  { name: 'message', timeUnixNano: ns(at), attributes: defaultAttributes(at) },
];

const messagesOf = (signal: 'logs' | 'traces', request: object): BusRecord[] => {
  const { value, headers } = otlpMessage(signal, request);
  return Array.from({ length: 40 }, (_, offset) => ({ offset, timestampMs: firstMs, key: '', value, headers }));
};

const empty = <Item>(reads: Source<Item>): Processor =>
  defineProcessor({ name: 'empty', summary: 'Does nothing', reads, step: () => undefined });

const medianOf = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

/** CPU-seconds per million records. */
const cost = (processor: Processor, messages: readonly BusRecord[], records: number): number => {
  const run = (): number => {
    const task = new Task(processor, { topic: processor.reads.topics[0]?.name ?? '', partition: 0 });
    const began = process.cpuUsage();
    task.batch(messages);
    const { user, system } = process.cpuUsage(began);
    return (user + system) / records;
  };
  run();
  return Math.round(medianOf(Array.from({ length: rounds }, run)) * 100) / 100;
};

const count = 40 * perMessage;
const rows: Record<string, number> = {};
for (const [name, make] of [
  ['INFO logs', log(9, defaultAttributes)],
  ['WARN logs without an exception', log(13, defaultAttributes)],
  ['ERROR logs without a stack', log(17, defaultAttributes)],
  ['ERROR logs with a stack', log(17, (at) => [...defaultAttributes(at), ...exceptionAt(at)])],
] as const) {
  const messages = messagesOf('logs', logsOf(make));
  rows[`${name}: stepping`] = cost(empty(logRecords), messages, count);
  rows[`${name}: finding errors`] = cost(logErrors, messages, count);
}
for (const [name, make] of [
  ['spans without events', span(() => [], 0)],
  ['spans with an event that is no exception', span(messageEvent, 0)],
  ['spans with an exception', span(exceptionEvent, 2)],
] as const) {
  const messages = messagesOf('traces', spansOf(make));
  rows[`${name}: stepping`] = cost(empty(spans), messages, count);
  rows[`${name}: finding errors`] = cost(spanErrors, messages, count);
}
const finding = new Task(spanErrors, { topic: topics.traces.name, partition: 0 });
const raised = finding.batch(messagesOf('traces', spansOf(span(exceptionEvent, 2)))).messages.map(
  (message, offset): BusRecord => ({
    offset,
    timestampMs: firstMs,
    key: message.key,
    headers: message.headers,
    value: Buffer.from(message.value),
  }),
);
rows['raised errors: counting each once'] = cost(errorOccurrences, raised, count);

/** CPU-seconds per million errors, each from another trace, with more traces than are remembered. */
const costBeyond = (): number => {
  const task = new Task(errorOccurrences, { topic: topics.raisedErrors.name, partition: 0 });
  const [one] = JSON.parse(Buffer.from(raised[0]?.value ?? []).toString()) as [RaisedError];
  const each = 200;
  let spent = 0;
  for (let offset = 0; offset < 1_000; offset++) {
    const values = Array.from({ length: each }, (_, at) => ({
      ...one,
      traceId: idOf(offset * each + at, 16).toString('hex'),
    }));
    const value = Buffer.from(JSON.stringify(values));
    const before = process.cpuUsage();
    task.batch([{ offset, timestampMs: firstMs, key: '', headers: { tenant: one.tenantId }, value }]);
    const { user, system } = process.cpuUsage(before);
    if (offset >= 600) spent += user + system;
  }
  return Math.round((spent / (400 * each)) * 100) / 100;
};
rows['raised errors: counting each once, beyond those that are remembered'] = costBeyond();

const began = process.cpuUsage();
for (let at = 0; at < 20_000; at++) {
  const { type = '', message = '', stack = '' } = thrown[at % thrown.length] ?? {};
  computeFingerprint({ type, message, stack });
}
rows['fingerprints'] = Math.round(process.cpuUsage(began).user / 200) / 100;
console.log(JSON.stringify({ 'CPU-seconds a million': rows }, null, 2));
process.exit(0);
