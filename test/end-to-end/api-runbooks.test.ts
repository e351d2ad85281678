/** Runbooks through the API: created, found, cited and deleted, with organization, plan and role. */
import test from 'ava';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { grownWith } from '../cases/runbooks/grown-with.ts';
import { landIn, logsRequest, messageOf, receivedAtMs, text } from '../cases/sink-tables.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const nowMs = receivedAtMs + 60_000;
test.before(async () => {
  harness = await startHarness({ now: () => nowMs });
  const record = { timeUnixNano: String(BigInt(receivedAtMs - 60_000) * 1_000_000n), severityNumber: 17 };
  const logRecords = Array.from({ length: 7 }, () => ({ ...record, body: { stringValue: 'order lost' } }));
  const resource = { attributes: [text('service.name', 'orders')] };
  const body = logsRequest({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
  await landIn(harness.columns)([messageOf([body], { tenantId: 'a', signal: 'logs', projectId: 'p1' })], {
    sink: 'logs',
  });
  await harness.columns.execute(
    `INSERT INTO log_patterns (tenant_id, service, structure, pattern_id, places, shard, template, sample, parameters, first_seen, last_seen)
    VALUES ('a', 'orders', 1, 'p1', [], 0, 'quokka shipment <number> rejected', 'quokka shipment 7 rejected', '', now64(3), now64(3))`,
  );
  const post = async (path: string, body: object) => {
    const answer = await harness.request('POST', path, { as: 'editor', body });
    if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  };
  const walrus = { title: 'Walrus gateway', summary: 'The walrus gateway lost its route.' };
  await post(`/api/incidents/${await post('/api/incidents', walrus)}/resolve`, {});
  await post('/api/incidents', { title: 'Walrus gateway', summary: 'It is still unreachable.' });
  await post('/api/v2/alerts/rules', {
    name: 'Zebra stripes fade',
    annotations: { summary: 'Zebra stripes fade', runbook_url: 'https://wiki.example/zebra' },
    condition: {
      kind: 'threshold',
      thresholds: [{ severity: 'error', operator: 'above', value: 0 }],
      query: { kind: 'aggregate', signal: 'logs', search: 'service:orders', measures: [{ function: 'count' }] },
    },
  });
  await harness.documents
    .forTenant(plansTenant)
    .collection(plans)
    .update('free', { entitlements: ['ai'] });
});
test.after.always(() => harness?.close());

type As = Parameters<Harness['request']>[2];
const add = (body: object, as: As = { as: 'editor' }): Promise<Answer> =>
  harness.request('POST', '/api/ai/rag/documents', { ...as, body });
const search = (query: string, more: object = {}): Promise<Answer> =>
  harness.request('POST', '/api/ai/rag/search', { as: 'viewer', body: { query, ...more } });
const titles = ({ body }: Answer): string[] => body.items.map(({ title }: { title: string }) => title);

test.serial(
  'documents are added once, listed, found for an alert, and no longer found after their deletion',
  async (t) => {
    for (const { title, content } of grownWith) {
      const { status, body } = await add({ title, content });
      t.is(status, 200, JSON.stringify(body));
      t.true(body.isNew);
    }
    const [{ title, content, alert }] = grownWith as [(typeof grownWith)[number]];
    const again = await add({ title: 'Another title', content });
    t.false(again.body.isNew);
    t.is(again.body.document.title, title);
    const listed = await harness.request('GET', '/api/ai/rag/documents?limit=1000', { as: 'viewer' });
    t.is(listed.body.items.length, grownWith.length);

    const found = await search(alert);
    t.is(found.status, 200, JSON.stringify(found.body));
    t.is(titles(found)[0], title);
    t.deepEqual(found.body.notRead, []);
    const { id } = again.body.document;
    t.is((await harness.request('DELETE', `/api/ai/rag/documents/${id}`, { as: 'viewer' })).status, 403);
    t.is((await harness.request('DELETE', `/api/ai/rag/documents/${id}`, { as: 'editor' })).status, 200);
    t.false(titles(await search(alert, { limit: 50 })).includes(title));
    t.is((await harness.request('DELETE', `/api/ai/rag/documents/${id}`, { as: 'editor' })).status, 404);
    t.true((await add({ title, content })).body.isNew);
    t.is(titles(await search(alert))[0], title);
  },
);

test.serial('an answer cites passages, and has the metrics that the passages and the question name', async (t) => {
  const content = [
    '# Lost orders',
    'Orders are lost when the worker stops. Start the worker again with `oiqctl start worker`.',
    '```json\n{"kind":"aggregate","signal":"logs","search":"service:orders","measures":[{"function":"count"}]}\n```',
    'Ask `sum(rate(nothing_like_it_total[5m]))`, too.',
  ].join('\n\n');
  await add({ content, url: 'https://wiki.example/lost-orders' });
  const search = (question: string): Promise<Answer> =>
    harness.request('POST', '/api/ai/rag/answer', { as: 'viewer', body: { question } });
  const { status, body } = await search('what do I do when orders are lost?');
  t.is(status, 200, JSON.stringify(body));
  const [first] = body.passages;
  t.is(first.title, 'Lost orders');
  t.is(first.url, 'https://wiki.example/lost-orders');
  t.true(body.sentences.some((each: { text: string }) => each.text.startsWith('Start the worker again')));
  t.true(
    body.sentences.every((each: { passages: number[] }) => each.passages.every((at) => at < body.passages.length)),
  );
  const [counted, promqlFigure] = body.figures;
  t.deepEqual(counted.result.rows, [[7]]);
  t.is(counted.passage, 0);
  t.is(promqlFigure.query.kind, 'promql');
  t.true(promqlFigure.result !== null || promqlFigure.reason !== null);

  const figures = (await search('how many errors of orders')).body.figures;
  t.is(figures[0].passage, null);
  t.deepEqual(figures[0].result.rows, [[7]]);
  const unknown = await search('who painted the ceiling of the chapel in florence');
  t.deepEqual(unknown.body.sentences, []);
  t.regex(unknown.body.reason, /^unknown/);
});

test.serial('resolved incidents, rules, log patterns and the handbook are found', async (t) => {
  const first = async (query: string) => (await search(query)).body.items[0];
  t.is((await first('walrus gateway')).source, 'incident');
  t.false(JSON.stringify((await search('walrus gateway', { limit: 50 })).body).includes('still unreachable'));
  t.is((await first('zebra stripes')).url, 'https://wiki.example/zebra');
  t.is((await first('quokka shipment')).source, 'log-pattern');
  const question = 'zebra stripes fade';
  const { body } = await harness.request('POST', '/api/ai/rag/answer', { as: 'viewer', body: { question } });
  t.deepEqual(body.figures[0].result.rows, [[7]], JSON.stringify(body.figures));
  const handbook = await search('OIQ_OUTBOUND_NETWORKS private network', { sources: ['handbook'] });
  t.true(handbook.body.items.length > 0);
  t.true(handbook.body.items.every(({ source }: { source: string }) => source === 'handbook'));
});

test.serial('no content of another organization is found', async (t) => {
  const secret = 'The xylophone vault opens with the seventh key.';
  await add({ content: `# Xylophone vault\n${secret}` });
  t.is(titles(await search('xylophone vault'))[0], 'Xylophone vault');
  const token = await harness.signIn('owner@b.example');
  const others = await harness.request('POST', '/api/ai/rag/search', {
    as: `token ${token}`,
    body: { query: 'xylophone vault seventh key', limit: 50 },
  });
  t.is(others.status, 200, JSON.stringify(others.body));
  t.false(JSON.stringify(others.body).includes('ylophone'));
  t.deepEqual(
    others.body.notRead.map(({ source }: { source: string }) => source),
    ['log-pattern'],
  );
});

const refused: Readonly<Record<string, readonly [body: object, path: string]>> = {
  'more than a mebibyte in UTF-8': [{ content: 'ä'.repeat(600_000) }, 'content'],
  'nothing but a script': [{ format: 'html', content: '<script>alert(1)</script>' }, 'content'],
  'an address that would run': [{ content: 'text', url: 'javascript:alert(1)' }, 'url'],
  'more passages than an organization may have': [
    { content: Array.from({ length: 10_001 }, (_, nth) => `# ${nth}\ntext`).join('\n') },
    'content',
  ],
};
for (const [title, [body, path]] of Object.entries(refused))
  test.serial(`a document is refused if it has ${title}`, async (t) => {
    const answer = await add(body);
    t.is(answer.status, 400, JSON.stringify(answer.body).slice(0, 300));
    t.is(answer.body.details[0].path, path);
  });
