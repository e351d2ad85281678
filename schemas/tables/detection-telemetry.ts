import { byDayReceived, landed, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** Log sources and fields by day, as each partition saw them first: reads join rows of one log source. */
export const detectionTelemetryTable = defineTable({
  name: 'detection_telemetry',
  summary: 'Log sources and fields that detection rules could have asked for, by day',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landed,
    day: "DateTime('UTC')",
    products: 'Array(LowCardinality(String))',
    services: 'Array(LowCardinality(String))',
    categories: 'Array(LowCardinality(String))',
    knows_categories: 'Bool',
    fields: 'Array(String) CODEC(ZSTD(1))',
  },
  partitionBy: byDayReceived,
  orderBy: ['tenant_id', 'day'],
});
