import { spans } from '../../schemas/records/sources.ts';
import type { Span, SpanEvent } from '../../schemas/records/span.ts';
import { topics } from '../../schemas/topics.ts';
import { separateStack } from '../../subjects/errors/embedded-exceptions.ts';
import { maskMessage } from '../../subjects/errors/message.ts';
import { defineProcessor } from '../engine/definition.ts';
import { createAttributeReader, firstAttribute, type RaisedInput, type Read, toRaisedError } from './raised-error.ts';

const errorStatus = 2;
const kinds = ['', 'internal', 'server', 'client', 'producer', 'consumer'];

const spanEndNs = ({ timeNs, durationNs }: Span): bigint => timeNs + durationNs;

const toExceptionInput = (span: Span, { attributes, timeNs }: SpanEvent, read: Read): RaisedInput => {
  const eventAttributes = new Map<string, string>();
  for (const { key, text } of attributes) if (!eventAttributes.has(key)) eventAttributes.set(key, text);
  const escaped = eventAttributes.get('exception.escaped');
  return {
    source: 'span',
    recordId: '',
    parentSpanId: span.parentSpanId,
    isStatusOnly: false,
    type: eventAttributes.get('exception.type') ?? '',
    message: eventAttributes.get('exception.message') ?? '',
    stack: eventAttributes.get('exception.stacktrace') ?? '',
    handled: escaped === undefined ? null : escaped.toLowerCase() !== 'true',
    timeNs: timeNs === 0n ? spanEndNs(span) : timeNs,
    tags: { 'span.name': span.name },
    read: (name) => eventAttributes.get(name) ?? read(name),
  };
};

/** Returns `error.type`, or the status of the protocol. */
const readFailureType = (read: Read<string>): string => {
  const type = firstAttribute(read, ['error.type', 'exception.type']);
  if (type !== '' && !/^\d+$/.test(type)) return type;
  const httpStatus = firstAttribute(read, ['http.response.status_code', 'http.status_code']) || type;
  if (httpStatus !== '') return `HTTP ${httpStatus}`;
  const grpcStatus = firstAttribute(read, ['rpc.response.status_code', 'rpc.grpc.status_code']);
  return grpcStatus === '' ? '' : `gRPC ${grpcStatus}`;
};

const toStatusFailure = (span: Span): RaisedInput => {
  const read: Read<string> = (name) => span.getAttribute(name);
  return {
    source: 'span',
    recordId: '',
    parentSpanId: span.parentSpanId,
    isStatusOnly: true,
    handled: null,
    type: readFailureType(read),
    message: span.statusMessage,
    stack: '',
    operation: `${kinds[span.kind] ?? ''} ${firstAttribute(read, ['http.route']) || maskMessage(span.name)}`,
    timeNs: spanEndNs(span),
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
    const exceptions = span.getEventsNamed('exception');
    if (exceptions.length > 0) {
      const read = createAttributeReader(span);
      for (const event of exceptions)
        emit.raised(toRaisedError(span, separateStack(toExceptionInput(span, event, read))));
    } else if (span.statusCode === errorStatus) emit.raised(toRaisedError(span, separateStack(toStatusFailure(span))));
  },
});
