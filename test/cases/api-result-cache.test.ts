/** The short-lived cache of results: who shares a result, and what is never cached. */
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import type { Caller } from '../../api/callers/caller.ts';
import { type CachedRequest, createResultCache } from '../../api/kernel/result-cache.ts';
import { ClientDisconnectedError } from '../../api/kernel/time-budget.ts';

const caller = {
  tenantId: 'a',
  actor: { type: 'user', id: 'u1', name: 'one@a.example' },
  userId: 'u1',
  sessionId: 's1',
  role: 'viewer',
  user: { id: 'u1', email: 'one@a.example' },
  organization: { id: 'a', retentionDays: {}, version: 1 },
  plan: { name: 'free', entitlements: ['logs'] },
} as unknown as Caller;

const question: CachedRequest = {
  operationId: 'listLogs',
  caller,
  params: {},
  query: { service: 'x' },
  body: undefined,
};
const ttl = { ttlMs: 1000, refresh: false };

const setUp = () => {
  let nowMs = 1_000_000;
  let runs = 0;
  const clock = { now: () => nowMs };
  const cache = createResultCache(createMemoryCounters({ clock }), clock);
  return {
    pass: (ms: number) => (nowMs += ms),
    runs: () => runs,
    getAnswer: (input: CachedRequest, options = ttl) =>
      cache.getOrCompute(input, options, async () => `answer ${++runs}`),
    cache,
  };
};

test('the same query returns the cached result with its age until the result expires', async (t) => {
  const { getAnswer, pass } = setUp();
  t.deepEqual(await getAnswer(question), { text: 'answer 1', state: 'miss', ageSeconds: 0 });
  pass(999);
  t.deepEqual(await getAnswer(question), { text: 'answer 1', state: 'hit', ageSeconds: 0 });
  pass(2);
  t.deepEqual(await getAnswer(question), { text: 'answer 2', state: 'miss', ageSeconds: 0 });
  t.deepEqual(await getAnswer(question, { ttlMs: 1000, refresh: true }), {
    text: 'answer 3',
    state: 'miss',
    ageSeconds: 0,
  });
  t.is((await getAnswer(question)).text, 'answer 3');
});

test('the age is reported in whole seconds', async (t) => {
  const { getAnswer, pass } = setUp();
  await getAnswer(question, { ttlMs: 5000, refresh: false });
  pass(2500);
  t.is((await getAnswer(question)).ageSeconds, 2);
});

test('concurrent equal queries share one execution', async (t) => {
  const { getAnswer, runs } = setUp();
  const responses = await Promise.all([getAnswer(question), getAnswer(question), getAnswer(question)]);
  t.is(runs(), 1);
  t.deepEqual(responses.map(({ state }) => state).sort(), ['miss', 'shared', 'shared']);
});

const others: Readonly<Record<string, CachedRequest>> = {
  'another organization': { ...question, caller: { ...caller, tenantId: 'b' } },
  'another role': { ...question, caller: { ...caller, role: 'owner' } },
  'another plan': { ...question, caller: { ...caller, plan: { ...caller.plan, entitlements: [] } } },
  'another retention': {
    ...question,
    caller: { ...caller, organization: { ...caller.organization, retentionDays: { logs: 1 } } },
  },
  'a right that nobody has thought of yet': { ...question, caller: { ...caller, scopes: ['logs:read'] } as Caller },
  'another operation': { ...question, operationId: 'listTraces' },
  'another parameter of the path': { ...question, params: { id: '1' } },
  'another query': { ...question, query: { service: 'y' } },
  'another body': { ...question, body: {} },
};

for (const [title, other] of Object.entries(others))
  test(`${title} never shares a result`, async (t) => {
    const { getAnswer } = setUp();
    t.is((await getAnswer(question)).text, 'answer 1');
    t.is((await getAnswer(other)).text, 'answer 2');
    const results = await Promise.all([
      getAnswer(question, { ...ttl, refresh: true }),
      getAnswer(other, { ...ttl, refresh: true }),
    ]);
    t.not(results[0].text, results[1].text);
  });

test('a user with the same permissions, or a different parameter order, shares the result', async (t) => {
  const { getAnswer } = setUp();
  await getAnswer({ ...question, query: { service: 'x', limit: '5' } });
  const colleague = { ...caller, userId: 'u2', sessionId: 's2', actor: { ...caller.actor, id: 'u2' } };
  t.is((await getAnswer({ ...question, caller: colleague, query: { limit: '5', service: 'x' } })).state, 'hit');
});

test('a failure is not cached', async (t) => {
  const { cache, getAnswer } = setUp();
  const failing = () => cache.getOrCompute(question, ttl, () => Promise.reject(new Error('away')));
  await t.throwsAsync(failing, { message: 'away' });
  t.is((await getAnswer(question)).state, 'miss');
});

test('a caller that shares an execution gets its result even if the first caller disconnects', async (t) => {
  const { cache, getAnswer, runs } = setUp();
  const pendingResult = Promise.withResolvers<string>();
  const first = cache.getOrCompute(question, ttl, () => pendingResult.promise);
  await new Promise(setImmediate);
  const others = [getAnswer(question), getAnswer(question), getAnswer(question)];
  await new Promise(setImmediate);
  pendingResult.reject(new ClientDisconnectedError());
  await t.throwsAsync(first, { instanceOf: ClientDisconnectedError });
  t.deepEqual(
    (await Promise.all(others)).map(({ text }) => text),
    ['answer 1', 'answer 1', 'answer 1'],
  );
  t.is(runs(), 1);
});

test('a very long result is not cached', async (t) => {
  const { cache, getAnswer } = setUp();
  await cache.getOrCompute(question, ttl, async () => 'x'.repeat(2 * 1024 * 1024));
  t.is((await getAnswer(question)).state, 'miss');
});
