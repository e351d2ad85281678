/** Converts records on the bus to the format of stored records in answers. */
import type { Attribute } from '../../schemas/records/attributes.ts';
import type { LogRecord as LogView } from '../../schemas/records/log-record.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import type { Span as SpanView } from '../../schemas/records/span.ts';
import { type Attributes, attributesOf, restoredValue } from '../attributes.ts';
import { jsonAttributesOf } from '../instrumentation-scope.ts';
import { type Resource, resourceFieldsOf } from '../resources.ts';
import { type LogRecord, logId } from '../signals/log-record.ts';
import { type Span, spanKinds, spanStatuses } from '../signals/span-record.ts';
import { exact, formatTime } from '../time.ts';

const restored = (attributes: readonly Attribute[]): Attributes =>
  attributesOf(
    attributes.map(({ key }) => key),
    attributes.map(({ text }) => text),
    attributes.map(({ type }) => type).join(''),
  );

/** A resource without attributes has no row, and reads omit it. */
const resourceOf = ({ attributes, droppedAttributes, schemaUrl }: RecordView['resourceView']): Resource | undefined =>
  attributes.size === 0 ? undefined : { attributes: restored([...attributes.values()]), droppedAttributes, schemaUrl };

const sharedOf = ({ resourceView, scope, service, projectId }: RecordView) => ({
  service,
  projectId,
  ...resourceFieldsOf(resourceOf(resourceView)),
  scope: {
    name: scope.name,
    version: scope.version,
    attributes: jsonAttributesOf(scope.attributesJson),
    droppedAttributes: scope.droppedAttributes,
    schemaUrl: scope.schemaUrl,
  },
});

/** Returns the record as `GET /api/logs` returns it, including its id. */
export const logAnswer = (log: LogView): LogRecord => {
  const { partition, offset, ordinal } = log.place;
  const time = log.timeNs;
  return {
    id: logId({ time: String(time), partition: String(partition), offset: String(offset), ordinal: String(ordinal) }),
    timestamp: formatTime(time),
    observedTimestamp: formatTime(log.observedTimeNs),
    severity: log.severity || null,
    severityNumber: log.severityNumber,
    body: restoredValue(log.body, log.bodyType),
    eventName: log.eventName || null,
    attributes: restored(log.attributes),
    droppedAttributes: log.droppedAttributes,
    flags: log.flags,
    ...sharedOf(log),
    traceId: log.traceId || null,
    spanId: log.spanId || null,
    // Assigned later by matching, once patterns are stored.
    patternId: null,
  };
};

/** Returns the span as `GET /api/traces/{id}` returns it. */
export const spanAnswer = (span: SpanView): Span => ({
  traceId: span.traceId.padStart(32, '0'),
  spanId: span.spanId.padStart(16, '0'),
  parentSpanId: span.parentSpanId || null,
  name: span.name,
  kind: spanKinds[span.kind] ?? 'unspecified',
  startTime: formatTime(span.timeNs),
  durationNs: exact(String(span.durationNs)),
  status: spanStatuses[span.statusCode] ?? 'unset',
  statusMessage: span.statusMessage,
  traceState: span.traceState,
  flags: span.flags,
  attributes: restored(span.attributes),
  dropped: { attributes: span.droppedAttributes, events: span.droppedEvents, links: span.droppedLinks },
  ...sharedOf(span),
  events: span.events.map(({ timeNs, name, attributes, droppedAttributes }) => ({
    time: formatTime(timeNs),
    name,
    attributes: restored(attributes),
    droppedAttributes,
  })),
  links: span.links.map(({ traceId, spanId, traceState, flags, attributes, droppedAttributes }) => ({
    traceId: traceId.padStart(32, '0'),
    spanId: spanId.padStart(16, '0'),
    traceState,
    flags,
    attributes: restored(attributes),
    droppedAttributes,
  })),
});
