/** How spans of instrumentations become model calls with tokens by type. */

import { readFileSync } from 'node:fs';
import { calcPrice } from '@pydantic/genai-prices';
import test from 'ava';
import { noTokens, type TokenCounts, tokenKinds } from '../../schemas/llm-calls.ts';
import { findTablePrice, priceTableVersion, tableOfProviders } from '../../subjects/llm/built-in-prices.ts';
import { formatDecimal, parseDecimal, parseRate } from '../../subjects/llm/decimals.ts';
import { readMessages } from '../../subjects/llm/messages.ts';
import { computeCost } from '../../subjects/llm/prices.ts';
import { type CallSource, findRole, normalizeProvider, readCall } from '../../subjects/llm/read-call.ts';

const timeNs = 1_767_225_600_000_000_000n;
const sourceOf = (attributes: Readonly<Record<string, string>>, source: Partial<CallSource> = {}): CallSource => ({
  attributes: new Map(Object.entries(attributes)),
  resourceAttributes: new Map(),
  projectId: 'shop',
  service: 'assistant',
  scopeName: '',
  scopeVersion: '',
  statusCode: 0,
  timeNs,
  durationNs: 2_000_000_000,
  ...source,
});
const read = (source: CallSource) => {
  const role = findRole(source);
  return role === undefined ? undefined : readCall(source, role);
};

interface Case {
  readonly title: string;
  readonly scope?: readonly [name: string, version: string];
  readonly attributes: Readonly<Record<string, string>>;
  readonly tokens: Partial<TokenCounts>;
  readonly call?: Readonly<Record<string, unknown>>;
}

