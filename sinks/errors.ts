import { errorGroupsTable, errorOccurrencesTable } from '../schemas/tables/errors.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

/** Stores each error occurrence, and the merged rows of the error groups. */
export const errorOccurrences = defineValueSink({
  topic: topics.errorOccurrences,
  table: errorOccurrencesTable,
  row: (occurrence) => ({
    tenant_id: occurrence.tenantId,
    project_id: occurrence.projectId,
    timestamp: occurrence.at,
    fingerprint: occurrence.fingerprint,
    source: occurrence.source,
    service: occurrence.service,
    environment: occurrence.environment,
    release: occurrence.release,
    type: occurrence.type,
    message: occurrence.message,
    stack: occurrence.stack,
    handled: occurrence.handled === null ? '' : String(occurrence.handled),
    user_id: occurrence.userId,
    tags: occurrence.tags,
    trace_id: occurrence.traceId,
    span_id: occurrence.spanId,
    record_id: occurrence.recordId,
  }),
  merging: {
    table: errorGroupsTable,
    row: (occurrence) => ({
      tenant_id: occurrence.tenantId,
      project_id: occurrence.projectId,
      fingerprint: occurrence.fingerprint,
      source: occurrence.source,
      service: occurrence.service,
      environment: occurrence.environment,
      release: occurrence.release,
      type: occurrence.type,
      message: occurrence.message,
      culprit: occurrence.culprit,
      components: JSON.stringify(occurrence.components),
      first_seen: occurrence.at,
      last_seen: occurrence.at,
    }),
    extremes: {
      getKey: ({ tenantId, projectId, fingerprint, source, service, environment, release }) =>
        [tenantId, projectId, fingerprint, source, service, environment, release].join('\n'),
      getTime: ({ at }) => at,
    },
  },
});
