import { landedPosition, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** Log sources and fields by day, when each partition first received them; reads merge the rows of one log source. */
export const detectionTelemetryTable = defineTable({
  name: 'detection_telemetry',
  summary: 'Log sources and fields available to detection rules, by day',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landedPosition,
    day: "DateTime('UTC')",
    products: 'Array(LowCardinality(String))',
    services: 'Array(LowCardinality(String))',
    categories: 'Array(LowCardinality(String))',
    knows_categories: 'Bool',
    fields: 'Array(String) CODEC(ZSTD(1))',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'day'],
});
