/** Splits export requests that exceed the message size of the bus. */
import { messageNumber } from '../protobuf/messages.ts';
import { type Cuttable, type Piece, splitMessage } from '../protobuf/split.ts';
import type { Signal } from '../telemetry-signals.ts';
import { otlpSchema } from './messages.ts';

const cuttable = (name: string, fields: readonly (readonly [number, Cuttable | undefined])[]): Cuttable => ({
  message: messageNumber(otlpSchema, name),
  fields: new Map(fields),
});

const points = (name: string): Cuttable => cuttable(name, [[1, undefined]]);

/** The points of a metric are distributed over pieces that each repeat its name, unit and temporality. */
const metric = cuttable('Metric', [
  [5, points('Gauge')],
  [7, points('Sum')],
  [9, points('Histogram')],
  [10, points('ExponentialHistogram')],
  [11, points('Summary')],
]);

const request = (names: readonly [string, string, string], record: Cuttable | undefined): Cuttable =>
  cuttable(names[0], [[1, cuttable(names[1], [[2, cuttable(names[2], [[2, record]])]])]]);

const requests: Readonly<Record<Signal, Cuttable>> = {
  logs: request(['LogsRequest', 'ResourceLogs', 'ScopeLogs'], undefined),
  metrics: request(['MetricsRequest', 'ResourceMetrics', 'ScopeMetrics'], metric),
  traces: request(['TracesRequest', 'ResourceSpans', 'ScopeSpans'], undefined),
};

/**
 * Splits a request that passed `scanRequest` into valid requests of at most `maxBytes` each. Splits between resources,
 * scopes, records and the data points of a metric. The headers of resources and scopes are repeated, and the total
 * number of records is unchanged. Throws `PermanentError` (`record-too-large`) for a single record above the limit.
 */
export const splitRequest = (signal: Signal, body: Uint8Array, maxBytes: number): Piece[] =>
  splitMessage(otlpSchema, requests[signal], body, maxBytes);