const cases: readonly Case[] = [
  {
    title: 'OpenTelemetry 1.28: gen_ai.system, and input with cached tokens',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.response.model': 'gpt-4o-2024-08-06',
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.usage.input_tokens': '100',
      'gen_ai.usage.output_tokens': '20',
    },
    tokens: { input: 100, output: 20 },
    call: {
      provider: 'openai',
      model: 'gpt-4o-2024-08-06',
      requestModel: 'gpt-4o',
      responseId: 'chatcmpl-1',
      convention: 'opentelemetry',
    },
  },
  {
    title: 'OpenTelemetry before 1.27: prompt and completion tokens, without an operation',
    attributes: {
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.prompt_tokens': '7',
      'gen_ai.usage.completion_tokens': '3',
    },
    tokens: { input: 7, output: 3 },
    call: { operation: 'chat' },
  },
  {
    title: 'OpenTelemetry today: provider.name, cached and reasoning tokens inside input and output',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.usage.input_tokens': '17903',
      'gen_ai.usage.cache_read.input_tokens': '17817',
      'gen_ai.usage.cache_creation.input_tokens': '50',
      'gen_ai.usage.output_tokens': '225',
      'gen_ai.usage.reasoning.output_tokens': '200',
      'gen_ai.response.time_to_first_chunk': '0.5',
      'gen_ai.conversation.id': 'c-1',
    },
    tokens: { input: 36, cacheRead: 17_817, cacheWrite: 50, output: 25, reasoning: 200 },
    call: { isStreamed: true, timeToFirstTokenNs: 500_000_000, conversationId: 'c-1' },
  },
  {
    title: 'OpenTelemetry later: cache_write, audio and images',
    attributes: {
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'gemini-2.5-pro',
      'gen_ai.usage.input_tokens': '1000',
      'gen_ai.usage.cache_write.input_tokens': '100',
      'gen_ai.usage.audio.input_tokens': '200',
      'gen_ai.usage.image.input_tokens': '300',
      'gen_ai.usage.output_tokens': '50',
      'gen_ai.usage.audio.output_tokens': '10',
    },
    tokens: { input: 400, cacheWrite: 100, inputAudio: 200, inputImage: 300, output: 40, outputAudio: 10 },
  },
  {
    title: 'cached tokens beyond input: input excludes them',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.usage.input_tokens': '12',
      'gen_ai.usage.cache_read.input_tokens': '5000',
      'gen_ai.usage.output_tokens': '9',
    },
    tokens: { input: 12, cacheRead: 5_000, output: 9 },
  },
  {
    title: 'a total decides whether input contains cached tokens and output contains reasoning',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'gemini-2.5-pro',
      'gen_ai.usage.input_tokens': '100',
      'gen_ai.usage.output_tokens': '40',
      'gen_ai.usage.reasoning.output_tokens': '30',
      'gen_ai.usage.total_tokens': '170',
    },
    tokens: { input: 100, output: 40, reasoning: 30 },
  },
  {
    title: 'cache writes for an hour are separate from those for five minutes',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.usage.input_tokens': '1000',
      'gen_ai.usage.cache_creation.input_tokens': '300',
      'gen_ai.usage.cache_creation.ephemeral_1h.input_tokens': '200',
      'gen_ai.usage.output_tokens': '5',
    },
    tokens: { input: 700, cacheWrite: 100, cacheWrite1h: 200, output: 5 },
  },
  {
    title: 'OpenLLMetry: llm.request.type and flat names of cached tokens',
    scope: ['opentelemetry.instrumentation.anthropic', '0.47.0'],
    attributes: {
      'llm.request.type': 'chat',
      'gen_ai.system': 'Anthropic',
      'gen_ai.request.model': 'claude-3-5-haiku-latest',
      'gen_ai.usage.prompt_tokens': '1100',
      'gen_ai.usage.completion_tokens': '10',
      'gen_ai.usage.cache_read_input_tokens': '1000',
      'llm.usage.total_tokens': '1110',
    },
    tokens: { input: 100, cacheRead: 1_000, output: 10 },
    call: { provider: 'anthropic', convention: 'openllmetry' },
  },
  {
    title: 'OpenLLMetry for JavaScript, older: input without cached tokens by scope and version',
    scope: ['@traceloop/instrumentation-anthropic', '0.13.2'],
    attributes: {
      'llm.request.type': 'chat',
      'gen_ai.system': 'Anthropic',
      'gen_ai.request.model': 'claude-3-5-haiku-latest',
      'gen_ai.usage.prompt_tokens': '1100',
      'gen_ai.usage.completion_tokens': '10',
      'gen_ai.usage.cache_read_input_tokens': '1000',
    },
    tokens: { input: 1_100, cacheRead: 1_000, output: 10 },
  },
  {
    title: 'OpenInference',
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'gpt-4o-mini',
      'llm.provider': 'openai',
      'llm.token_count.prompt': '90',
      'llm.token_count.prompt_details.cache_read': '60',
      'llm.token_count.completion': '31',
      'llm.token_count.completion_details.reasoning': '11',
      'llm.cost.total': '0.0125',
      'session.id': 's',
      'user.id': 'ann',
    },
    tokens: { input: 30, cacheRead: 60, output: 20, reasoning: 11 },
    call: { convention: 'openinference', reportedCost: '0.0125', conversationId: 's', userId: 'ann' },
  },
  {
    title: 'Vercel AI SDK 4',
    scope: ['ai', ''],
    attributes: {
      'ai.operationId': 'ai.streamText.doStream',
      'ai.model.provider': 'openai.chat',
      'gen_ai.system': 'openai.chat',
      'gen_ai.request.model': 'gpt-4o',
      'ai.usage.promptTokens': '8',
      'ai.usage.completionTokens': '2',
      'gen_ai.usage.input_tokens': '8',
      'gen_ai.usage.output_tokens': '2',
      'ai.response.msToFirstChunk': '120',
    },
    tokens: { input: 8, output: 2 },
    call: { provider: 'openai', isStreamed: true, timeToFirstTokenNs: 120_000_000, convention: 'vercel-ai-sdk' },
  },
  {
    title: 'Vercel AI SDK 5 with Anthropic: input without cached tokens',
    scope: ['ai', ''],
    attributes: {
      'ai.operationId': 'ai.generateText.doGenerate',
      'gen_ai.system': 'anthropic.messages',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'ai.usage.inputTokens': '2000',
      'ai.usage.cachedInputTokens': '1500',
      'ai.usage.outputTokens': '10',
    },
    tokens: { input: 2_000, cacheRead: 1_500, output: 10 },
  },
  {
    title: 'Vercel AI SDK 6: details show that input contains cached tokens',
    scope: ['ai', ''],
    attributes: {
      'ai.operationId': 'ai.generateText.doGenerate',
      'gen_ai.system': 'anthropic.messages',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'ai.usage.inputTokens': '2000',
      'ai.usage.inputTokenDetails.noCacheTokens': '500',
      'ai.usage.inputTokenDetails.cacheReadTokens': '1500',
      'ai.usage.outputTokens': '10',
    },
    tokens: { input: 500, cacheRead: 1_500, output: 10 },
  },
  {
    title: 'Langfuse: JSON of kinds that exclude each other',
    scope: ['langfuse-sdk', '5.11.0'],
    attributes: {
      'langfuse.observation.type': 'generation',
      'langfuse.observation.model.name': 'gpt-4o',
      'langfuse.observation.usage_details':
        '{"input":10,"input_cached_tokens":90,"output":5,"output_reasoning_tokens":2,"total":107}',
      'langfuse.observation.cost_details': '{"total":0.002}',
      'langfuse.observation.prompt.name': 'greet',
      'langfuse.observation.prompt.version': '3',
    },
    tokens: { input: 10, cacheRead: 90, output: 5, reasoning: 2 },
    call: { convention: 'langfuse', reportedCost: '0.002', prompt: 'greet', promptVersion: '3' },
  },
  {
    title: 'AgentSight: usage as the API of Anthropic returns it',
    scope: ['agentsight', '1.0.35'],
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.usage.input_tokens': '400',
      'gen_ai.usage.cache_read.input_tokens': '300',
      'gen_ai.usage.output_tokens': '6',
    },
    tokens: { input: 400, cacheRead: 300, output: 6 },
    call: { convention: 'agentsight' },
  },
  {
    title: 'embeddings have no output',
    attributes: {
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'text-embedding-3-small',
      'gen_ai.usage.input_tokens': '12',
    },
    tokens: { input: 12 },
    call: { usageProblem: '', cost: '0.00000024' },
  },
];

