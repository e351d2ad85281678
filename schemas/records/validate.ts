/** Validation that a request can be decoded completely. Views are lazy, so this precedes the first record. */
import { otlpSchema } from '../otlp/messages.ts';
import { getMessageNumber, messageAction, scanActions, type WireSchema } from '../protobuf/messages.ts';
import { WireScanner } from '../protobuf/scan.ts';
import type { Signal } from '../telemetry-signals.ts';

/**
 * Checks of admission that do not apply here: value ranges and UTF-8. An older version may have admitted other values,
 * which sinks store, so views must return them.
 */
const relaxedActions = new Map<number, number>([
  [scanActions.enum, scanActions.varint],
  [scanActions.milliseconds, scanActions.varint],
  [scanActions.nanoseconds, scanActions.fixed64],
  [scanActions.string, scanActions.bytes],
]);

/**
 * A schema whose scan refuses exactly what sinks refuse: lengths, IDs, depth, packed numbers. A field with a different
 * wire type is unknown.
 */
const relaxSchema = (schema: WireSchema): WireSchema => ({
  ...schema,
  skipsUnexpectedWireTypes: true,
  actions: schema.actions.map((step) => (step >= messageAction ? step : (relaxedActions.get(step) ?? step))),
});

const schema = relaxSchema(otlpSchema);
const requestMessages: Readonly<Record<Signal, number>> = {
  logs: getMessageNumber(schema, 'LogsRequest'),
  metrics: getMessageNumber(schema, 'MetricsRequest'),
  traces: getMessageNumber(schema, 'TracesRequest'),
};
const logMessages = {
  record: getMessageNumber(schema, 'LogRecord'),
  pair: getMessageNumber(schema, 'KeyValue'),
  value: getMessageNumber(schema, 'AnyValue'),
};

/** Throws a `PermanentError` for a request that a sink would refuse. */
export const checkRequest = (signal: Signal, body: Uint8Array): void => {
  new WireScanner(schema, body).scan(requestMessages[signal], 0, body.length);
};

/** The same schema without the log records, which its scan skips. */
const schemaWithoutRecords: WireSchema = {
  ...schema,
  actions: schema.actions.map((step) => (step === messageAction + logMessages.record ? scanActions.bytes : step)),
};

/**
 * Throws for a logs request that a sink would refuse, ignoring its records. Each record is validated when it is
 * located.
 */
export const checkLogsRequest = (body: Uint8Array): void => {
  new WireScanner(schemaWithoutRecords, body).scan(requestMessages.logs, 0, body.length);
};

/** Validates log records of a request, and parts of log records. */
export class LogChecks {
  readonly #scanner: WireScanner;

  constructor(body: Uint8Array) {
    this.#scanner = new WireScanner(schema, body);
  }

  checkRecord(start: number, end: number): void {
    this.#scanner.scan(logMessages.record, start, end);
  }

  /** An attribute. */
  checkAttribute(start: number, end: number): void {
    this.#scanner.scan(logMessages.pair, start, end);
  }

  /** A body. */
  checkValue(start: number, end: number): void {
    this.#scanner.scan(logMessages.value, start, end);
  }
}
