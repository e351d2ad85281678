/** Log records and spans in OTLP/JSON. */

export type AttributeValue = string | number | boolean | undefined;
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface LogRecord {
  readonly eventName: string;
  readonly timeMs: number;
  readonly severityNumber?: number | undefined;
  readonly attributes: Attributes;
}

export interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly hasFailed: boolean;
  readonly attributes: Attributes;
}

const toAnyValue = (value: string | number | boolean): object => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

const toKeyValues = (attributes: Attributes): object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === '' || Number.isNaN(value) ? [] : [{ key, value: toAnyValue(value) }],
  );

/** Nanoseconds exceed the exact integers of JavaScript. */
const toNanoseconds = (ms: number): string => `${Math.round(ms * 1_000)}000`;

export const toLogsBody = (resource: Attributes, scope: object, records: readonly LogRecord[]): object => ({
  resourceLogs: [
    {
      resource: { attributes: toKeyValues(resource) },
      scopeLogs: [
        {
          scope,
          logRecords: records.map(({ eventName, timeMs, severityNumber = 9, attributes }) => ({
            timeUnixNano: toNanoseconds(timeMs),
            severityNumber,
            eventName,
            attributes: toKeyValues(attributes),
          })),
        },
      ],
    },
  ],
});

export const toTracesBody = (resource: Attributes, scope: object, spans: readonly Span[]): object => ({
  resourceSpans: [
    {
      resource: { attributes: toKeyValues(resource) },
      scopeSpans: [
        {
          scope,
          spans: spans.map(({ name, traceId, spanId, startMs, endMs, hasFailed, attributes }) => ({
            traceId,
            spanId,
            name,
            kind: 3,
            startTimeUnixNano: toNanoseconds(startMs),
            endTimeUnixNano: toNanoseconds(endMs),
            status: hasFailed ? { code: 2 } : {},
            attributes: toKeyValues(attributes),
          })),
        },
      ],
    },
  ],
});
