import { z } from 'zod';
import { Attributes, decodeAttributes } from '../attributes.ts';
import { InstrumentationScope, type ScopeRow, scopeColumns, toInstrumentationScope } from '../instrumentation-scope.ts';
import { type Resource, resourceFields, toResourceFields } from '../resources.ts';
import { formatTime, toExactNumberOrText } from '../time.ts';

/** Names of OTLP's span kinds and status codes, by number. */
export const spanKinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
export const spanStatuses = ['unset', 'ok', 'error'] as const;

/** A span in responses. */
export const Span = z.strictObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().nullable(),
  name: z.string(),
  kind: z.enum(spanKinds),
  service: z.string(),
  startTime: z.string(),
  durationNs: z.union([z.int(), z.string()]).describe('A decimal string if beyond 2^53'),
  status: z.enum(spanStatuses),
  statusMessage: z.string(),
  traceState: z.string(),
  flags: z.int().describe('Trace flags (W3C, OTLP)'),
  attributes: Attributes,
  dropped: z
    .strictObject({ attributes: z.int(), events: z.int(), links: z.int() })
    .describe('Number of each dropped by the sender'),
  ...resourceFields,
  scope: InstrumentationScope,
  events: z.array(
    z.strictObject({ time: z.string(), name: z.string(), attributes: Attributes, droppedAttributes: z.int() }),
  ),
  links: z.array(
    z.strictObject({
      traceId: z.string(),
      spanId: z.string(),
      traceState: z.string(),
      flags: z.int().describe('Trace flags (W3C, OTLP)'),
      attributes: Attributes,
      droppedAttributes: z.int(),
    }),
  ),
  projectId: z.string(),
});
export type Span = z.output<typeof Span>;

export interface SpanRow extends ScopeRow {
  readonly trace: string;
  readonly span: string;
  readonly parent: string;
  readonly name: string;
  readonly kind: number;
  readonly service: string;
  readonly start: string;
  readonly lasted: string;
  readonly status_code: number;
  readonly status_message: string;
  readonly trace_state: string;
  readonly flags: number;
  readonly dropped_attributes: number;
  readonly dropped_events: number;
  readonly dropped_links: number;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly types: string;
  readonly resource: string;
  readonly event_times: readonly string[];
  readonly event_names: readonly string[];
  readonly event_keys: readonly (readonly string[])[];
  readonly event_values: readonly (readonly string[])[];
  readonly event_types: readonly string[];
  /** Empty if all are 0; the same applies to the next two properties of links. */
  readonly event_dropped: readonly number[];
  readonly link_traces: readonly string[];
  readonly link_spans: readonly string[];
  readonly link_states: readonly string[];
  readonly link_keys: readonly (readonly string[])[];
  readonly link_values: readonly (readonly string[])[];
  readonly link_types: readonly string[];
  readonly link_dropped: readonly number[];
  readonly link_flags: readonly number[];
  readonly project_id: string;
}

export const spanColumns = `lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span, lower(hex(parent_span_id)) AS parent, name, kind,
  service, toString(toUnixTimestamp64Nano(timestamp)) AS start, toString(duration) AS lasted, status_code, status_message, trace_state,
  flags, dropped_attributes, dropped_events, dropped_links,
  mapKeys(attributes) AS keys, mapValues(attributes) AS values, attribute_types AS types, toString(resource_id) AS resource, ${scopeColumns},
  arrayMap(x -> toString(toUnixTimestamp64Nano(x)), event_timestamps) AS event_times, event_names,
  arrayMap(x -> mapKeys(x), event_attributes) AS event_keys, arrayMap(x -> mapValues(x), event_attributes) AS event_values,
  event_attribute_types AS event_types, event_dropped_attributes AS event_dropped, arrayMap(x -> lower(hex(x)), link_trace_ids) AS link_traces, arrayMap(x -> lower(hex(x)), link_span_ids) AS link_spans,
  link_trace_states AS link_states, arrayMap(x -> mapKeys(x), link_attributes) AS link_keys, arrayMap(x -> mapValues(x), link_attributes) AS link_values,
  link_attribute_types AS link_types, link_dropped_attributes AS link_dropped, link_flags, project_id`;

export const toSpan = (row: SpanRow, resource: Resource | undefined): Span => ({
  traceId: row.trace,
  spanId: row.span,
  parentSpanId: /^0*$/.test(row.parent) ? null : row.parent,
  name: row.name,
  kind: spanKinds[row.kind] ?? 'unspecified',
  service: row.service,
  startTime: formatTime(BigInt(row.start)),
  durationNs: toExactNumberOrText(row.lasted),
  status: spanStatuses[row.status_code] ?? 'unset',
  statusMessage: row.status_message,
  traceState: row.trace_state,
  flags: row.flags,
  attributes: decodeAttributes(row.keys, row.values, row.types),
  dropped: { attributes: row.dropped_attributes, events: row.dropped_events, links: row.dropped_links },
  ...toResourceFields(resource),
  scope: toInstrumentationScope(row),
  events: row.event_times.map((time, index) => ({
    time: formatTime(BigInt(time)),
    name: row.event_names[index] ?? '',
    attributes: decodeAttributes(
      row.event_keys[index] ?? [],
      row.event_values[index] ?? [],
      row.event_types[index] ?? '',
    ),
    droppedAttributes: row.event_dropped[index] ?? 0,
  })),
  links: row.link_traces.map((traceId, at) => ({
    traceId,
    spanId: row.link_spans[at] ?? '',
    traceState: row.link_states[at] ?? '',
    flags: row.link_flags[at] ?? 0,
    attributes: decodeAttributes(row.link_keys[at] ?? [], row.link_values[at] ?? [], row.link_types[at] ?? ''),
    droppedAttributes: row.link_dropped[at] ?? 0,
  })),
  projectId: row.project_id,
});
