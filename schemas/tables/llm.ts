import { costDecimals } from '../llm-calls.ts';
import { identityKeySettings } from './parts.ts';
import { defineTable, type MaterializedView } from './table.ts';

const text = 'SimpleAggregateFunction(max, String) CODEC(ZSTD(1))';
const name = 'LowCardinality(String)';
const count = 'SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1))';
const flag = 'SimpleAggregateFunction(max, UInt8)';

/**
 * Calls of models and their verdicts, by span: rows merge, read with FINAL. Columns of a verdict are empty, and the
 * maximum of a column is its value. `nested` and `duplicate` are odd for a call that another span reports.
 */
export const llmCallsTable = defineTable({
  name: 'llm_calls',
  summary: 'Calls of language models, without messages',
  retention: 'traces',
  ageColumn: 'timestamp',
  engine: 'AggregatingMergeTree',
  columns: {
    tenant_id: name,
    timestamp: "DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1))",
    trace_id: 'String CODEC(ZSTD(1))',
    span_id: 'String CODEC(ZSTD(1))',
    project_id: text,
    kind: text,
    service: text,
    environment: text,
    operation: text,
    provider: text,
    model: text,
    request_model: text,
    response_id: text,
    conversation_id: text,
    agent: text,
    prompt: text,
    prompt_version: text,
    user_id: text,
    duration_ns: count,
    first_token_ns: count,
    is_streamed: flag,
    is_failed: flag,
    error_type: text,
    finish_reasons: text,
    input: count,
    cache_read: count,
    cache_write: count,
    cache_write_1h: count,
    input_audio: count,
    input_image: count,
    output: count,
    reasoning: count,
    output_audio: count,
    output_image: count,
    usage_problem: text,
    interpretation: text,
    cost_text: text,
    cost: `SimpleAggregateFunction(max, Decimal(38, ${costDecimals})) MATERIALIZED toDecimal128OrZero(cost_text, ${costDecimals}) CODEC(ZSTD(1))`,
    currency: text,
    price_problem: text,
    reported_cost: text,
    convention: text,
    scope_name: text,
    scope_version: text,
    /** JSON of the attributes. */
    attribute_json: text,
    nested: count,
    duplicate: count,
    received_at: "SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(Delta, ZSTD(1))",
  },
  partitionBy: 'toYYYYMMDD(timestamp)',
  primaryKey: ['tenant_id', 'toStartOfHour(timestamp)'],
  orderBy: ['tenant_id', 'toStartOfHour(timestamp)', 'timestamp', 'trace_id', 'span_id'],
  settings: identityKeySettings,
});

/** Prices of organizations, for queries: the newest version of each. Read with FINAL. */
export const llmPricesTable = defineTable({
  name: 'llm_prices',
  summary: 'Prices of models that organizations set',
  retention: 'never',
  engine: 'ReplacingMergeTree(version)',
  columns: {
    tenant_id: name,
    price_id: 'String',
    version: 'UInt64',
    /** JSON, as `toPriceRows` writes them. */
    rates: 'String CODEC(ZSTD(1))',
  },
  orderBy: ['tenant_id', 'price_id'],
});

/** Number of rows that were written to each hour of `llm_calls`. A view fills the table. Always use `sum`. */
export const llmHourChangesTable = defineTable({
  name: 'llm_hour_changes',
  summary: 'Number of writes of the model calls of an hour',
  retention: 'traces',
  ageColumn: 'hour',
  engine: 'AggregatingMergeTree',
  columns: {
    tenant_id: name,
    hour: "DateTime('UTC')",
    changes: 'SimpleAggregateFunction(sum, UInt64)',
    changed_at: "SimpleAggregateFunction(max, DateTime('UTC'))",
  },
  partitionBy: 'toYYYYMMDD(hour)',
  orderBy: ['tenant_id', 'hour'],
});

export const llmHourChangesView: MaterializedView = {
  name: 'llm_hour_changes_view',
  from: 'llm_calls',
  to: 'llm_hour_changes',
  select: `SELECT tenant_id, toDateTime(toStartOfHour(timestamp), 'UTC') AS hour, count() AS changes, now('UTC') AS changed_at
FROM llm_calls GROUP BY tenant_id, hour`,
  // A count above the actual number of changes only causes one more summation.
  backfillColumns: ['tenant_id', 'hour', 'changes', 'changed_at'],
};

const texts = 'Array(LowCardinality(String)) CODEC(ZSTD(1))';
const numbers = 'Array(UInt64) CODEC(T64, ZSTD(1))';
const amounts = `Array(Decimal(38, ${costDecimals})) CODEC(ZSTD(1))`;

/**
 * Sums of the calls of an hour, by group: the elements of the arrays with one index are a group. Read with FINAL, and
 * only if `changes` and `price_hash` are current (`subjects/llm/hours.ts`). On several shards, each one has the sums of
 * its calls.
 */
export const llmHoursTable = defineTable({
  name: 'llm_hours',
  summary: 'Sums of the model calls of an hour',
  retention: 'traces',
  ageColumn: 'hour',
  engine: 'ReplacingMergeTree(summed_at)',
  columns: {
    tenant_id: name,
    hour: "DateTime('UTC')",
    /** Changes of the hour before its calls were read. */
    changes: 'UInt64',
    /** Hash of the prices of the organization that apply in the hour; 0 if none does. */
    price_hash: 'UInt64',
    summed_at: "DateTime64(3, 'UTC')",
    /** 0 if there are too many groups to store. */
    is_complete: 'UInt8',
    project_id: texts,
    provider: texts,
    model: texts,
    is_failed: 'Array(UInt8) CODEC(ZSTD(1))',
    error_type: texts,
    usage_problem: texts,
    currency: texts,
    price_problem: texts,
    calls: numbers,
    input: numbers,
    cache_read: numbers,
    cache_write: numbers,
    cache_write_1h: numbers,
    input_audio: numbers,
    input_image: numbers,
    output: numbers,
    reasoning: numbers,
    output_audio: numbers,
    output_image: numbers,
    cost: amounts,
    reported_amount: amounts,
    /** Calls with a cost of the sender. */
    reporting: numbers,
    /** Nanoseconds since 1970 of the last call. */
    last_seen: 'Array(Int64) CODEC(ZSTD(1))',
    /** Histogram of durations (`durations.ts`). */
    duration_bucket: 'Array(Array(UInt16)) CODEC(ZSTD(1))',
    duration_count: 'Array(Array(UInt64)) CODEC(T64, ZSTD(1))',
    /** Agents, workflows and chains with tokens of their own in traces without calls. */
    containers:
      'Array(Tuple(trace_id String, project_id String, provider String, model String, is_failed UInt8, error_type String, usage_problem String)) CODEC(ZSTD(1))',
  },
  partitionBy: 'toYYYYMMDD(hour)',
  orderBy: ['tenant_id', 'hour'],
  settings: { index_granularity: 64 },
});
