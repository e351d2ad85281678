import { landedPosition, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/**
 * Events of the platform (`schemas/events.ts`). A client's retry before the first row landed may duplicate an ID: reads
 * must deduplicate.
 */
export const eventsTable = defineTable({
  name: 'events',
  summary: 'Deployments, custom events, and events about alerts, anomalies, incidents and security signals',
  retention: 'longest',
  columns: {
    ...tenancy,
    ...landedPosition,
    id: 'String',
    kind: 'LowCardinality(String)',
    time: "DateTime64(3, 'UTC')",
    severity: 'LowCardinality(String)',
    title: 'String',
    text: 'String',
    service: 'LowCardinality(String)',
    environment: 'LowCardinality(String)',
    tags: 'Map(LowCardinality(String), String)',
    link: 'String',
    actor_type: 'LowCardinality(String)',
    actor_id: 'String',
    /** JSON. */
    details: 'String',
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'time', 'kind', 'id'],
});
