/**
 * Calls of models as a data source: each call once, with the price of its organization if there is one for its time,
 * or else with the cost that was computed on arrival.
 */
import { costDecimals, inputKinds, outputKinds, type TokenKind, tokenKinds } from '../../schemas/llm-calls.ts';
import { priceCurrencies } from '../../schemas/resources/llm-price.ts';
import { buildBucketSql } from '../../schemas/tables/durations.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import type { llmCallsTable } from '../../schemas/tables/llm.ts';
import { defineSourceFields, type FieldDefinition, selectComputed } from './source-fields.ts';

type Column = keyof (typeof llmCallsTable)['columns'];

/** Columns of the numbers of tokens. */
export const tokenColumns: Readonly<Record<TokenKind, Column>> = {
  input: 'input',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
  inputAudio: 'input_audio',
  inputImage: 'input_image',
  output: 'output',
  reasoning: 'reasoning',
  outputAudio: 'output_audio',
  outputImage: 'output_image',
};
const sumColumns = (kinds: readonly TokenKind[]): string => `(${kinds.map((kind) => tokenColumns[kind]).join(' + ')})`;
export const inputTokensSql = sumColumns(inputKinds);
export const outputTokensSql = sumColumns(outputKinds);

const plainColumns = [
  ...['tenant_id', 'timestamp', 'trace_id', 'span_id', 'project_id', 'kind', 'service', 'environment', 'operation'],
  ...['provider', 'model', 'request_model', 'response_id', 'conversation_id', 'agent', 'prompt', 'prompt_version'],
  ...['user_id', 'duration_ns', 'first_token_ns', 'is_streamed', 'is_failed', 'error_type', 'finish_reasons'],
  ...['usage_problem', 'interpretation', 'reported_cost', 'convention', 'scope_name', 'scope_version', 'received_at'],
  ...Object.values(tokenColumns),
] as const;

/** Type of the prices of organizations: `toPriceRows` writes them. Bounds of input tokens: above, and up to. */
const priceType =
  'Array(Tuple(provider String, match UInt8, text String, valid_from Int64, valid_to Int64, above Int64, up_to Int64, currency String, rates Array(String), rank UInt32, price_id String))';

/** Returns the prices in an array of JSON texts, in order of precedence. */
const buildOwnPricesSql = (texts: string): string =>
  `arraySort(price -> (price.rank, price.price_id), arrayFlatten(arrayMap(text -> JSONExtract(text, ${quoteString(priceType)}), ${texts})))`;

/** SQL of the prices of the tenant. */
export const ownPricesSql = `(SELECT ${buildOwnPricesSql('groupArray(rates)')} FROM llm_prices FINAL WHERE tenant_id = {tenant:String})`;

/** Returns the same SQL for known texts: the stored ones may be on another server. */
export const buildKnownPricesSql = (texts: readonly string[]): string =>
  buildOwnPricesSql(`[${texts.map(quoteString).join(', ')}]::Array(String)`);

const nameMatches = (name: string): string =>
  `multiIf(price.match = 0, ${name} = price.text, price.match = 1, startsWith(${name}, price.text), position(${name}, price.text) > 0)`;

const pricedSql = `(price -> (price.provider = '' OR price.provider = provider)
    AND (${nameMatches('lower(model)')} OR ${nameMatches('lower(request_model)')})
    AND price.valid_from <= toUnixTimestamp64Nano(timestamp) AND toUnixTimestamp64Nano(timestamp) < price.valid_to
    AND ${inputTokensSql} > price.above AND ${inputTokensSql} <= price.up_to)`;

const ownCostSql = `arraySum(arrayMap((count, rate) -> toDecimal128(count, 0) * toDecimal128(rate, ${costDecimals}), [${Object.values(tokenColumns).join(', ')}], own_price.rates))`;

/**
 * Selects the value by the price of the organization, or else the other one. Without any such price, the engine removes
 * the comparison when it plans the statement, which is most of the cost of a read.
 */
const selectPrice = (own: string, other: string): string =>
  `if(empty(own_prices), ${other}, if(has_own_price, ${own}, ${other}))`;

