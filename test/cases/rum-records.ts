/** Records as browser SDKs send them, and the events that the processors derive from them. */
import { rumLogEvents } from '../../processors/rum/log-events.ts';
import { rumEvents } from '../../processors/rum/rum-events.ts';
import { rumSpanEvents } from '../../processors/rum/span-events.ts';
import type { RumEvent } from '../../schemas/rum.ts';
import { type From, firstMs, TaskRun } from './run-task.ts';

type Value = string | number | boolean;
const toAttributes = (attributes: Readonly<Record<string, Value>>): object[] =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === 'string'
        ? { stringValue: value }
        : typeof value === 'number'
          ? { doubleValue: value }
          : { boolValue: value },
  }));

const chrome =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
export const browserResource = {
  'service.name': 'shop-web',
  'service.version': '1.4.0',
  'telemetry.sdk.language': 'webjs',
  'user_agent.original': chrome,
};

const toNs = (timeMs: number): string => `${timeMs}000000`;

export interface LogInput {
  readonly event?: string;
  readonly attributes?: Readonly<Record<string, Value>>;
  readonly body?: string;
  readonly atMs?: number;
}
const toLog = ({ event = '', attributes = {}, body, atMs = 0 }: LogInput, startMs: number): object => ({
  timeUnixNano: toNs(startMs + atMs),
  eventName: event,
  attributes: toAttributes(attributes),
  ...(body !== undefined && { body: { stringValue: body } }),
});

export interface SpanInput {
  readonly span: string;
  /** Whether the span has a parent. */
  readonly isChild?: boolean;
  readonly attributes?: Readonly<Record<string, Value>>;
  readonly durationMs?: number;
  readonly atMs?: number;
  readonly events?: readonly { name: string; atMs: number; attributes?: Readonly<Record<string, Value>> }[];
}
const toSpan = (
  { span, isChild = false, attributes = {}, durationMs = 0, atMs = 0, events = [] }: SpanInput,
  startMs: number,
): object => ({
  traceId: Buffer.from('0af7651916cd43dd8448eb211c80319c', 'hex'),
  spanId: Buffer.from('b7ad6b7169203331', 'hex'),
  ...(isChild && { parentSpanId: Buffer.from('00f067aa0ba902b7', 'hex') }),
  name: span,
  startTimeUnixNano: toNs(startMs + atMs),
  endTimeUnixNano: toNs(startMs + atMs + durationMs),
  attributes: toAttributes(attributes),
  events: events.map((event) => ({
    name: event.name,
    timeUnixNano: toNs(startMs + event.atMs),
    attributes: toAttributes(event.attributes ?? {}),
  })),
});

export const readReports = (
  records: readonly (LogInput | SpanInput)[],
  resource: Readonly<Record<string, string>> = browserResource,
  from: From = {},
): RumEvent[] =>
  records.flatMap((record) => {
    const startMs = from.atMs ?? firstMs;
    const run = new TaskRun('span' in record ? rumSpanEvents : rumLogEvents);
    if ('span' in record) run.spans([toSpan(record, startMs)], resource, from);
    else run.logs([toLog(record, startMs)], resource, from);
    return run.emitted<RumEvent>();
  });

/** Returns the events of records, with their views and pages. */
export const readEvents = (
  records: readonly (LogInput | SpanInput)[],
  resource?: Readonly<Record<string, string>>,
  from: From = {},
): RumEvent[] => {
  const run = new TaskRun(rumEvents);
  run.values(readReports(records, resource, from), from);
  return run.emitted<RumEvent>();
};
