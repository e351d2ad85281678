/** Splits export requests that exceed the message size of the bus. */
import { getMessageNumber } from '../protobuf/messages.ts';
import { type SplitMessage, type SplittableMessage, splitMessage } from '../protobuf/split.ts';
import type { Signal } from '../telemetry-signals.ts';
import { otlpSchema } from './messages.ts';

const splittable = (
  name: string,
  fields: readonly (readonly [number, SplittableMessage | undefined])[],
): SplittableMessage => ({
  message: getMessageNumber(otlpSchema, name),
  fields: new Map(fields),
});

const pointsMessage = (name: string): SplittableMessage => splittable(name, [[1, undefined]]);

/** The points of a metric are distributed over several requests, each of which repeats its name, unit and temporality. */
const metricMessage = splittable('Metric', [
  [5, pointsMessage('Gauge')],
  [7, pointsMessage('Sum')],
  [9, pointsMessage('Histogram')],
  [10, pointsMessage('ExponentialHistogram')],
  [11, pointsMessage('Summary')],
]);

const requestMessage = (
  names: readonly [string, string, string],
  record: SplittableMessage | undefined,
): SplittableMessage => splittable(names[0], [[1, splittable(names[1], [[2, splittable(names[2], [[2, record]])]])]]);

const requestMessages: Readonly<Record<Signal, SplittableMessage>> = {
  logs: requestMessage(['LogsRequest', 'ResourceLogs', 'ScopeLogs'], undefined),
  metrics: requestMessage(['MetricsRequest', 'ResourceMetrics', 'ScopeMetrics'], metricMessage),
  traces: requestMessage(['TracesRequest', 'ResourceSpans', 'ScopeSpans'], undefined),
};

/**
 * Splits a request that passed `scanRequest` into valid requests of at most `maxBytes` each. Splits between resources,
 * scopes, records and the data points of a metric. The headers of resources and scopes are repeated, and the total
 * number of records is unchanged. Throws `PermanentError` (`record-too-large`) for a single record above the limit.
 */
export const splitRequest = (signal: Signal, body: Uint8Array, maxBytes: number): SplitMessage[] =>
  splitMessage(otlpSchema, requestMessages[signal], body, maxBytes);
