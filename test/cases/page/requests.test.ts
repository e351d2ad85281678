/** Requests of the page: their form, renewal of an expired session, errors, and cancellation. */
import './browser.ts';

import test from 'ava';
import type { z } from 'zod';
import { Action } from '../../../web/client/action.ts';
import { toCurl } from '../../../web/client/as-curl.ts';
import type { Call } from '../../../web/client/call.ts';
import { ApiQuery } from '../../../web/client/query.ts';
import { CallError, request, requestLines, requestVersioned } from '../../../web/client/request.ts';
import { eventually } from '../../waiting.ts';
import { answerWith, goBackTo, json, leftFor, requests } from './browser.ts';

type Any = z.ZodType<Record<string, unknown>, Record<string, unknown>>;
interface Operation {
  readonly method: 'GET' | 'PUT';
  readonly path: string;
  readonly params: Any;
  readonly query: Any;
  readonly body: Any;
  readonly response: Any;
}
const read: Call<Operation> = { method: 'GET', path: '/api/things' };
const replace: Call<Operation> = { method: 'PUT', path: '/api/things/{id}' };

const sentLines = (): string[] => requests.map(({ method, address }) => `${method} ${address}`);
const errorOf = async (run: () => Promise<unknown>): Promise<CallError> => {
  const error = await run().then(
    () => undefined,
    (failed: unknown) => failed,
  );
  if (!(error instanceof CallError)) throw new Error(`expected a CallError, got ${String(error)}`);
  return error;
};

test.serial('a change has its path, its version and its body', async (t) => {
  answerWith(() => json({ ok: true }));
  const query = { dry: 'yes', empty: '', missing: undefined };
  const response = await request(replace, { params: { id: 'a/b' }, query, body: { name: 'One' }, ifMatch: 7 });
  t.deepEqual(response, { ok: true });
  t.deepEqual(sentLines(), ['PUT /api/things/a%2Fb?dry=yes']);
  t.like(requests[0], { body: { name: 'One' } });
  t.deepEqual(requests[0]?.headers, {
    accept: 'application/json',
    'if-match': '"7"',
    'content-type': 'application/json',
  });
});

test.serial('an expired session is renewed once, and the request is repeated', async (t) => {
  let isRenewed = false;
  answerWith(({ address }) => {
    if (address === '/auth/refresh') isRenewed = true;
    return isRenewed ? json({ ok: true }) : json({}, 401);
  });
  t.deepEqual(await request(read), { ok: true });
  t.deepEqual(sentLines(), ['GET /api/things', 'GET /auth/session', 'POST /auth/refresh', 'GET /api/things']);
});

test.serial('a session that another tab has renewed is not renewed again', async (t) => {
  let attempts = 0;
  answerWith(({ address }) => (address === '/api/things' && ++attempts === 1 ? json({}, 401) : json({ ok: true })));
  t.deepEqual(await request(read), { ok: true });
  t.deepEqual(sentLines(), ['GET /api/things', 'GET /auth/session', 'GET /api/things']);
});

test.serial('without a session, the page is left for the sign-in page, which returns to it', async (t) => {
  goBackTo('/logs?search=a');
  answerWith(() => json({}, 401));
  void request(read);
  await eventually('the sign-in page', () => leftFor.length > 0);
  t.deepEqual(leftFor, ['/login?returnTo=%2Flogs%3Fsearch%3Da']);
  t.deepEqual(sentLines(), ['GET /api/things', 'GET /auth/session', 'POST /auth/refresh']);
});

test.serial('a rejected request has a message for people, and errors by path', async (t) => {
  const details = [{ path: 'query.search', message: 'is not closed' }];
  answerWith(() => json({ message: 'Invalid.', error: 'VALIDATION_FAILED', details }, 400));
  const error = await errorOf(() => request(read));
  t.like(error, { message: 'Invalid.', status: 400, code: 'VALIDATION_FAILED', retrySeconds: undefined });
  t.is(error.of('query.search'), 'is not closed');
  t.is(error.of('query'), undefined);
  t.is(error.at('query'), 'is not closed');
  t.is(error.at('que'), undefined);
});

test.serial('a request is retried only if the server is overloaded or unreachable', async (t) => {
  answerWith(() => json({}, 429, { 'retry-after': '17' }));
  t.like(await errorOf(() => request(read)), { status: 429, retrySeconds: 17 });
  answerWith(() => new Response('not JSON', { status: 503 }));
  t.like(await errorOf(() => request(read)), {
    message: 'The server returned status 503.',
    code: 'INTERNAL',
    retrySeconds: 5,
  });
  answerWith(() => {
    throw new TypeError('fetch failed');
  });
  t.like(await errorOf(() => request(read)), { status: 0, code: 'UNREACHABLE', retrySeconds: 5 });
});