for (const { title, attributes, tokens, scope: [scopeName, scopeVersion] = ['', ''], call = { kind: 'call' } } of cases)
  test(`tokens are read: ${title}`, (t) => {
    const found = read(sourceOf(attributes, { scopeName, scopeVersion }));
    t.deepEqual(found?.tokens, { ...noTokens, ...tokens });
    t.like(found, call);
  });

const usage = (input: string) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-4o',
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': '1',
});
for (const input of ['-5', '1.5', 'many', '1000000000000000', '1e3', 'NaN', ''])
  test(`a number of tokens such as "${input}" is rejected by name, and adds nothing`, (t) => {
    const found = read(sourceOf(usage(input)));
    t.regex(found?.usageProblem ?? '', /gen_ai\.usage\.input_tokens is not an integer/);
    t.deepEqual(found?.tokens, noTokens);
    t.is(found?.cost, '');
    t.not(found?.priceProblem, '');
  });

test('missing tokens are unknown with a reason, never 0', (t) => {
  const { 'gen_ai.usage.input_tokens': _, 'gen_ai.usage.output_tokens': __, ...attributes } = usage('1');
  const found = read(sourceOf(attributes));
  t.is(found?.usageProblem, 'the sender reported no tokens');
  t.is(found?.cost, '');
});

test('a call whose output tokens are missing is unpriced, unless it failed', (t) => {
  const { 'gen_ai.usage.output_tokens': _, ...attributes } = usage('9');
  t.is(read(sourceOf(attributes))?.priceProblem, 'the sender reported no output tokens');
  t.is(read(sourceOf(attributes, { statusCode: 2 }))?.cost, '0.0000225');
});

test('an unknown model is unpriced with a reason', (t) => {
  const found = read(sourceOf({ ...usage('9'), 'gen_ai.request.model': 'house-model-1' }));
  t.is(found?.cost, '');
  t.is(found?.priceProblem, 'the model is not in the price table');
});

for (const attributes of [
  { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'gpt-4o' },
  { 'gen_ai.operation.name': 'execute_tool' },
  { 'ai.operationId': 'ai.generateText', 'gen_ai.request.model': 'gpt-4o' },
  { 'openinference.span.kind': 'CHAIN' },
  { 'openinference.span.kind': 'AGENT' },
  { 'langfuse.observation.type': 'span' },
  { 'traceloop.span.kind': 'workflow' },
])
  test(`a container is not a call: ${Object.entries(attributes)[0]?.join(' ')}`, (t) => {
    t.is(findRole(sourceOf(attributes))?.role, 'container');
  });

