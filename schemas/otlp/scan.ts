/** Validates OTLP export requests before they are accepted. */
import { getMessageNumber } from '../protobuf/messages.ts';
import { WireScanner } from '../protobuf/scan.ts';
import type { Signal } from '../telemetry-signals.ts';
import { otlpSchema } from './messages.ts';

const requestMessages: Readonly<Record<Signal, number>> = {
  logs: getMessageNumber(otlpSchema, 'LogsRequest'),
  metrics: getMessageNumber(otlpSchema, 'MetricsRequest'),
  traces: getMessageNumber(otlpSchema, 'TracesRequest'),
};

/**
 * Validates the wire bytes of an export request, and counts its log records, data points or spans. Any decoder can
 * decode a valid request. Throws `PermanentError` with the reason (`malformed`, `bad-utf8`, `bad-id`, `too-deep`) and
 * the byte position.
 */
export const scanRequest = (signal: Signal, body: Uint8Array): { records: number } => {
  const scanner = new WireScanner(otlpSchema, body);
  scanner.scan(requestMessages[signal], 0, body.length);
  return { records: scanner.records };
};
