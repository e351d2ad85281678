/** From a state change of an alert to the request of a channel, and the delivery ledger. */
import test from 'ava';
import { PlatformWatch } from '../../api/platform-watch/watch.ts';
import { startProcessors } from '../../processors/index.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import { topics } from '../../schemas/topics.ts';
import { startSinks } from '../../sinks/index.ts';
import { startChannelReceiver } from '../cases/channel-receiver.ts';
import { eventually, stretched } from '../waiting.ts';
import { startHarness } from './api-harness.ts';
import { portsOf } from './harness-ports.ts';

const environment = { OIQ_OUTBOUND_NETWORKS: '127.0.0.0/8', OIQ_SECRET_KEY: 'k'.repeat(40) };
const harness = await startHarness({ environment });
const ports = portsOf(harness, environment);
const processors = await startProcessors({
  ...ports,
  only: ['notifications', 'notification-deliveries'],
  deliveries: { waitsMs: [50, 50, 50, 50, 50, 50] },
});
const sinks = await startSinks({
  ...ports,
  embedded: true,
  selectedNames: ['notification-deliveries', 'alert-transitions', 'events'],
});
test.after.always(async () => {
  await processors.stop();
  await sinks.stop();
  await harness.close();
});

const comes = (holds: () => boolean | Promise<boolean>): Promise<void> => eventually(String(holds), holds);

const producer = await harness.bus.producer();
let serial = 0;
const publish = async (
  labels: Record<string, string>,
  to: AlertTransition['to'],
  more: Partial<AlertTransition> = {},
) => {
  const atMs = Date.now();
  const transition: AlertTransition = {
    tenantId: 'a',
    id: `t${serial++}`,
    alertId: JSON.stringify(labels),
    ruleId: 'rule',
    ruleVersion: 1,
    ruleName: 'Rule',
    labels,
    annotations: { summary: 'it is slow' },
    severity: 'error',
    from: 'inactive',
    to,
    atMs,
    value: 7,
    reason: '',
    ...(to === 'inactive' ? { endedAtMs: atMs } : { startedAtMs: atMs }),
    ...more,
  };
  const value = Buffer.from(JSON.stringify([transition]));
  await producer.publish([{ topic: topics.alertTransitions.name, key: 'a', value, headers: { tenant: 'a' } }]);
};

const channel = async (name: string, url: string, fields: object = {}): Promise<string> => {
  const body = { name, settings: { type: 'webhook', url }, maxPerMinute: 6000, ...fields };
  const response = await harness.request('POST', '/api/notification-channels', { body });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body.id;
};

/** Routes alerts of each team to the channel with the same name. */
const route = async (channels: Readonly<Record<string, string>>): Promise<void> => {
  const { headers } = await harness.request('GET', '/api/v2/alerts/routing');
  const names = Object.keys(channels);
  const body = {
    route: {
      receiver: names[0],
      groupBy: ['alertname'],
      groupWait: '0s',
      groupInterval: '1s',
      routes: names.map((receiver) => ({ receiver, matchers: [{ name: 'team', value: receiver }] })),
    },
    receivers: names.map((name) => ({ name, channelIds: [channels[name]] })),
  };
  const response = await harness.request('PUT', '/api/v2/alerts/routing', {
    body,
    headers: { 'if-match': headers.get('etag') ?? '' },
  });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  // Processors get the change within a second.
  await new Promise((resolve) => setTimeout(resolve, stretched(2000)));
};

const deliveriesOf = async (id: string) =>
  (await harness.request('GET', `/api/notification-channels/${id}/deliveries`)).body;

