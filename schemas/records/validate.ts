/** Validates that a request can be decoded completely. Views are lazy, so this happens before the first record is read. */
import { otlpSchema } from '../otlp/messages.ts';
import { getMessageNumber, identifiedFlag, messageAction, scanActions, type WireSchema } from '../protobuf/messages.ts';
import { WireScanner } from '../protobuf/scan.ts';
import type { Signal } from '../telemetry-signals.ts';

/**
 * Checks by receivers that do not apply here: value ranges and UTF-8. An older version may have accepted other
 * values, which sinks store, so views must return them.
 */
const relaxedActions = new Map<number, number>([
  [scanActions.enum, scanActions.varint],
  [scanActions.milliseconds, scanActions.varint],
  [scanActions.recordMilliseconds, scanActions.varint],
  [scanActions.nanoseconds, scanActions.fixed64],
  [scanActions.recordNanoseconds, scanActions.fixed64],
  [scanActions.fallbackNanoseconds, scanActions.fixed64],
  [scanActions.requiredTraceId, scanActions.traceId],
  [scanActions.requiredSpanId, scanActions.spanId],
  [scanActions.string, scanActions.bytes],
]);

/**
 * A schema whose scan rejects exactly what sinks reject: lengths, IDs, depth, packed numbers. A field with a different
 * wire type is unknown.
 */
const relaxSchema = (schema: WireSchema): WireSchema => ({
  ...schema,
  skipsUnexpectedWireTypes: true,
  flags: schema.flags.map((flags) => flags & ~identifiedFlag),
  actions: schema.actions.map((action) => (action >= messageAction ? action : (relaxedActions.get(action) ?? action))),
});

const relaxedSchema = relaxSchema(otlpSchema);
const requestMessages: Readonly<Record<Signal, number>> = {
  logs: getMessageNumber(relaxedSchema, 'LogsRequest'),
  metrics: getMessageNumber(relaxedSchema, 'MetricsRequest'),
  traces: getMessageNumber(relaxedSchema, 'TracesRequest'),
};
const logMessages = {
  record: getMessageNumber(relaxedSchema, 'LogRecord'),
  pair: getMessageNumber(relaxedSchema, 'KeyValue'),
  value: getMessageNumber(relaxedSchema, 'AnyValue'),
};

/** Throws a `PermanentError` for a request that a sink would reject. */
export const validateRequest = (signal: Signal, body: Uint8Array): void => {
  new WireScanner(relaxedSchema, body).scan(requestMessages[signal], 0, body.length);
};

/** The same schema without the log records, which its scan skips. */
const schemaWithoutRecords: WireSchema = {
  ...relaxedSchema,
  actions: relaxedSchema.actions.map((action) =>
    action === messageAction + logMessages.record ? scanActions.bytes : action,
  ),
};

/**
 * Throws for a logs request that a sink would reject, ignoring its records. Each record is validated when it is
 * located.
 */
export const validateLogsRequest = (body: Uint8Array): void => {
  new WireScanner(schemaWithoutRecords, body).scan(requestMessages.logs, 0, body.length);
};

/** Validates log records of a request, and parts of log records. */
export class LogValidator {
  readonly #scanner: WireScanner;

  constructor(body: Uint8Array) {
    this.#scanner = new WireScanner(relaxedSchema, body);
  }

  validateRecord(start: number, end: number): void {
    this.#scanner.scan(logMessages.record, start, end);
  }

  /** An attribute. */
  validateAttribute(start: number, end: number): void {
    this.#scanner.scan(logMessages.pair, start, end);
  }

  /** A body. */
  validateValue(start: number, end: number): void {
    this.#scanner.scan(logMessages.value, start, end);
  }
}
