/** Runbook search by embeddings of an endpoint, and by words alone whenever the endpoint fails. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import test from 'ava';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { passageVectors } from '../../schemas/resources/runbook.ts';
import { type Harness, startHarness } from './api-harness.ts';

interface EmbeddingRequest {
  readonly path: string | undefined;
  readonly model: string;
  readonly input: readonly string[];
}

/** The API's clock is ahead of real time by this much. */
let aheadMs = 0;
/** Longer than the pause after an endpoint failed. */
const laterMs = 31_000;

let harness: Harness;
let environment: Record<string, string>;
let server: Server;
const requests: EmbeddingRequest[] = [];

/** A vector with the subject of a text: volumes, sessions, or neither. */
const vectorOf = (text: string): number[] => [
  /volume|storage|space/i.test(text) ? 1 : 0,
  /session|sign in|login/i.test(text) ? 1 : 0,
  0.1,
];
const embeddingsOf = (input: readonly string[]) => ({
  // In a different order than requested, as some endpoints respond.
  data: input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) })).toReversed(),
});
type Behavior = (response: ServerResponse, input: readonly string[]) => void;
const respondWith =
  (of: (input: readonly string[]) => unknown): Behavior =>
  (response, input) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(of(input)));
  };
const respondCorrectly = respondWith(embeddingsOf);
let behave: Behavior = respondCorrectly;

const books = {
  storage: '# Postgres\nRemove old write-ahead segments from the volume, then enlarge it.',
  logins: '# Accounts\nWhen sessions end early, look at the clocks of the gateways.',
  mail: '# Mail\nThe relay of the mailer wants another certificate each March.',
};

