/** Model requests through the API: totals, costs, latency, requests with messages, and prices of organizations. */
import test from 'ava';
import { llmPriceCopies } from '../../processors/llm/llm-price-copies.ts';
import type { LlmPriceRecord } from '../../schemas/llm-calls.ts';
import { llmPrices } from '../../schemas/resources/llm-price.ts';
import { type Organization, organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { toPriceRows } from '../../subjects/llm/own-prices.ts';
import { landModelSpans, type ModelSpan, requestIdOf } from '../cases/llm-telemetry.ts';
import { landIn } from '../cases/sink-tables.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const nowMs = Math.floor(Date.now() / 1000) * 1000;
const minutesAgo = (minutes: number): number => nowMs - minutes * 60_000;

const chat = (model: string, input: number, output: number, more: Readonly<Record<string, string>> = {}) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': model,
  'gen_ai.usage.input_tokens': String(input),
  'gen_ai.usage.output_tokens': String(output),
  ...more,
});

const first: ModelSpan = {
  id: 0x11,
  trace: 0x1,
  atMs: minutesAgo(30),
  durationMs: 2_000,
  attributes: chat('gpt-4o-mini', 1_000, 100, {
    'gen_ai.response.id': 'r-1',
    'gen_ai.usage.cache_read.input_tokens': '400',
    'gen_ai.conversation.id': 'c-1',
    'gen_ai.agent.name': 'helper',
    'gen_ai.request.temperature': '0.2',
    'gen_ai.response.time_to_first_chunk': '0.5',
    'user.id': 'ann',
    team: 'checkout',
    'gen_ai.input.messages': JSON.stringify([
      { role: 'user', parts: [{ type: 'text', content: 'Where is my order?' }] },
    ]),
    'gen_ai.output.messages': JSON.stringify([
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'call-1', name: 'find_order', arguments: { order: 7 } }] },
    ]),
  }),
};
const spans: readonly ModelSpan[] = [
  first,
  {
    id: 0x12,
    trace: 0x1,
    atMs: minutesAgo(30) + 2_100,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'find_order',
      'gen_ai.tool.call.id': 'call-1',
      'gen_ai.tool.call.result': '{"state":"sent"}',
    },
  },
  // The same response, reported by another instrumentation in another trace.
  {
    id: 0x21,
    trace: 0x2,
    atMs: minutesAgo(30),
    scope: 'agentsight',
    attributes: chat('gpt-4o-mini', 1_000, 100, { 'gen_ai.response.id': 'r-1' }),
  },
  { id: 0x31, atMs: minutesAgo(20), attributes: chat('gpt-4o-mini', 7, 3, { 'gen_ai.conversation.id': 'c-1' }) },
  { id: 0x41, atMs: minutesAgo(10), attributes: chat('gpt-4o-min', 50, 5) },
  {
    id: 0x51,
    atMs: minutesAgo(5),
    failed: true,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'error.type': 'rate_limit',
    },
  },
  { id: 0x61, atMs: minutesAgo(4), attributes: chat('gpt-4o', 10, 10, { 'gen_ai.operation.name': 'invoke_agent' }) },
];

test.before(async () => {
  harness = await startHarness();
  const organization = harness.documents.forTenant(organizationsTenant).collection(organizations);
  const { id: _, version: __, createdAt: ___, updatedAt: ____, ...fields } = (await organization.find('b')) ?? {};
  await organization.replace('b', { ...fields, planId: 'enterprise' } as Organization);
  await landModelSpans(harness.columns, spans);
  await landModelSpans(harness.columns, [{ ...first, attributes: chat('gpt-4o-mini', 1, 1) }], { tenantId: 'b' });
});
test.after.always(() => harness.close());

const get = async (path: string) => {
  const { status, body } = await harness.request('GET', `/api/llm/${path}`, {
    as: 'viewer',
    headers: { 'cache-control': 'no-cache' },
  });
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
  return body;
};