test('a span without attributes about models has no role', (t) => {
  t.is(findRole(sourceOf({ 'http.request.method': 'GET' })), undefined);
});

test('messages are not copied to a call, and long names are truncated', (t) => {
  const found = read(
    sourceOf({
      ...usage('1'),
      'gen_ai.input.messages': '[]',
      'gen_ai.prompt.0.content': 'hi',
      team: 'a',
      'gen_ai.request.model': 'x'.repeat(10_000),
    }),
  );
  t.deepEqual(
    Object.keys(found?.attributes ?? {}).filter((name) => !name.startsWith('gen_ai.')),
    ['team'],
  );
  t.false(Object.keys(found?.attributes ?? {}).some((name) => name.includes('messages') || name.includes('prompt.0')));
  t.is(found?.model.length, 256);
});

for (const [sent, name] of [
  ['az.ai.openai', 'azure.ai.openai'],
  ['Anthropic', 'anthropic'],
  ['openai.responses', 'openai'],
  ['vertex_ai', 'gcp.vertex_ai'],
  ['google.generative-ai', 'gcp.gemini'],
  ['aws.bedrock', 'aws.bedrock'],
  ['unknown', 'unknown'],
] as const)
  test(`the provider ${sent} is ${name}`, (t) => {
    t.is(normalizeProvider(sent), name);
  });

test('the price table is that of the pinned package', (t) => {
  const { version } = JSON.parse(readFileSync('node_modules/@pydantic/genai-prices/package.json', 'utf8')) as {
    version: string;
  };
  t.is(priceTableVersion, version);
  t.true(tableOfProviders.length > 30);
});

const usageKeys = {
  cacheRead: 'cache_read_tokens',
  cacheWrite1h: 'cache_write_1h_tokens',
  inputAudio: 'input_audio_tokens',
  inputImage: 'input_image_tokens',
  reasoning: 'output_reasoning_tokens',
  outputAudio: 'output_audio_tokens',
  outputImage: 'output_image_tokens',
} as const;
const toTableUsage = (tokens: TokenCounts): Record<string, number> => {
  const usageOfTable: Record<string, number> = {};
  for (const [kind, key] of Object.entries(usageKeys)) usageOfTable[key] = tokens[kind as keyof typeof usageKeys];
  usageOfTable['cache_write_tokens'] = tokens.cacheWrite + tokens.cacheWrite1h;
  usageOfTable['input_tokens'] = tokenKinds.slice(0, 6).reduce((sum, kind) => sum + tokens[kind], 0);
  usageOfTable['output_tokens'] = tokenKinds.slice(6).reduce((sum, kind) => sum + tokens[kind], 0);
  return Object.fromEntries(Object.entries(usageOfTable).filter(([, count]) => count > 0));
};

interface PeriodOfTable {
  readonly constraint?: { readonly start_date?: string; readonly start_time?: string; readonly end_time?: string };
  readonly prices: Readonly<Record<string, number | { readonly tiers: readonly { readonly start: number }[] }>>;
}
type ModelOfTable = (typeof tableOfProviders)[number]['models'][number];
const periodsOf = ({ prices }: ModelOfTable): readonly PeriodOfTable[] =>
  (Array.isArray(prices) ? prices : [{ prices }]) as readonly PeriodOfTable[];

const around = (timeMs: number): number[] => [timeMs - 1, timeMs, timeMs + 1];
/** Times before and after each date and hour at which the price of a model changes. */
const timesOf = (model: ModelOfTable): number[] => [
  Date.UTC(2024, 0, 1),
  Date.UTC(2026, 0, 1, 12),
  ...periodsOf(model).flatMap(({ constraint: { start_date, start_time, end_time } = {} }) => [
    ...(start_date === undefined ? [] : around(Date.parse(start_date))),
    ...[start_time, end_time].flatMap((time) => (time === undefined ? [] : around(Date.parse(`2026-03-01T${time}`)))),
  ]),
];
/** Input counts below and above each price tier of a model. */
const inputsOf = (model: ModelOfTable): number[] =>
  [
    0,
    ...periodsOf(model).flatMap(({ prices }) =>
      Object.values(prices).flatMap((price) =>
        typeof price === 'number' ? [] : price.tiers.map(({ start }) => start),
      ),
    ),
  ].flatMap((start) => [start, start + 1, start + 1_000]);

