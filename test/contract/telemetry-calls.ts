/** A database that an organization calls, one of its statements, and a flow, each with a unique name. */
import type { Harness } from '../end-to-end/api-harness.ts';

const offset = 79;

export const seedCalls = async ({ columns }: Harness, tenant: string, canary: string): Promise<void> => {
  await columns.execute(
    `INSERT INTO service_edges (tenant_id, project_id, server_project_id, received_at, minute, connection, client, client_kind, server, server_kind, system, requests, timed, duration_sum, duration_max, duration_buckets) VALUES
      ('${tenant}', 'default', 'default', now64(3), toStartOfMinute(now()), 'query', '${canary}', 'service', '${canary}', 'database', '${canary}', 1, 1, 1000, 1000, map(79, 1))`,
  );
  await columns.execute(
    `INSERT INTO spans (tenant_id, project_id, received_at, offset, timestamp, duration, service, trace_id, span_id, name, kind, attributes, attribute_types) VALUES
      ('${tenant}', 'default', now64(3), ${offset}, now64(9) - 5, 1000, '${canary}', unhex('${'f'.repeat(32)}'), unhex('${'f'.repeat(16)}'), '${canary}', 3, map('db.system.name', '${canary}', 'db.query.text', 'SELECT * FROM ${canary.replaceAll('-', '_')}'), 'ss')`,
  );
  await columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, offset, timestamp, observed_timestamp, service, body, body_type, attributes, attribute_types) VALUES
      ('${tenant}', 'default', now64(3), ${offset}, now64(9) - 5, now64(9), '${canary}', '${canary} flow', 's', map('network.flow.type', 'ipfix', 'source.address', '${canary}', 'destination.address', '${canary}', 'network.io.bytes', '7'), 'ssss')`,
  );
};
