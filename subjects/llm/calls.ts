/** Calls of models as responses show them. */
import { z } from 'zod';
import { callIdSql, inputTokensSql, outputTokensSql, tokenColumns } from '../../queries/signals/llm-calls-source.ts';
import { formatTime } from '../../queries/time.ts';
import { inputKinds, outputKinds, type TokenKind, tokenKinds } from '../../schemas/llm-calls.ts';
import { toNullIfEmpty } from '../../schemas/text.ts';
import { formatDecimal, parseDecimal } from './decimals.ts';

/** An exact amount of money. */
export const Amount = z.strictObject({
  currency: z.string(),
  amount: z.string().describe('Exact decimal'),
});
export type Amount = z.output<typeof Amount>;

/** Costs by currency, which are never added to each other. */
export const Amounts = z.array(Amount).describe('One amount for each currency; empty if nothing is priced');

const Count = z.union([z.int(), z.string()]).describe('A decimal string if beyond 2^53');
type Count = z.output<typeof Count>;

export const TokenSums = z.strictObject({
  ...(Object.fromEntries(tokenKinds.map((kind) => [kind, Count])) as Record<TokenKind, typeof Count>),
  allInput: Count.describe('Input tokens, cached ones included'),
  allOutput: Count.describe('Output tokens, reasoning included'),
  total: Count,
});
export type TokenSums = z.output<typeof TokenSums>;

export const LlmCallView = z.strictObject({
  id: z.string(),
  time: z.string(),
  traceId: z.string(),
  spanId: z.string(),
  projectId: z.string(),
  service: z.string(),
  environment: z.string().nullable(),
  operation: z.string(),
  provider: z.string(),
  model: z.string().describe('Model that responded, or else the requested one'),
  requestModel: z.string().nullable(),
  responseId: z.string().nullable(),
  conversationId: z.string().nullable(),
  agent: z.string().nullable(),
  prompt: z.string().nullable(),
  promptVersion: z.string().nullable(),
  userId: z.string().nullable(),
  durationMs: z.number(),
  timeToFirstTokenMs: z.number().nullable().describe('`null` if it was not measured'),
  tokensPerSecond: z
    .number()
    .nullable()
    .describe('Output tokens per second after the first one; `null` if not measured'),
  isStreamed: z.boolean(),
  status: z.enum(['ok', 'error']),
  errorType: z.string().nullable(),
  finishReasons: z.array(z.string()),
  tokens: TokenSums.nullable().describe('`null` if the sender reported none'),
  usageProblem: z.string().nullable().describe('Why the tokens are unknown or incomplete'),
  cost: Amount.nullable().describe('`null` if the request is unpriced'),
  priceProblem: z.string().nullable().describe('Why the request is unpriced'),
  priceSource: z.enum(['table', 'organization']).nullable(),
  reportedCost: Amount.nullable().describe('Cost that the sender reported; never part of a total'),
  convention: z.string(),
});
export type LlmCallView = z.output<typeof LlmCallView>;

/** Adds numbers of tokens of any size. */
export const toTokenSums = (counts: Readonly<Record<TokenKind, string | number | bigint>>): TokenSums => {
  const toCount = (count: bigint): Count => (count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : String(count));
  const sumOf = (kinds: readonly TokenKind[]): bigint => kinds.reduce((sum, kind) => sum + BigInt(counts[kind]), 0n);
  return {
    ...(Object.fromEntries(tokenKinds.map((kind) => [kind, toCount(BigInt(counts[kind]))])) as Record<
      TokenKind,
      Count
    >),
    allInput: toCount(sumOf(inputKinds)),
    allOutput: toCount(sumOf(outputKinds)),
    total: toCount(sumOf(tokenKinds)),
  };
};

/** SQL of the numbers of tokens, as an array in the order of the kinds. */
const tokenListSql = `[${tokenKinds.map((kind) => `toString(${tokenColumns[kind]})`).join(', ')}]`;
export const tokenSumListSql = `[${tokenKinds.map((kind) => `toString(sum(${tokenColumns[kind]}))`).join(', ')}]`;

export const readTokenList = (tokens: readonly string[]): Record<TokenKind, bigint> =>
  Object.fromEntries(tokenKinds.map((kind, index) => [kind, BigInt(tokens[index] ?? 0)])) as Record<TokenKind, bigint>;

