/** Calls of language models, as spans report them. */
import { z } from 'zod';

/** Kinds of tokens. Each token of a call counts in exactly one kind. */
export const tokenKinds = [
  'input',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'inputAudio',
  'inputImage',
  'output',
  'reasoning',
  'outputAudio',
  'outputImage',
] as const;
export type TokenKind = (typeof tokenKinds)[number];
export const inputKinds = tokenKinds.slice(0, 6);
export const outputKinds = tokenKinds.slice(6);

/** Maximum number of tokens of one kind in a call. Higher numbers are rejected by name. */
export const maxTokens = 10_000_000_000;

const TokenCount = z.int().min(0).max(maxTokens);
export const TokenCounts = z.strictObject({
  input: TokenCount.describe('Input tokens that are neither cached, nor audio, nor images'),
  cacheRead: TokenCount.describe('Input tokens read from the cache'),
  cacheWrite: TokenCount.describe('Input tokens written to the cache for five minutes, or for an unknown time'),
  cacheWrite1h: TokenCount.describe('Input tokens written to the cache for an hour'),
  inputAudio: TokenCount,
  inputImage: TokenCount,
  output: TokenCount.describe('Output tokens that are neither reasoning, nor audio, nor images'),
  reasoning: TokenCount,
  outputAudio: TokenCount,
  outputImage: TokenCount,
}) satisfies z.ZodType<Record<TokenKind, number>>;
export type TokenCounts = z.output<typeof TokenCounts>;
export const noTokens = Object.fromEntries(tokenKinds.map((kind) => [kind, 0])) as TokenCounts;

/** Conventions by which instrumentations report calls. */
export const llmConventions = [
  'opentelemetry',
  'openllmetry',
  'openinference',
  'vercel-ai-sdk',
  'langfuse',
  'agentsight',
] as const;

/** `container`: an agent, workflow or chain with tokens of its own, which are not added to any total. */
export const llmSpanKinds = ['call', 'container'] as const;

/** Decimals of a cost. A price per million tokens has at most twelve decimals. */
export const costDecimals = 18;

const SpanPosition = {
  tenantId: z.string(),
  time: z.string().describe('Start of the span, ISO 8601 with nanoseconds'),
  timeMs: z.number(),
  traceId: z.string(),
  spanId: z.string(),
};

/** A call as its span reports it, without messages. */
const LlmCallFields = z.strictObject({
  projectId: z.string(),
  kind: z.enum(llmSpanKinds),
  service: z.string(),
  environment: z.string(),
  operation: z.string(),
  provider: z.string(),
  model: z.string().describe('Model of the response, or else of the request'),
  requestModel: z.string(),
  responseId: z.string(),
  conversationId: z.string(),
  agent: z.string(),
  prompt: z.string(),
  promptVersion: z.string(),
  userId: z.string(),
  durationNs: z.number(),
  timeToFirstTokenNs: z.number().describe('0 if it was not measured'),
  isStreamed: z.boolean(),
  isFailed: z.boolean(),
  errorType: z.string(),
  finishReasons: z.array(z.string()),
  tokens: TokenCounts,
  usageProblem: z.string().describe('Why the tokens are unknown or incomplete; empty if they are known'),
  interpretation: z.string(),
  cost: z.string().describe('Exact decimal; empty if the call is unpriced'),
  currency: z.string(),
  priceProblem: z.string().describe('Why the call is unpriced; empty if it is priced'),
  reportedCost: z.string().describe('Cost that the sender reported, in US dollars; empty if none'),
  convention: z.enum(llmConventions),
  scopeName: z.string(),
  scopeVersion: z.string(),
  attributes: z.record(z.string(), z.string()),
});
export type LlmCall = z.output<typeof LlmCallFields>;

/**
 * A call, or a verdict on it: whether another span reports the same call more precisely. Verdicts increase, and their
 * last bit is 1 for a call that does not count.
 */
export const LlmCallRecord = z.strictObject({
  ...SpanPosition,
  call: LlmCallFields.optional(),
  nested: z.int().optional().describe('Verdict about the spans of the trace'),
  duplicate: z.int().optional().describe('Verdict about the spans with the same response ID'),
});
export type LlmCallRecord = z.output<typeof LlmCallRecord>;

/** The part of a span that decides which spans of a trace report the same call. */
export const LlmSpan = z.strictObject({
  ...SpanPosition,
  parentSpanId: z.string(),
  isCall: z.boolean(),
  models: z.array(z.string()).describe('Normalized names of the requested and the responding model'),
  hasUsage: z.boolean(),
  responseId: z.string(),
  completeness: z.int(),
});
export type LlmSpan = z.output<typeof LlmSpan>;

/** A span with a response ID, and whether it counts among the spans of its trace. */
export const LlmResponse = z.strictObject({
  ...SpanPosition,
  responseId: z.string(),
  completeness: z.int(),
  isCounted: z.boolean(),
});
export type LlmResponse = z.output<typeof LlmResponse>;

/** Prices that an organization set for a model, as stored for queries. */
export const LlmPriceRecord = z.strictObject({
  tenantId: z.string(),
  priceId: z.string(),
  version: z.int(),
  rates: z.string().describe('JSON of the periods and tiers of the price'),
});
export type LlmPriceRecord = z.output<typeof LlmPriceRecord>;