/** The table has no price for cached audio, and this sender does not report it. */
const hasCachedMedia = (model: ModelOfTable): boolean =>
  periodsOf(model).some(({ prices }) => Object.keys(prices).some((key) => /^cache_(?:audio|image)/.test(key)));

const tokensOf = (model: ModelOfTable, input: number): TokenCounts[] => [
  { ...noTokens, input, output: 321 },
  { ...noTokens, input: Math.floor(input / 2), cacheRead: Math.ceil(input / 2), output: 200, reasoning: 121 },
  { ...noTokens, cacheWrite: Math.floor(input / 2), cacheWrite1h: Math.ceil(input / 2), output: 7 },
  ...(hasCachedMedia(model) ? [] : [{ ...noTokens, input, inputAudio: 50, outputAudio: 3 }]),
];

/** Why the cost of a call differs from that of the table; empty if it is equal. */
const differenceOf = (providerId: string, model: ModelOfTable, timeMs: number, tokens: TokenCounts): string => {
  const timestamp = new Date(timeMs);
  const expected = calcPrice(toTableUsage(tokens), model.id, { providerId, timestamp });
  const found = findTablePrice(providerId, model.id, timeMs);
  if ('problem' in found && expected !== null && found.problem !== 'the model is not priced by tokens')
    return `${model.id}: ${found.problem}`;
  const cost = 'price' in found ? Number(formatDecimal(computeCost(tokens, found.price))) : 0;
  const tableCost = expected?.total_price ?? 0;
  // The table calculates with floats.
  return Math.abs(cost - tableCost) <= 1e-9 * Math.max(1e-6, cost)
    ? ''
    : `${model.id} ${timestamp.toISOString()}: ${cost} instead of ${tableCost}`;
};

for (const provider of tableOfProviders)
  test(`costs of every model of ${provider.id} equal those of the price table, around each date, hour and tier`, (t) => {
    const differences = provider.models.flatMap((model) =>
      timesOf(model).flatMap((timeMs) =>
        inputsOf(model)
          .flatMap((input) => tokensOf(model, input))
          .map((tokens) => differenceOf(provider.id, model, timeMs, tokens))
          .filter((difference) => difference !== ''),
      ),
    );
    t.deepEqual(differences, []);
  });

test('a million calls of one token add up exactly', (t) => {
  const found = findTablePrice('openai', 'gpt-4o-mini', Date.UTC(2026, 0, 1));
  t.true('price' in found);
  if (!('price' in found)) return;
  const cost = computeCost({ ...noTokens, input: 1 }, found.price);
  t.is(formatDecimal(cost), '0.00000015');
  let sum = 0n;
  for (let call = 0; call < 1_000_000; call++) sum += cost;
  t.is(formatDecimal(sum), '0.15');
});

for (const text of ['0', '1', '0.000000000000000001', '123.45', '99999999999999.999999999999999999'])
  test(`the decimal ${text} is preserved`, (t) => {
    t.is(formatDecimal(parseDecimal(text)), text);
  });

test('noise of floats in the price table is not part of a rate', (t) => {
  t.is(parseRate(0.18000000000000002), 180_000_000_000n);
  t.is(parseRate('0.000000000001'), 1n);
});

const readInput = (messages: unknown) =>
  readMessages({ attributes: { 'gen_ai.input.messages': messages }, events: [] });

test('messages with a megabyte of text are shown in part, and a thousand of many', (t) => {
  const message = (text: string) => ({ role: 'user', parts: [{ type: 'text', content: text }] });
  const [long] = readInput(JSON.stringify([message('x'.repeat(1_000_000))]));
  t.is(long?.parts[0]?.text.length, 100_000);
  t.true(long?.parts[0]?.isTruncated);
  t.is(readInput(JSON.stringify(Array.from({ length: 10_000 }, (_, index) => message(`${index}`)))).length, 1_000);
});

for (const broken of [
  '[{"role":"user","parts":[{"type":"text","content":"Where',
  '[[[[',
  '{"role":',
  '\u0000',
  '[null, 7, {}]',
])
  test(`broken messages are shown as they are, or not at all: ${JSON.stringify(broken)}`, (t) => {
    for (const { parts } of readInput(broken)) for (const { text } of parts) t.true(text.length <= broken.length + 2);
    t.pass();
  });
