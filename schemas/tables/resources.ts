import { attributes, identityKeySettings, nestedResourceValues } from './parts.ts';
import { defineTable } from './table.ts';

/**
 * Every distinct resource, once: telemetry rows contain its `resource_id` (64 bits of a hash of the sorted attributes),
 * so that resource attributes are neither stored nor indexed with each row.
 */
export const resourcesTable = defineTable({
  name: 'resources',
  summary: 'Resources, with first and last time',
  retention: 'longest',
  shardedBy: 'tenant',
  identity: 'resource_id',
  engine: 'AggregatingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    resource_id: 'UInt64',
    service: 'LowCardinality(String)',
    ...attributes,
    schema_url: 'LowCardinality(String)',
    dropped_attributes: 'UInt32',
    first_seen: "SimpleAggregateFunction(min, DateTime64(3, 'UTC'))",
    last_seen: "SimpleAggregateFunction(max, DateTime64(3, 'UTC'))",
    ...nestedResourceValues,
  },
  orderBy: ['tenant_id', 'resource_id'],
  settings: identityKeySettings,
});
