/** Encodes `google.rpc.Status` and OTLP's partial success by hand: a few fields need no library. */
import type { Signal } from '../../schemas/telemetry-signals.ts';
import type { PartialRejection } from './ingestion.ts';

const encodeVarint = (value: number): number[] => {
  const bytes: number[] = [];
  let remaining = value;
  while (remaining > 127) {
    bytes.push((remaining % 128) | 128);
    remaining = Math.floor(remaining / 128);
  }
  bytes.push(remaining);
  return bytes;
};

const encodeLengthDelimited = (field: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(field << 3) | 2, ...encodeVarint(bytes.length)]), bytes]);

/** `google.rpc.RetryInfo` in a `google.protobuf.Any`. */
const encodeRetryDetail = (seconds: number): Buffer => {
  const duration = Buffer.from([1 << 3, ...encodeVarint(Math.max(0, Math.ceil(seconds)))]);
  return Buffer.concat([
    encodeLengthDelimited(1, Buffer.from('type.googleapis.com/google.rpc.RetryInfo')),
    encodeLengthDelimited(2, encodeLengthDelimited(1, duration)),
  ]);
};

const badRequestType = 'type.googleapis.com/google.rpc.BadRequest';

/** `google.rpc.BadRequest` in a `google.protobuf.Any`, with one violation. */
const encodeBadRequestDetail = (description: string): Buffer =>
  Buffer.concat([
    encodeLengthDelimited(1, Buffer.from(badRequestType)),
    encodeLengthDelimited(2, encodeLengthDelimited(1, encodeLengthDelimited(2, Buffer.from(description)))),
  ]);

/** Encodes code, message and an optional retry delay. */
export const encodeStatus = (code: number, message: string, retryAfterSeconds?: number): Buffer => {
  const parts = [Buffer.from([1 << 3, ...encodeVarint(code)]), encodeLengthDelimited(2, Buffer.from(message))];
  if (retryAfterSeconds !== undefined) parts.push(encodeLengthDelimited(3, encodeRetryDetail(retryAfterSeconds)));
  return Buffer.concat(parts);
};

/** Encodes the status of a request that can never succeed, with the error as its detail. */
export const encodeBadRequest = (code: number, message: string): Buffer =>
  Buffer.concat([encodeStatus(code, message), encodeLengthDelimited(3, encodeBadRequestDetail(message))]);

/** Returns the same status as JSON. */
export const formatBadRequest = (code: number, message: string): string =>
  JSON.stringify({
    code,
    message,
    details: [{ '@type': badRequestType, fieldViolations: [{ description: message }] }],
  });

/** Encodes an OTLP response with `partial_success`, which is equal for all signals. */
export const encodePartialSuccess = ({ records, message }: PartialRejection): Buffer => {
  const count = records > 0 ? Buffer.from([1 << 3, ...encodeVarint(records)]) : Buffer.alloc(0);
  return encodeLengthDelimited(1, Buffer.concat([count, encodeLengthDelimited(2, Buffer.from(message))]));
};

const rejectedNames: Readonly<Record<Signal, string>> = {
  logs: 'rejectedLogRecords',
  metrics: 'rejectedDataPoints',
  traces: 'rejectedSpans',
};

/** Returns the same response as OTLP/JSON, in which a 64-bit integer is a string. */
export const formatPartialSuccess = (signal: Signal, { records, message }: PartialRejection): string =>
  JSON.stringify({ partialSuccess: { [rejectedNames[signal]]: String(records), errorMessage: message } });
