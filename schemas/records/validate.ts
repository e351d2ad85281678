/** Validation that a request can be decoded completely. Views are lazy, so this precedes the first record. */
import { otlpSchema } from '../otlp/messages.ts';
import { action, messageAction, messageNumber, type WireSchema } from '../protobuf/messages.ts';
import { WireScanner } from '../protobuf/scan.ts';
import type { Signal } from '../telemetry-signals.ts';

/**
 * Admission checks the range of fixed-width values. Sinks store values that an older version admitted, so views show
 * them.
 */
const laxer = new Map<number, number>([
  [action.enum, action.varint],
  [action.milliseconds, action.varint],
  [action.nanoseconds, action.fixed64],
  [action.string, action.bytes],
]);

/**
 * A schema whose scan refuses exactly what sinks refuse: lengths, IDs, depth, packed numbers. A field with a different
 * wire type is unknown.
 */
const relaxed = (schema: WireSchema): WireSchema => ({
  ...schema,
  skipsForeign: true,
  actions: schema.actions.map((step) => (step >= messageAction ? step : (laxer.get(step) ?? step))),
});

const schema = relaxed(otlpSchema);
const requests: Readonly<Record<Signal, number>> = {
  logs: messageNumber(schema, 'LogsRequest'),
  metrics: messageNumber(schema, 'MetricsRequest'),
  traces: messageNumber(schema, 'TracesRequest'),
};
const logs = {
  record: messageNumber(schema, 'LogRecord'),
  pair: messageNumber(schema, 'KeyValue'),
  value: messageNumber(schema, 'AnyValue'),
};

/** Throws a `PermanentError` for a request that a sink would refuse. */
export const checkRequest = (signal: Signal, body: Uint8Array): void => {
  new WireScanner(schema, body).scan(requests[signal], 0, body.length);
};

/** The same schema without the log records, which its scan skips. */
const around: WireSchema = {
  ...schema,
  actions: schema.actions.map((step) => (step === messageAction + logs.record ? action.bytes : step)),
};

/**
 * Throws for a logs request that a sink would refuse, ignoring its records. Each record is validated when it is
 * located.
 */
export const checkAroundLogs = (body: Uint8Array): void => {
  new WireScanner(around, body).scan(requests.logs, 0, body.length);
};

/** Validates log records of a request, and parts of log records. */
export class LogChecks {
  readonly #scanner: WireScanner;

  constructor(body: Uint8Array) {
    this.#scanner = new WireScanner(schema, body);
  }

  record(start: number, end: number): void {
    this.#scanner.scan(logs.record, start, end);
  }

  /** An attribute. */
  pair(start: number, end: number): void {
    this.#scanner.scan(logs.pair, start, end);
  }

  /** A body. */
  value(start: number, end: number): void {
    this.#scanner.scan(logs.value, start, end);
  }
}