// (600 × 0.15 + 400 × 0.075 + 100 × 0.6) and (7 × 0.15 + 3 × 0.6) per million.
const firstCost = '0.00018';
const tableCost = '0.00018285';

test.serial('the overview counts each request once, with exact costs and what is unpriced', async (t) => {
  const { current, previous } = await get('overview');
  t.like(current, {
    requests: 4,
    failedRequests: 1,
    costs: [{ currency: 'USD', amount: tableCost }],
    unknownUsage: 1,
    tracesWithUncountedTokens: 1,
    errors: [{ type: 'rate_limit', requests: 1 }],
  });
  t.like(current.tokens, { input: 657, cacheRead: 400, output: 108, allInput: 1_057, total: 1_165 });
  t.deepEqual(current.unpriced, {
    requests: 2,
    tokens: 55,
    reasons: [
      { reason: 'the model is not in the price table', requests: 1 },
      { reason: 'the sender reported no tokens', requests: 1 },
    ],
  });
  t.is(previous.requests, 0);
});

test.serial('groups of costs add up to the overview, also over time and at the prices of today', async (t) => {
  for (const query of [
    'groupBy=model',
    'groupBy=team',
    'groupBy=userId,agent',
    'groupBy=&prices=today',
    'groupBy=conversationId&over=time&step=10m',
  ])
    t.deepEqual((await get(`cost?${query}`)).total.costs, [{ currency: 'USD', amount: tableCost }], query);
  const { items } = await get('cost?groupBy=team&over=time&step=1m');
  const checkout = items.find(({ group }: { group: { team: string } }) => group.team === 'checkout');
  t.deepEqual(checkout.costs, [{ currency: 'USD', amount: firstCost }]);
  t.is(checkout.points.length, 1);
});

test.serial('requests are sorted and searched, page by page', async (t) => {
  for (const sort of ['-time', 'time', '-cost', 'tokens', '-duration']) {
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await get(`requests?sort=${sort}&limit=1${cursor}`);
      seen.push(...page.items.map(({ id }: { id: string }) => id));
      if (page.nextCursor === null) break;
      cursor = `&cursor=${page.nextCursor}`;
    }
    t.is(new Set(seen).size, 4, sort);
    t.is(seen.length, 4, sort);
  }
  const found = await get(`requests?search=${encodeURIComponent('model:gpt-4o-mini tokens:>100')}`);
  t.deepEqual(
    found.items.map(({ id }: { id: string }) => id),
    [requestIdOf(first)],
  );
  t.like(found.items[0], {
    cost: { currency: 'USD', amount: firstCost },
    timeToFirstTokenMs: 500,
    isStreamed: true,
    priceSource: 'table',
  });
  const [failed] = (await get('requests?search=status:error')).items;
  t.like(failed, { tokens: null, cost: null, errorType: 'rate_limit', usageProblem: 'the sender reported no tokens' });
});

test.serial(
  'a request has its messages, tool calls with their spans, parameters, conversation and duplicates',
  async (t) => {
    const request = await get(`requests/${requestIdOf(first)}`);
    t.deepEqual(
      request.messages.map(({ role }: { role: string }) => role),
      ['user', 'assistant'],
    );
    t.is(request.messages[0].parts[0].text, 'Where is my order?');
    t.like(request.toolCalls[0], { callId: 'call-1', name: 'find_order', result: '{"state":"sent"}' });
    t.is(request.toolCalls[0].span.name, 'execute_tool');
    t.is(request.parameters['gen_ai.request.temperature'], '0.2');
    t.is(request.conversation.length, 1);
    t.like(request.duplicates[0], { scope: 'agentsight', reason: 'same response ID' });
    t.is(request.messagesProblem, null);
    t.is(request.sentTokens['gen_ai.usage.input_tokens'], '1000');
    t.regex((await get(`requests/${requestIdOf(spans[3] as ModelSpan)}`)).messagesProblem, /recorded no messages/);
  },
);

