/** Converts records from the bus to the format in which the API returns stored records. */
import type { Attribute } from '../../schemas/records/attributes.ts';
import type { LogRecord as LogView } from '../../schemas/records/log-record.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import type { Span as SpanView } from '../../schemas/records/span.ts';
import { type Attributes, decodeAttributes, decodeValue } from '../attributes.ts';
import { parseJsonAttributes } from '../instrumentation-scope.ts';
import { type Resource, toResourceFields } from '../resources.ts';
import { formatLogId, type LogRecord } from '../signals/log-record.ts';
import { type Span, spanKinds, spanStatuses } from '../signals/span-record.ts';
import { formatTime, toExactNumberOrText } from '../time.ts';

const decodeAttributeViews = (attributes: readonly Attribute[]): Attributes =>
  decodeAttributes(
    attributes.map(({ key }) => key),
    attributes.map(({ text }) => text),
    attributes.map(({ type }) => type).join(''),
  );

/** Returns the resource of a record; undefined without attributes, because such a resource is not stored either. */
const toResource = ({ attributes, droppedAttributes, schemaUrl }: RecordView['resourceView']): Resource | undefined =>
  attributes.size === 0
    ? undefined
    : { attributes: decodeAttributeViews([...attributes.values()]), droppedAttributes, schemaUrl };

const toSharedFields = ({ resourceView, scope, service, projectId }: RecordView) => ({
  service,
  projectId,
  ...toResourceFields(toResource(resourceView)),
  scope: {
    name: scope.name,
    version: scope.version,
    attributes: parseJsonAttributes(scope.attributesJson),
    droppedAttributes: scope.droppedAttributes,
    schemaUrl: scope.schemaUrl,
  },
});

/** Returns the record as `GET /api/logs` returns it, including its id. */
export const toLogRecord = (log: LogView): LogRecord => {
  const { partition, offset, ordinal } = log.location;
  const time = log.timeNs;
  return {
    id: formatLogId({
      time: String(time),
      partition: String(partition),
      offset: String(offset),
      ordinal: String(ordinal),
    }),
    timestamp: formatTime(time),
    observedTimestamp: formatTime(log.observedTimeNs),
    severity: log.severity || null,
    severityNumber: log.severityNumber,
    body: decodeValue(log.body, log.bodyType),
    eventName: log.eventName || null,
    attributes: decodeAttributeViews(log.attributes),
    droppedAttributes: log.droppedAttributes,
    flags: log.flags,
    ...toSharedFields(log),
    traceId: log.traceId || null,
    spanId: log.spanId || null,
    // Not known yet, because patterns are assigned when records are stored.
    patternId: null,
  };
};

/** Returns the span as `GET /api/traces/{id}` returns it. */
export const toSpanRecord = (span: SpanView): Span => ({
  traceId: span.traceId.padStart(32, '0'),
  spanId: span.spanId.padStart(16, '0'),
  parentSpanId: span.parentSpanId || null,
  name: span.name,
  kind: spanKinds[span.kind] ?? 'unspecified',
  startTime: formatTime(span.timeNs),
  durationNs: toExactNumberOrText(String(span.durationNs)),
  status: spanStatuses[span.statusCode] ?? 'unset',
  statusMessage: span.statusMessage,
  traceState: span.traceState,
  flags: span.flags,
  attributes: decodeAttributeViews(span.attributes),
  dropped: { attributes: span.droppedAttributes, events: span.droppedEvents, links: span.droppedLinks },
  ...toSharedFields(span),
  events: span.events.map(({ timeNs, name, attributes, droppedAttributes }) => ({
    time: formatTime(timeNs),
    name,
    attributes: decodeAttributeViews(attributes),
    droppedAttributes,
  })),
  links: span.links.map(({ traceId, spanId, traceState, flags, attributes, droppedAttributes }) => ({
    traceId: traceId.padStart(32, '0'),
    spanId: spanId.padStart(16, '0'),
    traceState,
    flags,
    attributes: decodeAttributeViews(attributes),
    droppedAttributes,
  })),
});