test.serial('a failure to evaluate rules is notified to the channel of the organization', async (t) => {
  const receiver = await startChannelReceiver();
  t.teardown(() => receiver.close());
  await route({ platform: await channel('platform', receiver.url) });
  const query = { kind: 'aggregate', signal: 'logs', search: '', measures: [{ function: 'count' }] };
  const thresholds = [{ severity: 'critical', operator: 'above', value: 5 }];
  const condition = { kind: 'threshold', query, window: '1h', thresholds };
  const created = await harness.request('POST', '/api/alerts/rules', {
    body: { name: 'Waits', condition, interval: '10s' },
  });
  t.is(created.status, 200, JSON.stringify(created.body));
  // No process evaluates rules here.
  const clock = { nowMs: Date.now(), now: () => clock.nowMs };
  const watch = new PlatformWatch({
    documents: harness.documents,
    columns: harness.columns,
    clock,
    groupStatuses: { getStatuses: () => [] },
    operator: [],
    publish: (transition) =>
      producer.publish([
        {
          topic: topics.alertTransitions.name,
          key: transition.tenantId,
          value: Buffer.from(JSON.stringify([transition])),
          headers: { tenant: transition.tenantId },
        },
      ]),
    publishEvent: async () => {},
  });
  t.teardown(() => watch.close());
  await watch.checkPlatform();
  clock.nowMs += 120_000;
  await watch.checkPlatform();
  await comes(() => receiver.received.length > 0);
  t.like(receiver.received[0]?.body, { status: 'firing', commonLabels: { alertname: 'PlatformRulesNotEvaluated' } });
  await harness.request('DELETE', `/api/alerts/rules/${created.body.id}`);
  await comes(async () => {
    await watch.checkPlatform();
    return receiver.received.some(({ body }) => body.status === 'resolved');
  });
});

test.serial('an alert and its end are delivered to its channel, and both are in the ledger', async (t) => {
  const receiver = await startChannelReceiver();
  t.teardown(() => receiver.close());
  const id = await channel('works', receiver.url);
  await route({ works: id });
  await publish({ alertname: 'Slow', team: 'works' }, 'firing');
  await comes(() => receiver.received.length === 1);
  t.is(receiver.received[0]?.body.status, 'firing');
  const previewOf = async (value: string) => {
    const body = { matchers: [{ name: 'alertname', value }] };
    return (await harness.request('POST', '/api/alerts/silences/preview', { as: 'viewer', body })).body;
  };
  await comes(async () => (await previewOf('Slow')).muted === 1);
  t.is((await previewOf('Slow')).items[0].labels.team, 'works');
  t.is((await previewOf('Fast')).muted, 0);
  t.is(receiver.received[0]?.body.alerts[0].annotations.summary, 'it is slow');
  await publish({ alertname: 'Slow', team: 'works' }, 'inactive');
  await comes(() => receiver.received.length === 2);
  t.is(receiver.received[1]?.body.status, 'resolved');
  t.not(receiver.received[0]?.headers['webhook-id'], receiver.received[1]?.headers['webhook-id']);
  await comes(
    async () =>
      (await deliveriesOf(id)).items.filter(({ state }: { state: string }) => state === 'delivered').length === 2,
  );
  const { items, health } = await deliveriesOf(id);
  t.deepEqual(
    items.map(({ status, attempts }: { status: string; attempts: { statusCode: number }[] }) => [
      status,
      attempts.map(({ statusCode }) => statusCode),
    ]),
    [
      ['resolved', [200]],
      ['firing', [200]],
    ],
  );
  t.is(health.failures, 0);
  t.is(typeof health.lastDeliveredAt, 'string');
  const first = await harness.request('GET', `/api/notification-channels/${id}/deliveries?limit=1`);
  const second = await harness.request(
    'GET',
    `/api/notification-channels/${id}/deliveries?limit=1&cursor=${first.body.nextCursor}`,
  );
  t.deepEqual([first.body.items[0].id, second.body.items[0].id], [items[0].id, items[1].id]);
  t.is((await harness.request('GET', `/api/notification-channels/${id}/deliveries?state=failed`)).body.items.length, 0);
});

