/**
 * Preserves data of a series that is received after its first row when rows merge, and adds a table of metric metadata.
 * The table includes the data of existing series rows. Data that merges lost is restored within an hour.
 */
import type { Migration } from './migration.ts';

const stringType = 'LowCardinality(String)';
const declaredColumns = 'tenant_id, project_id, metric, source, kind, monotonic, unit, description';
const selectFromSeries = `SELECT ${declaredColumns}, max(series.last_seen) AS last_seen
FROM series WHERE kind != 'unknown' OR description != ''
GROUP BY ${declaredColumns}`;

const changes: readonly string[] = [
  `ALTER TABLE series MODIFY COLUMN kind SimpleAggregateFunction(min, ${stringType}), MODIFY COLUMN temporality SimpleAggregateFunction(max, UInt8),
  MODIFY COLUMN monotonic SimpleAggregateFunction(max, Bool), MODIFY COLUMN unit SimpleAggregateFunction(max, ${stringType}),
  MODIFY COLUMN description SimpleAggregateFunction(max, ${stringType})`,
  `CREATE TABLE IF NOT EXISTS metric_metadata
  (
    tenant_id ${stringType},
    project_id ${stringType},
    metric ${stringType},
    source ${stringType},
    kind ${stringType},
    monotonic Bool,
    unit ${stringType},
    description String,
    last_seen SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
  )
  ENGINE = AggregatingMergeTree
  ORDER BY (tenant_id, metric, project_id, source, kind, monotonic, unit, description)
  SETTINGS non_replicated_deduplication_window = 10000`,
  `CREATE MATERIALIZED VIEW IF NOT EXISTS metric_metadata_view TO metric_metadata AS ${selectFromSeries}`,
  // Idempotent: the last time is a maximum.
  `INSERT INTO metric_metadata (${declaredColumns}, last_seen) ${selectFromSeries}`,
];

export const storeLaterMetadata: Migration = {
  id: 17,
  name: 'keep later metadata',
  async up(columns) {
    for (const change of changes) await columns.execute(change);
  },
};
