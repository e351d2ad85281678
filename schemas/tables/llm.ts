import { costDecimals } from '../llm-calls.ts';
import { identityKeySettings } from './parts.ts';
import { defineTable } from './table.ts';

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