test.serial('YAML is text, and a version is read from its header', async (t) => {
  answerWith(() => new Response('a: 1', { headers: { 'content-type': 'application/yaml; charset=utf-8' } }));
  t.is((await request(read)) as unknown, 'a: 1');
  answerWith(() => json({ a: 1 }, 200, { etag: 'W/"12"' }));
  t.deepEqual(await requestVersioned(read), { body: { a: 1 }, version: 12 });
});

test.serial('lines arrive complete, however the response is split', async (t) => {
  const parts = ['{"n":1}\n{"n"', ':2}', '\n\n{"n":3', '}'];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  answerWith(() => new Response(body));
  const lines: unknown[] = [];
  for await (const line of requestLines(read, {}, new AbortController().signal)) lines.push(line);
  t.deepEqual(lines, [{ n: 1 }, { n: 2 }, { n: 3 }]);
  t.like(requests[0]?.headers, { accept: 'application/x-ndjson' });
});

test.serial('a user action runs once at a time, and has the reason for which it was rejected', async (t) => {
  const responses: ((response: Response) => void)[] = [];
  answerWith(() => new Promise((resolve) => responses.push(resolve)));
  const action = new Action(replace);
  const first = action.run({ params: { id: '1' } });
  t.true(action.isRunning.value);
  t.is(await action.run({ params: { id: '2' } }), undefined);
  responses[0]?.(json({ message: 'No.' }, 409));
  t.is(await first, undefined);
  t.is(action.error.value?.message, 'No.');
  t.false(action.isRunning.value);
  const again = action.run({ params: { id: '3' } });
  t.is(action.error.value, undefined);
  responses[1]?.(json({ ok: true }));
  t.deepEqual(await again, { ok: true });
  t.deepEqual(sentLines(), ['PUT /api/things/1', 'PUT /api/things/3']);
});

test.serial(
  'only the last call of a query counts, and the previous response remains until its own arrives',
  async (t) => {
    const responses: ((response: Response) => void)[] = [];
    answerWith(() => new Promise((resolve) => responses.push(resolve)));
    const query = new ApiQuery(read);
    const answersWith = async (value: object): Promise<void> => {
      responses.at(-1)?.(json(value));
      await eventually('the answer', () => !query.state.value.isLoading);
    };
    query.run({ query: { page: 1 } });
    await answersWith({ page: 1 });
    query.run({ query: { page: 2 } });
    query.run({ query: { page: 3 } });
    t.like(query.state.value, { isLoading: true, response: { page: 1 } });
    t.deepEqual(
      requests.slice(1).map(({ signal }) => signal?.aborted),
      [true, false],
    );
    await answersWith({ page: 3 });
    t.like(query.state.value, { response: { page: 3 }, error: undefined });
    query.run({ query: { page: 4 } });
    query.state.value.abortController?.();
    t.true(requests.at(-1)?.signal?.aborted);
    t.like(query.state.value, { isLoading: false, response: { page: 3 } });
    query.clear();
    t.is(query.state.value.response, undefined);
  },
);

test.serial('a query is retried when an overloaded server requests it', async (t) => {
  answerWith(() => (requests.length === 1 ? json({}, 503, { 'retry-after': '1' }) : json({ ok: true })));
  const query = new ApiQuery(read);
  query.run({});
  await eventually('the error', () => query.state.value.error !== undefined);
  t.like(query.state.value, { isLoading: false, error: { status: 503, isRetrying: true } });
  await eventually('the answer', () => query.state.value.response !== undefined);
  t.like(query.state.value, { response: { ok: true }, error: undefined });
});

test('a call is a shell command that takes the token from the environment', (t) => {
  const curl = toCurl(replace, { params: { id: '1' }, query: { at: 'now' }, body: { name: "it's" }, ifMatch: 2 });
  t.is(
    curl,
    `curl -s -X PUT -H "authorization: Bearer $TOKEN" -H 'if-match: "2"' -H 'content-type: application/json' -d '{"name":"it'\\''s"}' 'https://oiq.example/api/things/1?at=now'`,
  );
  t.is(toCurl(read, {}), `curl -s -H "authorization: Bearer $TOKEN" 'https://oiq.example/api/things'`);
});
