import {
  attributes,
  frequentInsertSettings,
  nanosecondType,
  ordinal,
  origin,
  partitionByDayReceived,
  scope,
  tenancy,
} from './parts.ts';
import { attributeIndex, resourceIndex, timeIndex, traceIndexes } from './search.ts';
import { defineTable } from './table.ts';

/** The sorting key does not end with the exact time, as in `logs`. */
const sortingKey = ['tenant_id', 'toStartOfTenMinutes(timestamp)', 'service', 'name'] as const;

/** One row per span, with its events and links. */
export const spansTable = defineTable({
  name: 'spans',
  summary: 'Spans with events and links',
  retention: 'traces',
  shardedBy: 'tenant',
  columns: {
    ...tenancy,
    ...origin,
    ...ordinal,
    /** Start time of the span. */
    timestamp: nanosecondType,
    /** Nanoseconds; 0 if the end is before the start. */
    duration: 'UInt64 CODEC(T64, ZSTD(1))',
    service: 'LowCardinality(String)',
    resource_id: 'UInt64',
    ...scope,
    trace_id: 'FixedString(16)',
    span_id: 'FixedString(8)',
    parent_span_id: 'FixedString(8)',
    trace_state: 'String',
    flags: 'UInt32',
    name: 'LowCardinality(String)',
    /** OTLP span kind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
    kind: 'UInt8',
    /** OTLP status code: 0 unset, 1 ok, 2 error. */
    status_code: 'UInt8',
    status_message: 'String',
    ...attributes,
    dropped_attributes: 'UInt32',
    event_timestamps: "Array(DateTime64(9, 'UTC'))",
    event_names: 'Array(LowCardinality(String))',
    event_attributes: 'Array(Map(LowCardinality(String), String))',
    event_attribute_types: 'Array(LowCardinality(String))',
    /** Empty if all are 0, like those of links and the link flags. */
    event_dropped_attributes: 'Array(UInt32)',
    dropped_events: 'UInt32',
    link_trace_ids: 'Array(FixedString(16))',
    link_span_ids: 'Array(FixedString(8))',
    link_trace_states: 'Array(String)',
    link_attributes: 'Array(Map(LowCardinality(String), String))',
    link_attribute_types: 'Array(LowCardinality(String))',
    link_dropped_attributes: 'Array(UInt32)',
    link_flags: 'Array(UInt32)',
    dropped_links: 'UInt32',
  },
  partitionBy: partitionByDayReceived,
  primaryKey: sortingKey,
  orderBy: sortingKey,
  indexes: {
    ...attributeIndex,
    ...traceIndexes,
    duration_range: 'duration TYPE minmax GRANULARITY 1',
    ...resourceIndex,
    ...timeIndex,
  },
  settings: frequentInsertSettings,
});
