import { byDayReceived, identityDecides, landed, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/**
 * What patterns there are: one row for each form in which a shard found a pattern in a service. Read with FINAL. `template`, `sample` and
 * `parameters` are the last that the shard said.
 */
export const logPatternsTable = defineTable({
  name: 'log_patterns',
  summary: 'Patterns of log bodies, with what their variables took',
  retention: 'logs',
  identity: 'pattern_id',
  engine: 'AggregatingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    service: 'LowCardinality(String)',
    /** Patterns of different structure have no body in common: those of a body are found by it. */
    structure: 'Int32',
    pattern_id: 'String',
    /** Of each word and variable: hash of the word, 0 for a variable, 1 for whatever stands there. */
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
  settings: identityDecides,
});

/** Records of each pattern by minute; always sums. An id may be an alias today: `queries/logs/` knows which. */
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
    ...landed,
  },
  partitionBy: byDayReceived,
  primaryKey: ['tenant_id', 'toStartOfHour(minute)', 'service', 'pattern_id'],
  orderBy: ['tenant_id', 'toStartOfHour(minute)', 'service', 'pattern_id', 'minute'],
});