test.serial('an unknown request is 404, and requests of another organization are invisible', async (t) => {
  for (const id of ['nothing', requestIdOf({ ...first, id: 0x99 })])
    t.is((await harness.request('GET', `/api/llm/requests/${id}`, { as: 'viewer' })).status, 404);
});

test.serial('latency is null where it was not measured', async (t) => {
  const { total, items } = await get('latency?groupBy=model');
  t.is(total.requests, 4);
  t.like(total.timeToFirstToken, { p50: 500 });
  t.is(items.find(({ group }: { group: { model: string } }) => group.model === 'gpt-4o-min').timeToFirstToken, null);
  t.is(
    items.find(({ group }: { group: { model: string } }) => group.model === 'gpt-4o-mini').tokensPerSecond.p50,
    66.67,
  );
});

test.serial('models have prices, and similar names if they are unpriced', async (t) => {
  const { items } = await get('models');
  const unpriced = items.find(({ model }: { model: string }) => model === 'gpt-4o-min');
  t.is(unpriced.price, null);
  t.true(unpriced.similarModels.includes('gpt-4o-mini'));
  t.like(items.find(({ model }: { model: string }) => model === 'gpt-4o-mini').price, {
    currency: 'USD',
    validFrom: null,
  });
});

/** Copies the stored prices as the schedule does. */
const copyPrices = async (): Promise<void> => {
  const { items } = await harness.documents.forTenant('a').collection(llmPrices).list();
  const values: LlmPriceRecord[] = items.map((price) => ({
    tenantId: 'a',
    priceId: price.id,
    version: price.version,
    rates: toPriceRows(price.id, price),
  }));
  await landIn(harness.columns)([{ offset: 0, value: Buffer.from(JSON.stringify(values)), headers: { tenant: 'a' } }], {
    sink: llmPriceCopies.emits['prices']?.name ?? '',
  });
};

test.serial('a price of the organization applies since its start, in its currency, and has versions', async (t) => {
  const price = {
    validFrom: new Date(minutesAgo(25)).toISOString(),
    currency: 'EUR',
    perMillion: { input: 1_000_000, output: '2000000.5' },
  };
  const put = (body: object, headers = {}) =>
    harness.request('PUT', '/api/llm/prices/gpt-4o-mini', { as: 'editor', body, headers });
  t.is((await harness.request('PUT', '/api/llm/prices/gpt-4o-mini', { as: 'viewer', body: price })).status, 403);
  t.like((await put(price)).body, { version: 1, model: 'gpt-4o-mini', currency: 'EUR' });
  t.is((await put(price)).body.version, 1);
  t.is((await put({ ...price, currency: 'GBP' }, { 'if-match': '"7"' })).status, 412);
  t.is((await put({ ...price, perMillion: { input: -1, output: 1 } })).status, 400);
  await copyPrices();
  const expected = [
    { currency: 'EUR', amount: '13.0000015' },
    { currency: 'USD', amount: firstCost },
  ];
  t.deepEqual((await get('overview')).current.costs, expected);
  t.deepEqual((await get('cost?groupBy=provider')).total.costs, expected);
  // At current prices the first request uses the new price too: 1,000 input at 1, and 100 output at 2.0000005.
  t.deepEqual((await get('overview?prices=today')).current.costs, [{ currency: 'EUR', amount: '1213.0000515' }]);
  const earlier = { ...price, validFrom: new Date(minutesAgo(40)).toISOString() };
  t.is((await put(earlier, { 'if-match': '"1"' })).body.version, 2);
  await copyPrices();
  t.deepEqual((await get('overview')).current.costs, [{ currency: 'EUR', amount: '1213.0000515' }]);
  t.is((await get('models')).prices[0].model, 'gpt-4o-mini');
});

test.serial('another organization has the prices of the table', async (t) => {
  const token = await harness.signIn('viewer@b.example');
  const { body } = await harness.request('GET', '/api/llm/overview', { as: `token ${token}` });
  t.deepEqual(body.current?.costs, [{ currency: 'USD', amount: '0.00000075' }], JSON.stringify(body));
});