/** Columns that are computed from others. Only those named in a statement are read. */
const derivedColumns: Readonly<Record<string, string>> = {
  own_price: `if(empty(own_prices), own_prices[1], arrayFirst(${pricedSql}, own_prices))`,
  has_own_price: "notEmpty(own_prices) AND own_price.price_id != '' AND usage_problem = ''",
  cost: selectPrice(ownCostSql, `if(llm_calls.price_problem = '', llm_calls.cost, toDecimal128(0, ${costDecimals}))`),
  currency: selectPrice('own_price.currency', "if(llm_calls.price_problem = '', llm_calls.currency, '')"),
  price_problem: selectPrice("''", 'llm_calls.price_problem'),
  price_source: selectPrice(
    "concat('organization:', own_price.price_id)",
    "if(llm_calls.price_problem = '', 'table', '')",
  ),
  is_nested: 'nested % 2',
  not_counted: 'nested % 2 = 1 OR duplicate % 2 = 1',
  partition: 'toUInt16(0)',
  offset: 'cityHash64(trace_id, span_id)',
  ordinal: 'toUInt32(0)',
  body: "concat(model, ' ', request_model, ' ', provider, ' ', operation, ' ', service, ' ', agent, ' ', prompt, ' ', error_type)",
  attributes: "if(attribute_json = '', map(), JSONExtract(attribute_json, 'Map(String, String)'))",
  attribute_types: "repeat('s', length(attributes))",
  calls: 'toUInt64(1)',
  reported_amount: `toDecimal128OrZero(reported_cost, ${costDecimals})`,
  reporting: "toUInt64(reported_cost != '')",
  last_seen: 'toUnixTimestamp64Nano(timestamp)',
  duration_bucket: `[${buildBucketSql('duration_ns')}]`,
  duration_count: '[toUInt64(1)]',
  scope_attributes: "''",
  resource_id: 'toUInt64(0)',
};

/** Whose spans are read, and with which prices: SQL of each. */
export interface SpanSelection {
  readonly tenant: string;
  /** Condition on `llm_calls.timestamp`. */
  readonly range: string;
  readonly ownPrices: string;
}

const requestedRangeSql =
  "llm_calls.timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND llm_calls.timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')";

/** Spans of the tenant from `{from:Int64}` to `{to:Int64}`, in nanoseconds. */
export const requestedSpans: SpanSelection = {
  tenant: '{tenant:String}',
  range: requestedRangeSql,
  ownPrices: ownPricesSql,
};

/** Columns that depend on the prices of the organization. */
const pricedColumns = ['own_price', 'has_own_price', 'cost', 'currency', 'price_problem', 'price_source'];

/** Returns a FROM clause: the selected spans that match a condition, with the named columns or all of them. */
const buildSource = (
  { table = 'llm_calls FINAL', condition }: { readonly table?: string; readonly condition: string },
  { tenant, range, ownPrices }: SpanSelection = requestedSpans,
  names?: readonly string[],
): string => {
  const isSelected = (column: string): boolean => names === undefined || names.includes(column);
  const isPriced = pricedColumns.some(isSelected);
  const computed = Object.entries(derivedColumns).filter(
    ([column]) => isSelected(column) || (isPriced && pricedColumns.includes(column)),
  );
  const selection = [
    ...plainColumns.filter(isSelected).map((column) => `llm_calls.${column} AS ${column}`),
    selectComputed(Object.fromEntries(computed)),
  ];
  return `(
  ${isPriced ? `WITH ${ownPrices} AS own_prices` : ''}
  SELECT ${selection.filter((text) => text !== '').join(', ')}
  FROM ${table}
  WHERE tenant_id = ${tenant}
    AND ${range}
    AND ${condition}) AS llm_calls`;
};

/** Returns the source of calls that count. */
export const buildCallsSource = (selection?: SpanSelection, names?: readonly string[]): string =>
  buildSource({ condition: "llm_calls.kind = 'call' AND nested % 2 = 0 AND duplicate % 2 = 0" }, selection, names);
export const llmCallsSource = buildCallsSource();

/**
 * Returns the source of agents, workflows and chains with tokens of their own. Only one row of a span has a kind, and all
 * fields beside verdicts, so rows need no merging; a row that was written again is there twice.
 */
export const buildContainersSource = (selection?: SpanSelection, names?: readonly string[]): string =>
  buildSource({ table: 'llm_calls', condition: "llm_calls.kind = 'container'" }, selection, names);
export const llmContainersSource = buildContainersSource();

/**
 * Returns a SELECT of the traces that have calls that count, among those in a set. As few spans match, their rows are
 * merged here, which reads less than FINAL. On a cluster, the server cannot make a nested `IN` global itself.
 */
export const selectTracesWithCalls = (traces: string, { tenant, range }: SpanSelection = requestedSpans): string =>
  `SELECT trace_id FROM (
    SELECT trace_id, max(kind) AS merged_kind, max(nested) AS merged_nested, max(duplicate) AS merged_duplicate
    FROM llm_calls WHERE tenant_id = ${tenant} AND ${range} AND trace_id GLOBAL IN (${traces})
    GROUP BY timestamp, trace_id, span_id)
  WHERE merged_kind = 'call' AND merged_nested % 2 = 0 AND merged_duplicate % 2 = 0`;

