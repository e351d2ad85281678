import { identityKeySettings, landedPosition, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/**
 * Log patterns: one row for each form in which a shard discovered a pattern in a service. Read with FINAL. `template`,
 * `sample` and `parameters` are the latest values of the shard.
 */
export const logPatternsTable = defineTable({
  name: 'log_patterns',
  summary: 'Patterns of log bodies, with the values of their variables',
  retention: 'logs',
  identity: 'pattern_id',
  engine: 'AggregatingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    service: 'LowCardinality(String)',
    /**
     * Hash of the structure. Patterns with different structures never match the same body, so the patterns of a body
     * are looked up by this hash.
     */
    structure: 'Int32',
    pattern_id: 'String',
    /** For each word and variable: hash of the word, 0 for a variable, 1 for a wildcard. */
    places: 'Array(Int32)',
    shard: 'UInt16',
    template: 'SimpleAggregateFunction(anyLast, String)',
    sample: 'SimpleAggregateFunction(anyLast, String)',
    /** JSON, `ParameterValues`. */
    parameters: 'SimpleAggregateFunction(anyLast, String)',
    first_seen: "SimpleAggregateFunction(min, DateTime64(3, 'UTC'))",
    last_seen: "SimpleAggregateFunction(max, DateTime64(3, 'UTC'))",
  },
  orderBy: ['tenant_id', 'service', 'structure', 'pattern_id', 'places', 'shard'],
  settings: identityKeySettings,
});

/** Records of each pattern by minute; always sum. An ID may have become an alias: `queries/logs/` resolves aliases. */
export const logPatternCountsTable = defineTable({
  name: 'log_pattern_counts',
  summary: 'Log records by minute, service, severity and pattern',
  retention: 'logs',
  columns: {
    ...tenancy,
    minute: "DateTime('UTC') CODEC(Delta, ZSTD(1))",
    service: 'LowCardinality(String)',
    pattern_id: 'LowCardinality(String)',
    severity: 'LowCardinality(String)',
    count: 'UInt64 CODEC(T64, ZSTD(1))',
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  primaryKey: ['tenant_id', 'toStartOfHour(minute)', 'service', 'pattern_id'],
  orderBy: ['tenant_id', 'toStartOfHour(minute)', 'service', 'pattern_id', 'minute'],
});
