import { spans } from '../../schemas/records/sources.ts';
import type { Span, SpanEvent } from '../../schemas/records/span.ts';
import { topics } from '../../schemas/topics.ts';
import { maskedMessage } from '../../subjects/errors/message.ts';
import { defineProcessor } from '../engine/definition.ts';
import { firstOf, type RaisedInput, type Read, raisedOf, readingOf } from './raised.ts';

const failed = 2;
const kinds = ['', 'internal', 'server', 'client', 'producer', 'consumer'];

const endOf = ({ timeNs, durationNs }: Span): bigint => timeNs + durationNs;

const exceptionOf = (span: Span, { attributes, timeNs }: SpanEvent, read: Read): RaisedInput => {
  const own = new Map<string, string>();
  for (const { key, text } of attributes) if (!own.has(key)) own.set(key, text);
  const escaped = own.get('exception.escaped');
  return {
    source: 'span',
    recordId: '',
    parentSpanId: span.parentSpanId,
    isStatusOnly: false,
    type: own.get('exception.type') ?? '',
    message: own.get('exception.message') ?? '',
    stack: own.get('exception.stacktrace') ?? '',
    handled: escaped === undefined ? null : escaped.toLowerCase() !== 'true',
    timeNs: timeNs === 0n ? endOf(span) : timeNs,
    tags: { 'span.name': span.name },
    read: (name) => own.get(name) ?? read(name),
  };
};

/** Returns `error.type`, or the status of the protocol. */
const failureOf = (read: Read<string>): string => {
  const type = firstOf(read, ['error.type', 'exception.type']);
  if (type !== '' && !/^\d+$/.test(type)) return type;
  const http = firstOf(read, ['http.response.status_code', 'http.status_code']) || type;
  if (http !== '') return `HTTP ${http}`;
  const grpc = firstOf(read, ['rpc.response.status_code', 'rpc.grpc.status_code']);
  return grpc === '' ? '' : `gRPC ${grpc}`;
};

const failureWithout = (span: Span): RaisedInput => {
  const read: Read<string> = (name) => span.attribute(name);
  return {
    source: 'span',
    recordId: '',
    parentSpanId: span.parentSpanId,
    isStatusOnly: true,
    handled: null,
    type: failureOf(read),
    message: span.statusMessage,
    stack: '',
    operation: `${kinds[span.kind] ?? ''} ${firstOf(read, ['http.route']) || maskedMessage(span.name)}`,
    timeNs: endOf(span),
    tags: { 'span.name': span.name },
    read,
  };
};

/** Finds errors in spans: events named `exception`, and failed spans without one. */
export const spanErrors = defineProcessor({
  name: 'span-errors',
  summary: 'Finds exceptions and failures in spans, and computes their fingerprints.',
  reads: spans,
  emits: { raised: topics.raisedErrors },
  entitlement: 'traces',
  step(span, { emit }) {
    const exceptions = span.eventsNamed('exception');
    if (exceptions.length > 0) {
      const read = readingOf(span);
      for (const event of exceptions) emit.raised(raisedOf(span, exceptionOf(span, event, read)));
    } else if (span.statusCode === failed) emit.raised(raisedOf(span, failureWithout(span)));
  },
});