export interface LlmCallRow {
  readonly id: string;
  readonly time: string;
  readonly trace: string;
  readonly span: string;
  readonly project: string;
  readonly texts: readonly string[];
  readonly duration: string;
  readonly first_token: string;
  readonly flags: readonly number[];
  readonly tokens: readonly string[];
  readonly cost_amount: string;
}

const textColumns = [
  ...['service', 'environment', 'operation', 'provider', 'model', 'request_model', 'response_id', 'conversation_id'],
  ...['agent', 'prompt', 'prompt_version', 'user_id', 'error_type', 'finish_reasons', 'usage_problem', 'currency'],
  ...['price_problem', 'price_source', 'reported_cost', 'convention'],
] as const;
type TextColumn = (typeof textColumns)[number];

/** Selection of a row of `toLlmCallView`. */
export const llmCallSelection = `${callIdSql} AS id, toString(toUnixTimestamp64Nano(llm_calls.timestamp)) AS time, trace_id AS trace, span_id AS span, project_id AS project,
  [${textColumns.map((column) => `toString(${column})`).join(', ')}] AS texts, toString(duration_ns) AS duration, toString(first_token_ns) AS first_token,
  [is_streamed, is_failed] AS flags, ${tokenListSql} AS tokens, toString(cost) AS cost_amount`;

/** Sort keys of lists: SQL of a number. */
export const sortKeys = {
  time: 'toUnixTimestamp64Nano(llm_calls.timestamp)',
  cost: 'cost',
  tokens: `${inputTokensSql} + ${outputTokensSql}`,
  duration: 'duration_ns',
} as const;

const computeTokensPerSecond = (output: bigint, duration: number, firstToken: number): number | null =>
  firstToken > 0 && duration > firstToken && output > 0n
    ? Math.round((Number(output) / ((duration - firstToken) / 1e9)) * 100) / 100
    : null;

export const toLlmCallView = (row: LlmCallRow): LlmCallView => {
  const getText = (column: TextColumn): string => row.texts[textColumns.indexOf(column)] ?? '';
  const counts = readTokenList(row.tokens);
  const output = outputKinds.reduce((sum, kind) => sum + counts[kind], 0n);
  const duration = Number(row.duration);
  const firstToken = Number(row.first_token);
  const usageProblem = getText('usage_problem');
  const isUnknown = usageProblem !== '' && Object.values(counts).every((count) => count === 0n);
  const isPriced = getText('price_problem') === '';
  const reportedCost = getText('reported_cost');
  return {
    id: row.id,
    time: formatTime(BigInt(row.time)),
    traceId: row.trace,
    spanId: row.span,
    projectId: row.project,
    service: getText('service'),
    environment: toNullIfEmpty(getText('environment')),
    operation: getText('operation'),
    provider: getText('provider'),
    model: getText('model'),
    requestModel: toNullIfEmpty(getText('request_model')),
    responseId: toNullIfEmpty(getText('response_id')),
    conversationId: toNullIfEmpty(getText('conversation_id')),
    agent: toNullIfEmpty(getText('agent')),
    prompt: toNullIfEmpty(getText('prompt')),
    promptVersion: toNullIfEmpty(getText('prompt_version')),
    userId: toNullIfEmpty(getText('user_id')),
    durationMs: duration / 1e6,
    timeToFirstTokenMs: firstToken === 0 ? null : firstToken / 1e6,
    tokensPerSecond: computeTokensPerSecond(output, duration, firstToken),
    isStreamed: row.flags[0] === 1,
    status: row.flags[1] === 1 ? 'error' : 'ok',
    errorType: toNullIfEmpty(getText('error_type')),
    finishReasons: getText('finish_reasons') === '' ? [] : getText('finish_reasons').split(', '),
    tokens: isUnknown ? null : toTokenSums(counts),
    usageProblem: toNullIfEmpty(usageProblem),
    cost: isPriced ? { currency: getText('currency'), amount: formatDecimal(parseDecimal(row.cost_amount)) } : null,
    priceProblem: toNullIfEmpty(getText('price_problem')),
    priceSource: !isPriced ? null : getText('price_source') === 'table' ? 'table' : 'organization',
    reportedCost: reportedCost === '' ? null : { currency: 'USD', amount: reportedCost },
    convention: getText('convention'),
  };
};
