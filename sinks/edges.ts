import { serviceEdgesTable } from '../schemas/tables/edges.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

/** Calls between services by minute. */
export const serviceEdges = defineValueSink({
  topic: topics.serviceEdges,
  table: serviceEdgesTable,
  row: (edge) => ({
    tenant_id: edge.tenantId,
    project_id: edge.projectId,
    server_project_id: edge.serverProjectId,
    minute: edge.minute,
    connection: edge.connection,
    client: edge.client,
    client_kind: edge.clientKind,
    client_environment: edge.clientEnvironment,
    server: edge.server,
    server_kind: edge.serverKind,
    server_environment: edge.serverEnvironment,
    system: edge.system,
    address: edge.address,
    via: edge.via,
    requests: edge.requests,
    errors: edge.errors,
    timed: edge.timed,
    duration_sum: edge.durationSum,
    duration_max: edge.durationMax,
    duration_buckets: edge.durationBuckets,
    server_duration_sum: edge.serverDurationSum,
    unpaired: edge.unpaired,
  }),
});
