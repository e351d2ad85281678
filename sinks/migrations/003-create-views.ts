/**
 * Adds requests by minute from spans, and the inventory from resources. The inventory includes existing resources:
 * first and last seen are a minimum and a maximum, so that a repetition is harmless. Requests are counted from now
 * on, because a backfill by two concurrent migrations would double the sums.
 */
import type { Migration } from './migration.ts';

const tables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS span_metrics
  (
    tenant_id LowCardinality(String),
    project_id LowCardinality(String),
    day Date,
    minute DateTime('UTC'),
    service LowCardinality(String),
    endpoint LowCardinality(String),
    kind UInt8,
    requests SimpleAggregateFunction(sum, UInt64),
    errors SimpleAggregateFunction(sum, UInt64),
    duration_sum SimpleAggregateFunction(sum, UInt64),
    duration_max SimpleAggregateFunction(max, UInt64),
    duration_buckets SimpleAggregateFunction(sumMap, Map(UInt16, UInt64))
  )
  ENGINE = AggregatingMergeTree
  PARTITION BY day
  PRIMARY KEY (tenant_id, toStartOfHour(minute), service, endpoint, kind)
  ORDER BY (tenant_id, toStartOfHour(minute), service, endpoint, kind, minute, project_id, day)
  SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1`,
  `CREATE TABLE IF NOT EXISTS entities
  (
    tenant_id LowCardinality(String),
    kind LowCardinality(String),
    id String,
    name String,
    resource_id UInt64,
    first_seen SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_seen SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
  )
  ENGINE = AggregatingMergeTree
  ORDER BY (tenant_id, kind, id, resource_id)
  SETTINGS non_replicated_deduplication_window = 10000, allow_dimensions_outside_sorting_key = 1`,
];

const spanMetrics = `SELECT tenant_id, project_id, toDate(received_at) AS day, toDateTime(toStartOfMinute(timestamp), 'UTC') AS minute,
  service, if(attributes['http.route'] = '', name, attributes['http.route']) AS endpoint, kind,
  count() AS requests, countIf(status_code = 2) AS errors, sum(duration) AS duration_sum, max(duration) AS duration_max,
  sumMap(map(toUInt16(floor(log2(duration + 1) * 8)), toUInt64(1))) AS duration_buckets
