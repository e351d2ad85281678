/** Session recordings through the API: in order, without duplicates, with gaps, and audited. */
import test from 'ava';
import { requireFormat } from '../../receivers/registry.ts';
import { defaultBrowserPrivacy } from '../../schemas/browser-privacy.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { topics } from '../../schemas/topics.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landTopic } from './land-otlp.ts';

let harness: Harness;

const createEvents = (count: number, fromMs: number, length = 10): object[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 3,
    timestamp: fromMs + index,
    data: { source: 1, text: 'x'.repeat(length) },
  }));
const snapshot = (timestamp: number): object => ({ type: 2, timestamp, data: { node: { type: 0, childNodes: [] } } });

/** Publishes a body like the receiver. */
const publish = async (session: string, tab: string, first: number, events: readonly object[], tenantId = 'a') => {
  const body = Buffer.from(JSON.stringify({ session, tab, first, events }));
  const browser = { application: 'shop', privacy: defaultBrowserPrivacy };
  const translation = requireFormat('rum-replay').translate?.(body, 'logs', undefined, browser);
  const producer = await harness.bus.producer();
  await producer.publish(
    (translation?.publications ?? []).map(({ topic, key, value }) => ({
      topic,
      key,
      value: Buffer.from(JSON.stringify({ tenantId, projectId: 'shop', ...value })),
      headers: {},
    })),
  );
  await producer.close();
};

const first = [snapshot(1_000), ...createEvents(3, 1_001)];
const second = [snapshot(5_000), ...createEvents(2, 5_001)];
const afterGap = createEvents(2, 6_000);
const nextDocument = [snapshot(9_000)];
/** Texts that hardly compress, so that they exceed one page. */
const large = createEvents(40, 20_000).map((event, index) => ({
  ...event,
  data: {
    source: 1,
    noise: Array.from({ length: 9_000 }, (_, at) => Math.imul(index * 9_000 + at + 1, 0x9e3779b1).toString(36)).join(
      '',
    ),
  },
}));

test.before(async () => {
  harness = await startHarness();
  // Out of order, and one body twice.
  await publish('s1', 'tab-2', 0, nextDocument);
  await publish('s1', 'tab-1', 4, second);
  await publish('s1', 'tab-1', 0, first);
  await publish('s1', 'tab-1', 4, second);
  await publish('s1', 'tab-1', 10, afterGap);
  await publish('s2', 'tab-1', 0, [snapshot(19_000), ...large]);
  await publish('s3', 'tab-1', 0, first, 'b');
  await landTopic(harness, topics.rumReplays.name);
});
test.after.always(() => harness?.close());

const getReplay = (session: string, query = '') =>
  harness.request('GET', `/api/rum/sessions/${session}/replay${query}`);

test('events come back in order, once, with the gaps between them', async (t) => {
  const { status, body } = await getReplay('s1');
  t.is(status, 200);
  t.deepEqual(body.events, [...first, ...second, ...afterGap, ...nextDocument]);
  t.deepEqual(body.gaps, [{ tab: 'tab-1', first: 7, last: 9, from: 5_002, to: 6_000 }]);
  t.like(body, { startMs: 1_000, endMs: 9_000 });
  t.is(body.nextCursor, null);
});

test('a page begins at the last full snapshot before a time', async (t) => {
  const { body } = await getReplay('s1', '?from=5002');
  t.deepEqual(body.events, [...second, ...afterGap, ...nextDocument]);
  const last = await getReplay('s1', '?from=99999');
  t.deepEqual(last.body.events, nextDocument);
});

test('a long recording is read page by page', async (t) => {
  const events: unknown[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const { body } = await getReplay('s2', cursor === '' ? '' : `?cursor=${cursor}`);
    events.push(...body.events);
    cursor = body.nextCursor;
  }
  t.true(pages > 1, `${pages}`);
  t.deepEqual(events, [snapshot(19_000), ...large]);
});

test('reading a recording is audited, and recordings of others do not exist', async (t) => {
  await getReplay('s1');
  t.is((await getReplay('s3')).status, 404);
  t.is((await getReplay('none')).status, 404);
  const records = await harness.documents
    .forTenant('a')
    .collection(auditRecords)
    .list({ filter: { action: 'rum-replay.read' } });
  t.deepEqual([...new Set(records.items.map(({ resource }) => resource.id))].sort(), ['s1', 's2']);
});
