/** Deployments and the event feed over HTTP: recorded, detected, from the audit log, and custom. */
import test from 'ava';
import { topics } from '../../schemas/topics.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { landOtlp, landTopic, resourceOf } from './land-otlp.ts';

let harness: Harness;
const minuteMs = 60_000;
const minute = Math.floor(Date.now() / minuteMs) * minuteMs - 120 * minuteMs;
const iso = (ms: number): string => new Date(ms).toISOString();

const send = async (
  version: string,
  from: number,
  to: number,
  more: { tenantId?: string; service?: string } = {},
): Promise<void> => {
  const { tenantId = 'a', service = 'cart' } = more;
  const logRecords = Array.from({ length: to - from + 1 }, (_, at) => ({
    timeUnixNano: `${minute + (from + at) * minuteMs}000000`,
    body: { stringValue: 'x' },
  }));
  const resource = resourceOf({
    'service.name': service,
    'service.version': version,
    'deployment.environment.name': 'live',
  });
  await landOtlp(harness.columns, {
    tenantId,
    signal: 'logs',
    request: { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] },
  });
};

const post = async (path: string, body: object, as: 'editor' | 'viewer' = 'editor') =>
  harness.request('POST', path, { as, body });
const range = `from=${minute - minuteMs}`;
const list = async (path: string) => {
  const { status, body } = await harness.request('GET', path, { as: 'viewer' });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
interface EventView {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly time: string;
}

test.before(async () => {
  harness = await startHarness();
  // Version 1, then 2, then 1 again with exactly the same resource.
  await send('1', 0, 20);
  await send('2', 20, 40);
  await send('1', 40, 80);
  await send('canary-b', 0, 10, { tenantId: 'b' });
  await send('canary-b2', 11, 20, { tenantId: 'b' });
  const deployment = {
    service: 'cart',
    version: '2',
    environment: 'live',
    time: iso(minute + 19 * minuteMs),
    commit: 'abc',
    link: 'https://ci.example/7',
    description: 'with coupons',
  };
  for (const attempt of [1, 2])
    await post('/api/deployments', { ...deployment, id: 'run-7', description: `try ${attempt}` });
  await post('/api/deployments', { service: 'web', version: '9', time: iso(minute + 5 * minuteMs) });
  for (let at = 0; at < 7; at++)
    await post('/api/events', {
      title: `event ${at}`,
      time: iso(minute + at * minuteMs),
      service: at % 2 === 0 ? 'cart' : '',
      tags: { n: `${at}` },
    });
  const b = await harness.signIn('editor@b.example');
  await harness.request('POST', '/api/events', {
    as: `token ${b}`,
    body: { title: 'canary-b event', time: iso(minute) },
  });
  await harness.request('PUT', '/api/service-settings', { as: 'editor', body: { apdexThresholdMs: 76543 } });
  await harness.request('POST', '/api/license-keys', { as: 'admin', body: { name: 'secret key' } });
  await landTopic(harness, topics.events.name);
});
test.after.always(() => harness?.close());

test('deployments are recorded or derived from versions, a deployment with both is listed once, and rollbacks are included', async (t) => {
  const { items, partial } = await list(`/api/deployments?${range}&scope=account`);
  t.deepEqual(partial, []);
  const eventFields = items.map(
    ({ service, version, previousVersion, isRollback, sources }: Record<string, unknown>) => [
      service,
      version,
      previousVersion,
      isRollback,
      sources,
    ],
  );
  t.deepEqual(eventFields, [
    ['cart', '1', '2', true, ['detected']],
    ['cart', '2', '1', false, ['recorded', 'detected']],
    ['web', '9', null, null, ['recorded']],
  ]);
  t.like(items[1], {
    commit: 'abc',
    link: 'https://ci.example/7',
    description: 'try 1',
    time: `${iso(minute + 19 * minuteMs).slice(0, -1)}000000Z`,
  });
  t.is(items[0].time, `${iso(minute + 40 * minuteMs).slice(0, -1)}000000Z`);
  t.is((await list(`/api/deployments?${range}&scope=account&service=web`)).items.length, 1);
  t.is((await list(`/api/deployments?${range}&scope=account&environment=live`)).items.length, 2);
  const first = await list(`/api/deployments?${range}&scope=account&limit=2`);
  const second = await list(`/api/deployments?cursor=${first.nextCursor}&scope=account&limit=2`);
  t.deepEqual([...first.items, ...second.items], items);
  t.is(second.nextCursor, null);
});

test('the feed contains every kind of event, newest first, in pages of any size', async (t) => {
  const { items, nextCursor } = await list(`/api/events?${range}&limit=1000`);
  t.is(nextCursor, null);
  const kinds = items.map(({ kind }: EventView) => kind);
  t.is(kinds.filter((kind: string) => kind === 'custom').length, 7);
  t.is(kinds.filter((kind: string) => kind === 'deployment').length, 3);
  t.deepEqual(
    items.filter(({ kind }: EventView) => kind === 'config').map(({ title }: EventView) => title),
    ['service-settings.update'],
  );
  const times = items.map(({ time }: EventView) => time);
  t.deepEqual(times, [...times].sort().reverse());
  for (const limit of [1, 3, 4]) {
    const paged: unknown[] = [];
    let cursor = '';
    do {
      const page = await list(`/api/events?${cursor === '' ? range : `cursor=${cursor}`}&limit=${limit}`);
      paged.push(...page.items);
      cursor = page.nextCursor ?? '';
    } while (cursor !== '');
    t.deepEqual(paged, items);
  }
});

test('a Viewer sees the audit records of changes that Editors may make, without names of people, addresses and values', async (t) => {
  const body = JSON.stringify(await list(`/api/events?${range}&limit=1000`));
  for (const hidden of ['secret key', 'license-key', '127.0.0.1', '@a.example', '76543', 'canary', 'user.'])
    t.false(body.includes(hidden), hidden);
});

test('the feed is filtered by kind and service', async (t) => {
  const { items } = await list(`/api/events?${range}&kinds=custom&service=cart`);
  t.deepEqual(
    items.map(({ title }: EventView) => title),
    ['event 6', 'event 4', 'event 2', 'event 0'],
  );
  t.is((await harness.request('GET', '/api/events?kinds=nonsense', { as: 'viewer' })).status, 400);
  const about = await list(`/api/events?${range}&service=cart`);
  t.true(about.items.every(({ kind }: EventView) => kind !== 'config'));
});

test('a client-supplied ID adds one event and one audit record, and a repetition returns the existing event', async (t) => {
  const again = await post('/api/deployments', { service: 'cart', version: '3', id: 'run-7' });
  t.is(again.status, 200);
  t.like(again.body, { version: '2', description: 'try 1' });
  const { body } = await harness.request('GET', '/api/audit?action=deployment.create&resourceId=run-7');
  // The first two requests came before either was stored.
  t.is(body.items.length, 2);
});

test('Viewers cannot add events, and invalid links and times are refused', async (t) => {
  t.is((await post('/api/events', { title: 'x' }, 'viewer')).status, 403);
  t.is((await post('/api/deployments', { service: 'x', version: '1' }, 'viewer')).status, 403);
  for (const wrong of [
    { link: 'javascript:alert(1)' },
    { time: 'now-90d' },
    { time: 'now+2h' },
    { time: 'soon' },
    { title: '' },
  ])
    t.is((await post('/api/events', { title: 'x', ...wrong })).status, 400, JSON.stringify(wrong));
});
