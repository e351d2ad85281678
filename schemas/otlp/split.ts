/** Splits export requests that exceed the message size of the bus. */
import { getMessageNumber } from '../protobuf/messages.ts';
import { type SplitMessage, type SplittableMessage, splitMessage } from '../protobuf/split.ts';
import type { Signal } from '../telemetry-signals.ts';
import { otlpSchema } from './messages.ts';

const createSplittableMessage = (
  name: string,
  fields: readonly (readonly [number, SplittableMessage | undefined])[],
): SplittableMessage => ({
  message: getMessageNumber(otlpSchema, name),
  fields: new Map(fields),
});

const createPointsMessage = (name: string): SplittableMessage => createSplittableMessage(name, [[1, undefined]]);

/** The points of a metric are distributed over several requests, each of which repeats its name, unit and temporality. */
const metricMessage = createSplittableMessage('Metric', [
  [5, createPointsMessage('Gauge')],
  [7, createPointsMessage('Sum')],
  [9, createPointsMessage('Histogram')],
  [10, createPointsMessage('ExponentialHistogram')],
  [11, createPointsMessage('Summary')],
]);

const createRequestMessage = (
  names: readonly [string, string, string],
  record: SplittableMessage | undefined,
): SplittableMessage =>
  createSplittableMessage(names[0], [
    [1, createSplittableMessage(names[1], [[2, createSplittableMessage(names[2], [[2, record]])]])],
  ]);

/** The messages around the records of each telemetry signal. */
export const splittableRequests: Readonly<Record<Signal, SplittableMessage>> = {
  logs: createRequestMessage(['LogsRequest', 'ResourceLogs', 'ScopeLogs'], undefined),
  metrics: createRequestMessage(['MetricsRequest', 'ResourceMetrics', 'ScopeMetrics'], metricMessage),
  traces: createRequestMessage(['TracesRequest', 'ResourceSpans', 'ScopeSpans'], undefined),
};

/**
 * Splits a request that passed `scanRequest` into valid requests of at most `maxBytes` each. Splits between resources,
 * scopes, records and the data points of a metric. The headers of resources and scopes are repeated, and the total
 * number of records is unchanged. Throws `PermanentError` (`record-too-large`) for a single record above the limit.
 */
export const splitRequest = (signal: Signal, body: Uint8Array, maxBytes: number): SplitMessage[] =>
  splitMessage(otlpSchema, splittableRequests[signal], body, maxBytes);
