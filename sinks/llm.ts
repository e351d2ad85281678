import { type LlmCall, noTokens } from '../schemas/llm-calls.ts';
import { llmCallsTable, llmPricesTable } from '../schemas/tables/llm.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

type CallValues = Omit<LlmCall, 'kind' | 'convention'> & { readonly kind: string; readonly convention: string };

/** Columns of a verdict, which merge with those of its call. */
const emptyCall: CallValues = {
  projectId: '',
  kind: '',
  service: '',
  environment: '',
  operation: '',
  provider: '',
  model: '',
  requestModel: '',
  responseId: '',
  conversationId: '',
  agent: '',
  prompt: '',
  promptVersion: '',
  userId: '',
  durationNs: 0,
  timeToFirstTokenNs: 0,
  isStreamed: false,
  isFailed: false,
  errorType: '',
  finishReasons: [],
  tokens: noTokens,
  usageProblem: '',
  interpretation: '',
  cost: '',
  currency: '',
  priceProblem: '',
  reportedCost: '',
  convention: '',
  scopeName: '',
  scopeVersion: '',
  attributes: {},
};

const toCallColumns = (call: CallValues) => ({
  project_id: call.projectId,
  kind: call.kind,
  service: call.service,
  environment: call.environment,
  operation: call.operation,
  provider: call.provider,
  model: call.model,
  request_model: call.requestModel,
  response_id: call.responseId,
  conversation_id: call.conversationId,
  agent: call.agent,
  prompt: call.prompt,
  prompt_version: call.promptVersion,
  user_id: call.userId,
  duration_ns: call.durationNs,
  first_token_ns: call.timeToFirstTokenNs,
  is_streamed: Number(call.isStreamed),
  is_failed: Number(call.isFailed),
  error_type: call.errorType,
  finish_reasons: call.finishReasons.join(', '),
  input: call.tokens.input,
  cache_read: call.tokens.cacheRead,
  cache_write: call.tokens.cacheWrite,
  cache_write_1h: call.tokens.cacheWrite1h,
  input_audio: call.tokens.inputAudio,
  input_image: call.tokens.inputImage,
  output: call.tokens.output,
  reasoning: call.tokens.reasoning,
  output_audio: call.tokens.outputAudio,
  output_image: call.tokens.outputImage,
  usage_problem: call.usageProblem,
  interpretation: call.interpretation,
  cost_text: call.cost,
  currency: call.currency,
  price_problem: call.priceProblem,
  reported_cost: call.reportedCost,
  convention: call.convention,
  scope_name: call.scopeName,
  scope_version: call.scopeVersion,
  attribute_json: call === emptyCall ? '' : JSON.stringify(call.attributes),
});

/** Stores calls of models, and the verdicts on them. */
export const llmCalls = defineValueSink({
  topic: topics.llmCalls,
  table: llmCallsTable,
  row: ({ tenantId, time, traceId, spanId, call = emptyCall, nested = 0, duplicate = 0 }) => ({
    tenant_id: tenantId,
    timestamp: time,
    trace_id: traceId,
    span_id: spanId,
    ...toCallColumns(call),
    nested,
    duplicate,
  }),
});

export const llmPrices = defineValueSink({
  topic: topics.llmPrices,
  table: llmPricesTable,
  row: ({ tenantId, priceId, version, rates }) => ({ tenant_id: tenantId, price_id: priceId, version, rates }),
});
