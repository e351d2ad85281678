/** Validates OTLP export requests before they are accepted. */
import { getMessageNumber } from '../protobuf/messages.ts';
import { WireScanner } from '../protobuf/scan.ts';
import { type SeparatedRequest, separateRecords } from '../protobuf/separate.ts';
import { findUnknownField } from '../protobuf/unknown-fields.ts';
import type { TimeRange } from '../readable-times.ts';
import type { Signal } from '../telemetry-signals.ts';
import { otlpSchema } from './messages.ts';
import { splittableRequests } from './split.ts';

const requestMessages: Readonly<Record<Signal, number>> = {
  logs: getMessageNumber(otlpSchema, 'LogsRequest'),
  metrics: getMessageNumber(otlpSchema, 'MetricsRequest'),
  traces: getMessageNumber(otlpSchema, 'TracesRequest'),
};

/**
 * Validates the wire bytes of an export request, and counts its log records, data points or spans. Any decoder can
 * decode a valid request. Throws `PermanentError` with the reason (`malformed`, `bad-utf8`, `bad-id`, `bad-time`,
 * `too-deep`; with `times` also those of `findTimeProblem`) and the byte position.
 */
export const scanRequest = (signal: Signal, body: Uint8Array, times?: TimeRange): { records: number } => {
  const scanner = new WireScanner(otlpSchema, body, times);
  scanner.scan(requestMessages[signal], 0, body.length);
  return { records: scanner.records };
};

/** Separates the records of a request that did not pass `scanRequest`: see `separateRecords`. */
export const separateRequest = (signal: Signal, body: Uint8Array, times?: TimeRange): SeparatedRequest | undefined => {
  const scanner = new WireScanner(otlpSchema, body, times);
  return separateRecords(splittableRequests[signal], body, {
    checkFields: (message, start, end) => scanner.scan(message, start, end),
  });
};

/** Returns the position of content that OTLP does not know, in a request without records: see `findUnknownField`. */
export const findUnknownContent = (signal: Signal, body: Uint8Array): number | undefined =>
  findUnknownField(otlpSchema, splittableRequests[signal], body);
