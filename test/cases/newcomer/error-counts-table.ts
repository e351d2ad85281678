import { landedPosition, partitionByDayReceived } from '../../../schemas/tables/parts.ts';
import { defineTable } from '../../../schemas/tables/table.ts';

/** Several rows of a service and minute are summed: each shard of a tenant counts its own records. */
export const errorCountsTable = defineTable({
  name: 'newcomer_error_counts',
  summary: 'Error logs by service and minute',
  retention: 'logs',
  columns: {
    tenant_id: 'LowCardinality(String)',
    service: 'LowCardinality(String)',
    minute: "DateTime64(3, 'UTC')",
    errors: 'UInt64',
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'service', 'minute'],
});
