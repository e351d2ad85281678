/** Stores spans and logs of OTLP requests where a test's API reads them. */
import { landIn, logsRequest, messageOf, tracesRequest } from '../cases/sink-tables.ts';
import type { Harness } from './api-harness.ts';

export interface SentSpan {
  readonly trace: string;
  readonly span: string;
  readonly parent?: string;
  readonly service?: string;
  readonly name?: string;
  /** Nanoseconds since the epoch. */
  readonly start: bigint;
  readonly duration: bigint | number;
  readonly kind?: number;
  readonly status?: number;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly resource?: Readonly<Record<string, unknown>>;
  readonly scope?: Readonly<Record<string, unknown>>;
  readonly events?: readonly Readonly<Record<string, unknown>>[];
  readonly links?: readonly { readonly trace: string; readonly span: string; readonly attributes?: object }[];
}

const bytes = (hexadecimal: string | undefined): Uint8Array => Buffer.from(hexadecimal ?? '', 'hex');

const anyValueOf = (value: unknown): object => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (value instanceof Uint8Array) return { bytesValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};
const attributesOf = (values: object = {}): object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: anyValueOf(value) }));

const spanOf = (span: SentSpan): object => ({
  traceId: bytes(span.trace),
  spanId: bytes(span.span),
  parentSpanId: bytes(span.parent),
  name: span.name ?? '',
  kind: span.kind ?? 1,
  status: { code: span.status ?? 0 },
  attributes: attributesOf(span.attributes),
  startTimeUnixNano: String(span.start),
  endTimeUnixNano: String(span.start + BigInt(span.duration)),
  events: (span.events ?? []).map((event) => ({
    timeUnixNano: String(span.start),
    name: 'event',
    attributes: attributesOf(event),
  })),
  links: (span.links ?? []).map((link) => ({
    traceId: bytes(link.trace),
    spanId: bytes(link.span),
    attributes: attributesOf(link.attributes),
  })),
});

const grouped = <Item>(items: readonly Item[], keyOf: (item: Item) => object): Item[][] => [
  ...Map.groupBy(items, (item) => JSON.stringify(keyOf(item))).values(),
];

export interface Landed {
  spans(
    spans: readonly SentSpan[],
    options?: { readonly tenant?: string; readonly project?: string; readonly receivedAtMs?: number },
  ): Promise<void>;
  logs(
    logs: readonly { readonly trace: string; readonly span?: string; readonly time: bigint; readonly body: string }[],
    options?: { readonly tenant?: string },
  ): Promise<void>;
}

export const landedIn = (harness: Harness): Landed => {
  const land = landIn(harness.columns);
  let offset = 0;
  const message = (signal: 'logs' | 'traces', body: Uint8Array, tenantId: string, projectId: string, at: number) =>
    messageOf([body], {
      tenantId,
      projectId,
      signal,
      offset: ++offset,
      members: [{ length: body.length, size: body.length, records: 1, receivedAtMs: at, source: '', traceparent: '' }],
    });
  const checked = async (sink: 'logs' | 'traces', sent: ReturnType<typeof message>): Promise<void> => {
    const { rejected } = await land([sent], { sink });
    if (rejected.length > 0) throw new Error(`the sink refuses it: ${rejected[0]?.message}`);
  };
  return {
    async spans(spans, { tenant = 'a', project = 'p1', receivedAtMs = Date.now() - 1000 } = {}) {
      const resourceSpans = grouped(spans, ({ service, resource, scope }) => ({ service, resource, scope })).map(
        (group) => ({
          resource: {
            attributes: attributesOf({ 'service.name': group[0]?.service ?? 'shop', ...group[0]?.resource }),
          },
          scopeSpans: [
            {
              scope: {
                name: String(group[0]?.scope?.['name'] ?? ''),
                version: String(group[0]?.scope?.['version'] ?? ''),
                attributes: attributesOf(group[0]?.scope?.['attributes'] as object | undefined),
              },
              spans: group.map(spanOf),
            },
          ],
        }),
      );
      await checked('traces', message('traces', tracesRequest({ resourceSpans }), tenant, project, receivedAtMs));
    },
    async logs(logs, { tenant = 'a' } = {}) {
      const logRecords = logs.map(({ trace, span, time, body }) => ({
        traceId: bytes(trace),
        spanId: bytes(span),
        timeUnixNano: String(time),
        body: { stringValue: body },
      }));
      const body = logsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
      await checked('logs', message('logs', body, tenant, 'p1', Date.now() - 1000));
    },
  };
};
