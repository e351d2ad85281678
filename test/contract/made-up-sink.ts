/** A derived topic and its table as a developer adds them. The scan threads of a test load this module. */
import { z } from 'zod';
import { landedPosition, ordinal, partitionByDayReceived } from '../../schemas/tables/parts.ts';
import { defineTable } from '../../schemas/tables/table.ts';
import { defineDerivedTopic, defineTopic } from '../../schemas/topic.ts';
import { defineValueSink } from '../../sinks/engine/land-values.ts';
import { sinks as real } from '../../sinks/registry.ts';

export const errorCounts = defineTopic({
  name: 'made-up-counts',
  summary: 'Errors of each service by minute',
  key: 'tenant',
  value: z.strictObject({
    tenantId: z.string(),
    minute: z.iso.datetime(),
    service: z.string().nullable(),
    errors: z.int(),
    rate: z.number(),
    examples: z.array(z.string()).default([]),
    labels: z.record(z.string(), z.string()).default({}),
    isNew: z.boolean(),
  }),
});

export const errorCountsTable = defineTable({
  name: 'made_up_counts',
  summary: 'Errors of each service by minute',
  retention: 'logs',
  columns: {
    tenant_id: 'LowCardinality(String)',
    minute: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    service: 'Nullable(String)',
    errors: 'UInt64',
    rate: 'Float64',
    examples: 'Array(String)',
    labels: 'Map(LowCardinality(String), String)',
    is_new: 'Bool',
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'minute'],
});

export const errorCountsSink = defineValueSink({
  topic: errorCounts,
  table: errorCountsTable,
  row: ({ tenantId, isNew, ...value }) => ({ ...value, tenant_id: tenantId, is_new: isNew }),
});

export const errorBursts = defineDerivedTopic({
  name: 'made-up-bursts',
  summary: 'Many errors at once',
  item: z.strictObject({ tenantId: z.string(), errors: z.array(z.int()) }),
});

export const errorBurstsTable = defineTable({
  name: 'made_up_bursts',
  summary: 'Many errors at once',
  retention: 'logs',
  columns: { tenant_id: 'LowCardinality(String)', error: 'UInt32', ...landedPosition, ...ordinal },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id'],
});

export const errorBurstsSink = defineValueSink({
  topic: errorBursts,
  table: errorBurstsTable,
  row: ({ tenantId, errors }) => errors.map((error) => ({ tenant_id: tenantId, error })),
});

export const sinks = [...real, errorCountsSink, errorBurstsSink];