test.before(async () => {
  server = createServer(async (request, response) => {
    // This server has no other endpoint.
    if (request.url !== '/v1/embeddings') return response.writeHead(404).end();
    const { model, input } = (await json(request)) as Omit<EmbeddingRequest, 'path'>;
    requests.push({ path: request.url, model, input });
    return behave(response, input);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  environment = {
    OIQ_MODEL_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`,
    OIQ_EMBEDDING_MODEL: 'small-vectors',
    OIQ_MODEL_ORGANIZATIONS: 'a',
    OIQ_OUTBOUND_NETWORKS: '127.0.0.0/8',
    OIQ_MODEL_TOKENS_PER_DAY: '20000',
  };
  harness = await startHarness({ environment, now: () => Date.now() + aheadMs });
  for (const content of Object.values(books))
    await harness.request('POST', '/api/ai/rag/documents', { as: 'editor', body: { content } });
});
test.after.always(async () => {
  server?.closeAllConnections();
  server?.close();
  await harness?.close();
});

const search = async (query: string, sources: readonly string[] = ['document'], at = harness) => {
  const { status, body } = await at.request('POST', '/api/ai/rag/search', { as: 'viewer', body: { query, sources } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
};
const firstOf = ({ items }: { items: readonly { text: string }[] }): string | undefined => items[0]?.text;

test.serial('a paraphrase of the query is found, and each passage is sent once', async (t) => {
  behave = respondCorrectly;
  const found = await search('no space left');
  t.regex(firstOf(found) ?? '', /write-ahead segments/);
  t.deepEqual(found.embeddings, { used: true, without: 0, reason: null });
  const [first, second] = requests;
  t.is(first?.path, '/v1/embeddings');
  t.is(first?.model, 'small-vectors');
  t.deepEqual(first?.input, ['no space left']);
  t.is(second?.input.length, 3);
  t.true(second?.input[0]?.startsWith('Postgres\n'));
  const again = await search('login fails at once');
  t.regex(firstOf(again) ?? '', /sessions end early/);
  t.deepEqual(requests.at(-1)?.input, ['login fails at once']);
  const { items } = (await harness.request('GET', '/api/audit?action=model.ask', { as: 'admin' })).body;
  const { body } = await harness.request('GET', `/api/audit/${items[0].id}`, { as: 'admin' });
  t.regex(JSON.stringify(body), /login fails at once/);
});

test.serial('a passage found by both its words and its vector is ranked first', async (t) => {
  behave = respondCorrectly;
  const { items } = await search('enlarge the volume of the relay');
  t.deepEqual(
    items.map(({ title }: { title: string }) => title),
    ['Postgres', 'Mail', 'Accounts'],
  );
  t.true(items[0].score > items[1].score);
});

test.serial('an answer uses the passages found by words and by vectors', async (t) => {
  behave = respondCorrectly;
  const { body } = await harness.request('POST', '/api/ai/rag/answer', {
    as: 'viewer',
    body: { question: 'when do sessions end early?', sources: ['document'] },
  });
  t.true(body.embeddings.used);
  t.regex(body.sentences[0]?.text ?? '', /clocks of the gateways/);
});

test.serial('if the endpoint fails in any way, the word search returns the same results as before', async (t) => {
  const table: readonly (readonly [string, Behavior])[] = [
    ['refuses', (response) => response.writeHead(429).end('later')],
    ['fails', (response) => response.writeHead(500).end()],
    ['answers prose', (response) => response.end('I would rather not.')],
    ['answers none', respondWith(() => ({ data: [] }))],
    ['answers too many', respondWith((input) => embeddingsOf([...input, ...input]))],
    [
      'answers one twice',
      respondWith(() => ({ data: [embeddingsOf(['volume']).data[0], embeddingsOf(['volume']).data[0]] })),
    ],
    [
      'answers no direction',
      respondWith((input) => ({ data: input.map((_, index) => ({ index, embedding: [0, 0, 0] })) })),
    ],
    ['answers nothing', respondWith((input) => ({ data: input.map((_, index) => ({ index, embedding: [] })) }))],
    [
      'answers what is no number',
      (response, input) =>
        response.end(`{"data":[${input.map((_, index) => `{"index":${index},"embedding":[1e999,1,1]}`).join()}]}`),
    ],
    ['answers without an end', (response) => response.write(' '.repeat(9 * 1024 * 1024))],
    ['breaks off', (response) => response.destroy()],
  ];
  for (const [title, behaving] of table) {
    behave = behaving;
    aheadMs += laterMs;
    const { items, embeddings } = await search('certificate of the relay');
    t.regex(items[0]?.text ?? '', /wants another certificate/, title);
    t.is(items.length, 1, title);
    t.false(embeddings.used, title);
    t.is(typeof embeddings.reason, 'string', title);
  }
});

test.serial('an endpoint that does not respond is awaited briefly, and then not called for a while', async (t) => {
  const openResponses: ServerResponse[] = [];
  behave = (response) => void openResponses.push(response);
  aheadMs += laterMs;
  const startedMs = performance.now();
  const first = await search('certificate of the relay');
  t.true(performance.now() - startedMs < 10_000);
  t.regex(first.items[0]?.text ?? '', /wants another certificate/);
  t.regex(first.embeddings.reason, /does not respond/);
  const before = requests.length;
  const second = await search('certificate of the relay');
  t.regex(second.embeddings.reason, /does not respond.*; the endpoint is called again after 20/);
  t.is(requests.length, before);
  for (const response of openResponses) response.destroy();
  behave = respondCorrectly;
  aheadMs += laterMs;
  t.true((await search('no space left')).embeddings.used);
});

test.serial('a process that starts reuses the stored vectors, and sends only its question', async (t) => {
  behave = respondCorrectly;
  await search('no space left');
  const other = await startHarness({ environment, sharing: harness, now: () => Date.now() + aheadMs });
  t.teardown(() => other.close());
  const before = requests.length;
  const found = await search('login fails at once', ['document'], other);
  t.deepEqual(found.embeddings, { used: true, without: 0, reason: null });
  t.regex(firstOf(found) ?? '', /sessions end early/);
  t.deepEqual(
    requests.slice(before).map(({ input }) => input),
    [['login fails at once']],
  );
});

test.serial('vectors of deleted passages and of another model are deleted', async (t) => {
  behave = respondCorrectly;
  const vectorsCollection = () => harness.documents.forTenant('a').collection(passageVectors);
  const added = await harness.request('POST', '/api/ai/rag/documents', {
    as: 'editor',
    body: { content: '# Badges\nStorage of badges is in the cellar.' },
  });
  await search('no space left');
  const badges = (await vectorsCollection().list({ sort: { createdAt: -1 }, limit: 1 })).items[0]?.id ?? '';
  const { id: other } = await vectorsCollection().insert({ model: 'another', vectors: [] });
  await harness.request('DELETE', `/api/ai/rag/documents/${added.body.document.id}`, { as: 'editor' });
  aheadMs += 6 * 60_000;
  // A document without a vector triggers a read of the stored vectors.
  await harness.request('POST', '/api/ai/rag/documents', {
    as: 'editor',
    body: { content: '# Keys\nA key opens it.' },
  });
  await search('no space left');
  t.is(await vectorsCollection().find(badges), undefined);
  t.is(await vectorsCollection().find(other), undefined);
  t.true((await vectorsCollection().count()) > 0);
});

test.serial('vectors of another length are computed again', async (t) => {
  const shorter = (input: readonly string[]) => ({
    data: input.map((text, index) => ({
      index,
      embedding: vectorOf(text)
        .slice(0, 2)
        .map((value) => value + 0.1),
    })),
  });
  behave = respondWith(shorter);
  const found = await search('no space left');
  t.regex(firstOf(found) ?? '', /write-ahead segments/);
  t.deepEqual(found.embeddings, { used: true, without: 0, reason: null });
  behave = respondCorrectly;
  t.regex(firstOf(await search('login fails')) ?? '', /sessions end early/);
});

test.serial('a refused passage does not affect the others', async (t) => {
  const content = 'FORBIDDEN\n\nEmpty the storage of the printer.';
  await harness.request('POST', '/api/ai/rag/documents', { as: 'editor', body: { content, title: 'Printer' } });
  const more = '# Scanner\nFree space on its card.';
  await harness.request('POST', '/api/ai/rag/documents', { as: 'editor', body: { content: more } });
  behave = (response, input) =>
    input.some((text) => text.includes('FORBIDDEN'))
      ? response.writeHead(400).end()
      : respondCorrectly(response, input);
  const found = await search('no storage left');
  t.deepEqual(found.embeddings, { used: true, without: 0, reason: null });
  t.true(found.items.some(({ title }: { title: string }) => title === 'Scanner'));
  const before = requests.length;
  await search('no storage left');
  t.deepEqual(
    requests.slice(before).map(({ input }) => input),
    [['no storage left']],
  );
});

test.serial('only text written by people is sent, from organizations that may send it', async (t) => {
  behave = respondCorrectly;
  const before = requests.length;
  const { embeddings } = await search('storage', ['handbook', 'rule', 'log-pattern']);
  t.like(embeddings, { used: false, without: 0 });
  await harness.documents
    .forTenant(organizationsTenant)
    .collection(organizations)
    .update('b', { planId: 'enterprise' });
  const as = `token ${await harness.signIn('viewer@b.example')}` as const;
  const { status, body } = await harness.request('POST', '/api/ai/rag/search', {
    as,
    body: { query: 'volume of the relay' },
  });
  t.is(status, 200, JSON.stringify(body));
  t.is(body.embeddings, null);
  t.false(JSON.stringify(body.items).includes('write-ahead'));
  t.is(requests.length, before);
});

test.serial('passages beyond the limit of one search get their vectors with the next searches', async (t) => {
  behave = respondCorrectly;
  const content = Array.from({ length: 300 }, (_, nth) => `# Step ${nth}\nTurn valve ${nth}.`).join('\n\n');
  await harness.request('POST', '/api/ai/rag/documents', { as: 'editor', body: { content } });
  const first = await search('no space left');
  t.is(first.embeddings.without, 44);
  t.regex(first.embeddings.reason, /256 passages/);
  const before = requests.length;
  const all = await Promise.all([search('no space left'), search('no space left')]);
  t.true(all.every(({ embeddings }) => embeddings.used));
  t.deepEqual((await search('no space left')).embeddings, { used: true, without: 0, reason: null });
  const sent = requests.slice(before).flatMap(({ input }) => input.filter((text) => text.includes('valve')));
  t.is(sent.length, new Set(sent).size, 'each once');
});

test.serial('an organization has a daily token limit', async (t) => {
  behave = respondCorrectly;
  const long = `space ${'x'.repeat(1_990)}`;
  let last = await search(long);
  for (let attempt = 0; attempt < 60 && last.embeddings.used; attempt++) last = await search(long);
  t.regex(last.embeddings.reason, /has used its 20000 tokens for today/);
  const before = requests.length;
  t.regex(firstOf(await search('certificate')) ?? '', /wants another/);
  // A short text may still be within the limit.
  t.true(requests.length <= before + 1);
});