FROM spans WHERE kind != 1 OR parent_span_id = toFixedString('', 8)
GROUP BY tenant_id, project_id, day, minute, service, endpoint, kind`;

const entities = `SELECT tenant_id, entity.1 AS kind, entity.2 AS id, entity.3 AS name, resource_id, first_seen, last_seen
FROM resources
ARRAY JOIN arrayFilter(candidate -> candidate.2 != '', [('service', if(attributes['service.namespace'] = '' OR coalesce(nullIf(attributes['service.name'], ''), '') = '', coalesce(nullIf(attributes['service.name'], ''), ''), concat(attributes['service.namespace'], '/', coalesce(nullIf(attributes['service.name'], ''), ''))), coalesce(nullIf(attributes['service.name'], ''), nullIf(attributes['service.name'], ''), '')),
  ('host', coalesce(nullIf(attributes['host.id'], ''), nullIf(attributes['host.name'], ''), ''), coalesce(nullIf(attributes['host.name'], ''), nullIf(attributes['host.id'], ''), nullIf(attributes['host.name'], ''), '')),
  ('pod', if(attributes['k8s.namespace.name'] = '' OR coalesce(nullIf(attributes['k8s.pod.uid'], ''), nullIf(attributes['k8s.pod.name'], ''), '') = '', coalesce(nullIf(attributes['k8s.pod.uid'], ''), nullIf(attributes['k8s.pod.name'], ''), ''), concat(attributes['k8s.namespace.name'], '/', coalesce(nullIf(attributes['k8s.pod.uid'], ''), nullIf(attributes['k8s.pod.name'], ''), ''))), coalesce(nullIf(attributes['k8s.pod.name'], ''), nullIf(attributes['k8s.pod.uid'], ''), nullIf(attributes['k8s.pod.name'], ''), '')),
  ('container', coalesce(nullIf(attributes['container.id'], ''), ''), coalesce(nullIf(attributes['container.name'], ''), nullIf(attributes['k8s.container.name'], ''), nullIf(attributes['container.id'], ''), '')),
  ('process', if(attributes['host.name'] = '' OR coalesce(nullIf(attributes['process.pid'], ''), '') = '', coalesce(nullIf(attributes['process.pid'], ''), ''), concat(attributes['host.name'], '/', coalesce(nullIf(attributes['process.pid'], ''), ''))), coalesce(nullIf(attributes['process.executable.name'], ''), nullIf(attributes['process.command'], ''), nullIf(attributes['process.pid'], ''), '')),
  ('node', coalesce(nullIf(attributes['k8s.node.uid'], ''), nullIf(attributes['k8s.node.name'], ''), ''), coalesce(nullIf(attributes['k8s.node.name'], ''), nullIf(attributes['k8s.node.uid'], ''), nullIf(attributes['k8s.node.name'], ''), '')),
  ('namespace', if(attributes['k8s.cluster.name'] = '' OR coalesce(nullIf(attributes['k8s.namespace.name'], ''), '') = '', coalesce(nullIf(attributes['k8s.namespace.name'], ''), ''), concat(attributes['k8s.cluster.name'], '/', coalesce(nullIf(attributes['k8s.namespace.name'], ''), ''))), coalesce(nullIf(attributes['k8s.namespace.name'], ''), nullIf(attributes['k8s.namespace.name'], ''), '')),
  ('cluster', coalesce(nullIf(attributes['k8s.cluster.uid'], ''), nullIf(attributes['k8s.cluster.name'], ''), ''), coalesce(nullIf(attributes['k8s.cluster.name'], ''), nullIf(attributes['k8s.cluster.uid'], ''), nullIf(attributes['k8s.cluster.name'], ''), '')),
  ('deployment', if(attributes['k8s.namespace.name'] = '' OR coalesce(nullIf(attributes['k8s.deployment.uid'], ''), nullIf(attributes['k8s.deployment.name'], ''), '') = '', coalesce(nullIf(attributes['k8s.deployment.uid'], ''), nullIf(attributes['k8s.deployment.name'], ''), ''), concat(attributes['k8s.namespace.name'], '/', coalesce(nullIf(attributes['k8s.deployment.uid'], ''), nullIf(attributes['k8s.deployment.name'], ''), ''))), coalesce(nullIf(attributes['k8s.deployment.name'], ''), nullIf(attributes['k8s.deployment.uid'], ''), nullIf(attributes['k8s.deployment.name'], ''), '')),
  ('statefulset', if(attributes['k8s.namespace.name'] = '' OR coalesce(nullIf(attributes['k8s.statefulset.uid'], ''), nullIf(attributes['k8s.statefulset.name'], ''), '') = '', coalesce(nullIf(attributes['k8s.statefulset.uid'], ''), nullIf(attributes['k8s.statefulset.name'], ''), ''), concat(attributes['k8s.namespace.name'], '/', coalesce(nullIf(attributes['k8s.statefulset.uid'], ''), nullIf(attributes['k8s.statefulset.name'], ''), ''))), coalesce(nullIf(attributes['k8s.statefulset.name'], ''), nullIf(attributes['k8s.statefulset.uid'], ''), nullIf(attributes['k8s.statefulset.name'], ''), '')),
  ('daemonset', if(attributes['k8s.namespace.name'] = '' OR coalesce(nullIf(attributes['k8s.daemonset.uid'], ''), nullIf(attributes['k8s.daemonset.name'], ''), '') = '', coalesce(nullIf(attributes['k8s.daemonset.uid'], ''), nullIf(attributes['k8s.daemonset.name'], ''), ''), concat(attributes['k8s.namespace.name'], '/', coalesce(nullIf(attributes['k8s.daemonset.uid'], ''), nullIf(attributes['k8s.daemonset.name'], ''), ''))), coalesce(nullIf(attributes['k8s.daemonset.name'], ''), nullIf(attributes['k8s.daemonset.uid'], ''), nullIf(attributes['k8s.daemonset.name'], ''), '')),
  ('cronjob', if(attributes['k8s.namespace.name'] = '' OR coalesce(nullIf(attributes['k8s.cronjob.uid'], ''), nullIf(attributes['k8s.cronjob.name'], ''), '') = '', coalesce(nullIf(attributes['k8s.cronjob.uid'], ''), nullIf(attributes['k8s.cronjob.name'], ''), ''), concat(attributes['k8s.namespace.name'], '/', coalesce(nullIf(attributes['k8s.cronjob.uid'], ''), nullIf(attributes['k8s.cronjob.name'], ''), ''))), coalesce(nullIf(attributes['k8s.cronjob.name'], ''), nullIf(attributes['k8s.cronjob.uid'], ''), nullIf(attributes['k8s.cronjob.name'], ''), '')),
  ('job', if(attributes['k8s.namespace.name'] = '' OR coalesce(nullIf(attributes['k8s.job.uid'], ''), nullIf(attributes['k8s.job.name'], ''), '') = '', coalesce(nullIf(attributes['k8s.job.uid'], ''), nullIf(attributes['k8s.job.name'], ''), ''), concat(attributes['k8s.namespace.name'], '/', coalesce(nullIf(attributes['k8s.job.uid'], ''), nullIf(attributes['k8s.job.name'], ''), ''))), coalesce(nullIf(attributes['k8s.job.name'], ''), nullIf(attributes['k8s.job.uid'], ''), nullIf(attributes['k8s.job.name'], ''), '')),
  ('function', coalesce(nullIf(attributes['faas.instance'], ''), nullIf(attributes['faas.name'], ''), ''), coalesce(nullIf(attributes['faas.name'], ''), nullIf(attributes['faas.instance'], ''), nullIf(attributes['faas.name'], ''), ''))]) AS entity`;

export const createViews: Migration = {
  id: 3,
  name: 'create views',
  async up(columns) {
    for (const table of tables) await columns.execute(table);
    await columns.execute(`CREATE MATERIALIZED VIEW IF NOT EXISTS span_metrics_view TO span_metrics AS ${spanMetrics}`);
    await columns.execute(`CREATE MATERIALIZED VIEW IF NOT EXISTS entities_view TO entities AS ${entities}`);
    await columns.execute(
      `INSERT INTO entities (tenant_id, kind, id, name, resource_id, first_seen, last_seen) ${entities}`,
    );
  },
};