/** All spans with tokens, also those that do not count. */
export const llmSpansSource = buildSource({ condition: "llm_calls.kind != ''" });

const tokenFields = Object.fromEntries(
  tokenKinds.map((kind): [string, FieldDefinition] => [
    `tokens.${kind}`,
    ['number', tokenColumns[kind], `Tokens of the kind ${kind}`],
  ]),
);

const costFields = Object.fromEntries(
  priceCurrencies.map((currency): [string, FieldDefinition] => [
    `cost.${currency}`,
    [
      'number',
      `if(currency = '${currency}', toNullable(toFloat64(cost)), NULL)`,
      `Cost of calls that are priced in ${currency}`,
      currency === 'USD' ? { aliases: ['cost'] } : {},
    ],
  ]),
);

/** SQL of tokens per second after the first token; NULL if it was not measured. */
export const tokensPerSecondSql = `if(first_token_ns > 0 AND duration_ns > first_token_ns AND ${outputTokensSql} > 0, ${outputTokensSql} / ((duration_ns - first_token_ns) / 1e9), NULL)`;

export const callIdSql = "concat(toString(toUnixTimestamp64Nano(timestamp)), '-', trace_id, '-', span_id)";

const fieldDefinitions: Readonly<Record<string, FieldDefinition>> = {
  timestamp: ['time', 'toUnixTimestamp64Nano(timestamp)', 'Start of the call', { column: 'timestamp' }],
  id: ['text', callIdSql, 'Id of the request'],
  service: ['text', 'service', 'Service that called the model', { aliases: ['service.name'] }],
  environment: ['text', 'environment', 'Deployment environment of the service'],
  operation: ['text', 'operation', 'Operation, such as chat or embeddings'],
  provider: ['text', 'provider', 'Provider of the model', { aliases: ['gen_ai.provider.name', 'gen_ai.system'] }],
  model: ['text', 'model', 'Model that responded, or else the requested one', { aliases: ['gen_ai.response.model'] }],
  requestModel: ['text', 'request_model', 'Requested model', { aliases: ['gen_ai.request.model'] }],
  responseId: ['text', 'response_id', 'Id of the response', { aliases: ['gen_ai.response.id'] }],
  conversationId: ['text', 'conversation_id', 'Conversation', { aliases: ['conversation', 'gen_ai.conversation.id'] }],
  agent: ['text', 'agent', 'Agent', { aliases: ['gen_ai.agent.name'] }],
  prompt: ['text', 'prompt', 'Name of the prompt', { aliases: ['gen_ai.prompt.name'] }],
  promptVersion: ['text', 'prompt_version', 'Version of the prompt'],
  userId: ['text', 'user_id', 'User', { aliases: ['user', 'user.id', 'enduser.id'] }],
  duration: ['duration', 'duration_ns', 'Duration of the call'],
  timeToFirstToken: ['duration', 'nullIf(first_token_ns, 0)', 'Time to the first token of a streamed call'],
  tokensPerSecond: ['number', tokensPerSecondSql, 'Output tokens per second after the first one'],
  streamed: ['text', "if(is_streamed = 1, 'true', 'false')", 'Whether the response was streamed'],
  status: ['text', "if(is_failed = 1, 'error', 'ok')", 'ok or error'],
  errorType: ['text', 'error_type', 'Type of the error', { aliases: ['error.type'] }],
  finishReason: ['text', 'finish_reasons', 'Reasons for the end of the response'],
  tokens: ['number', `${inputTokensSql} + ${outputTokensSql}`, 'All tokens'],
  inputTokens: ['number', inputTokensSql, 'Input tokens, cached ones included'],
  outputTokens: ['number', outputTokensSql, 'Output tokens, reasoning included'],
  ...tokenFields,
  ...costFields,
  currency: ['text', 'currency', 'Currency of the cost; empty for an unpriced call'],
  priced: ['text', "if(price_problem = '', 'true', 'false')", 'Whether the call has a price'],
  priceProblem: ['text', 'price_problem', 'Why the call is unpriced'],
  usageProblem: ['text', 'usage_problem', 'Why the tokens are unknown or incomplete'],
  convention: ['text', 'convention', 'Convention of the instrumentation'],
  'scope.name': ['text', 'scope_name', 'Name of the instrumentation scope'],
  'scope.version': ['text', 'scope_version', 'Version of the instrumentation scope'],
  traceId: ['text', 'trace_id', 'Trace of the call', { aliases: ['trace_id'] }],
  spanId: ['text', 'span_id', 'Span of the call', { aliases: ['span_id'] }],
  projectId: ['text', 'project_id', 'Project', { aliases: ['project'] }],
};

/** Fields of calls. */
export const llmCallFields = defineSourceFields(fieldDefinitions);