test.serial(
  'a failing channel is retried with the same key, raises an alert through another channel, and recovers in order',
  async (t) => {
    const broken = await startChannelReceiver({ status: 500, body: 'broken' });
    const other = await startChannelReceiver();
    t.teardown(() => Promise.all([broken.close(), other.close()]));
    const id = await channel('broken', broken.url);
    await route({ other: await channel('other', other.url), broken: id });
    await publish({ alertname: 'Down', team: 'broken' }, 'firing');
    await comes(() => other.received.some(({ body }) => body.commonLabels.alertname === 'NotificationChannelFailing'));
    t.is(other.received[0]?.body.commonLabels.failing_channel, id);
    const { items: alerts } = (await harness.request('GET', '/api/alerts?ruleId=platform')).body;
    t.like(alerts[0], { origin: 'platform', labels: other.received[0]?.body.commonLabels, state: 'firing' });
    const { platform, attention } = (await harness.request('GET', '/api/overview?attention=true')).body;
    t.like(platform.alerts[0], { name: 'channel-failing', reason: alerts[0].reason });
    t.like(attention.items[0], { kind: 'platform', name: alerts[0].ruleName, detail: '/api/alerts?ruleId=platform' });
    const { body: acknowledged } = await harness.request('POST', `/api/alerts/${alerts[0].id}/acknowledge`, {
      body: {},
    });
    t.is(acknowledged.id, alerts[0].id);
    await publish({ alertname: 'Up', team: 'broken' }, 'firing');
    broken.reply = () => ({ status: 200 });
    await comes(() => other.received.some(({ body }) => body.status === 'resolved'));
    const keys = new Set(
      broken.received
        .filter(({ body }) => body.groupLabels.alertname === 'Down')
        .map(({ headers }) => headers['webhook-id']),
    );
    t.is(keys.size, 1);
    await comes(async () =>
      (await deliveriesOf(id)).items.some(({ state }: { state: string }) => state === 'delivered'),
    );
    const { items, health } = await deliveriesOf(id);
    const down = items.find(({ groupKey }: { groupKey: string }) => groupKey.includes('Down'));
    t.true(down.attempts.length >= 3);
    t.is(down.attempts[0].statusCode, 500);
    t.is(down.attempts[0].answer, 'broken');
    t.is(health.failingSince, null);
    t.deepEqual((await harness.request('GET', '/api/alerts?ruleId=platform')).body.items, []);
    const events = async () => (await harness.request('GET', '/api/events?kinds=alert')).body.items;
    await comes(async () => (await events()).length === 2);
    t.deepEqual(
      (await events()).map(({ title }: { title: string }) => title),
      ['Notification channel fails ended', 'Notification channel fails fires'],
    );
  },
);

test.serial('a permanently refused notification is given up at once', async (t) => {
  const receiver = await startChannelReceiver({ status: 403, body: 'not you' });
  t.teardown(() => receiver.close());
  const id = await channel('refuses', receiver.url);
  await route({ refuses: id });
  await publish({ alertname: 'Slow', team: 'refuses' }, 'firing');
  await comes(async () => (await deliveriesOf(id)).items[0]?.state === 'failed');
  const { items, health } = await deliveriesOf(id);
  t.is(items[0].attempts.length, 1);
  t.is(health.lastError, 'not you');
});

test.serial('a test firing is marked, and a disabled channel gets nothing', async (t) => {
  const receiver = await startChannelReceiver();
  t.teardown(() => receiver.close());
  const on = await channel('on', receiver.url);
  const off = await channel('off', `${receiver.url}/off`, { enabled: false });
  await route({ on, off });
  await publish({ alertname: 'Tried', team: 'off' }, 'firing', { isTest: true });
  await publish({ alertname: 'Tried', team: 'on' }, 'firing', { isTest: true });
  // The alert about the failing channel arrives as well.
  await comes(() => receiver.received.some(({ body }) => body.isTest));
  const tried = receiver.received.find(({ body }) => body.isTest)?.body;
  t.is(tried.commonLabels.alertname, 'Tried');
  t.true(tried.alerts[0].isTest);
  await comes(async () => (await deliveriesOf(off)).items[0]?.state === 'failed');
  t.false(receiver.received.some(({ path }) => path === '/off'));
});
