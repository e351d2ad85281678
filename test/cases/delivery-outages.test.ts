/** Unavailable channels: when deliveries are attempted, and what is sent after recovery. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { startDeliveries } from '../../processors/deliveries/deliveries.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { DeliveryStep, Notification } from '../../schemas/notifications.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { notificationChannels } from '../../schemas/resources/notification-channel.ts';
import { channelHealths, channelOutages, pendingDeliveries } from '../../schemas/resources/notification-delivery.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { topics } from '../../schemas/topics.ts';
import { recordOutcome } from '../../subjects/notification-channels/health.ts';
import { endOutage } from '../../subjects/notification-channels/outage.ts';
import { eventually } from '../waiting.ts';

const startMs = Date.UTC(2026, 0, 1);
const second = 1000;

const makeNotification = (id: string, atMs: number): Notification => ({
  tenantId: 'acme',
  id,
  channelId: 'hook',
  receiver: 'all',
  groupKey: `{}:{g="${id}"}`,
  groupLabels: {},
  commonLabels: { alertname: id },
  commonAnnotations: {},
  status: 'firing',
  reason: 'first',
  firing: 1,
  resolved: 0,
  truncatedAlerts: 0,
  atMs,
  alerts: [{ alertId: id, ruleId: 'r', status: 'firing', labels: {}, annotations: {}, startsAtMs: startMs, value: 1 }],
});

/** Deliveries to one webhook, with their own clock. */
const openWorld = async (t: ExecutionContext) => {
  const clock = { nowMs: startMs, now: () => clock.nowMs };
  const documents = await openSqliteDocuments({ path: join(mkdtempSync(join(tmpdir(), 'outages-')), 'documents.db') });
  await documents.ensureCollections([
    pendingDeliveries,
    notificationChannels,
    channelHealths,
    channelOutages,
    organizations,
  ]);
  const stored = documents.forTenant('acme');
  const organization = { name: 'Acme', planId: 'p', retentionDays: {}, shards: 1, disabled: false };
  await documents
    .forTenant(organizationsTenant)
    .collection(organizations)
    .insert({ id: 'acme', ...organization });
  await stored.collection(notificationChannels).insert({
    id: 'hook',
    name: 'hook',
    description: '',
    enabled: true,
    settings: { type: 'webhook', url: 'http://receiver.example/' },
    templates: { title: '', text: '' },
    maxPerMinute: 6000,
  });
  const messages: Message[] = [];
  const valuesOf = <Value>(topic: { readonly name: string }): Value[] =>
    messages
      .filter((message) => message.topic === topic.name)
      .flatMap(({ value }) => JSON.parse(Buffer.from(value).toString()) as Value[]);
  const requests: { readonly id: string; readonly atSeconds: number }[] = [];
  const world = { status: (_id: string): number => 200 };
  const deliveries = await startDeliveries({
    documents,
    clock,
    bus: {
      createConsumer: () => ({ run: () => Promise.resolve(), stop: () => Promise.resolve() }) as never,
    },
    producer: { publish: async (published) => void messages.push(...published) },
    counters: createMemoryCounters({ clock }),
    mailer: { isDelivering: false, send: async () => {}, close: async () => {} },
    outbound: {
      fetch: async (_url, request) => {
        const id = request?.headers?.['webhook-id'] ?? '';
        requests.push({ id, atSeconds: (clock.nowMs - startMs) / second });
        return new Response('', { status: world.status(id) });
      },
      resolveTxt: async () => undefined,
    },
    box: createSecretBox('k'.repeat(40)),
    publicUrl: '',
    log: silentLog,
    metrics: silentMetrics,
    pollMs: 1,
  });
  t.teardown(async () => {
    await deliveries.stop();
    await documents.close();
  });
  /** Waits until all due deliveries have been attempted. */
  const settle = async (): Promise<void> => {
    for (let before = -1; before !== requests.length; ) {
      before = requests.length;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  };
  return Object.assign(world, {
    documents,
    requests,
    valuesOf,
    clock,
    settle,
    async queue(id: string): Promise<void> {
      const at = new Date(clock.nowMs).toISOString();
      const notification = makeNotification(id, clock.nowMs);
      const pending = { channelId: 'hook', lane: `hook/${id}`, queuedAt: at, attempts: 0, dueAt: at, endedAt: null };
      await stored.collection(pendingDeliveries).insert({ id, ...pending, notification });
      clock.nowMs += 1;
    },
    async pass(seconds: number): Promise<void> {
      for (const endMs = clock.nowMs + seconds * second; clock.nowMs < endMs; ) {
        clock.nowMs = Math.min(endMs, clock.nowMs + 5 * second);
        await settle();
      }
    },
  });
};

test('an unavailable channel is probed every 30 to 60 s with its oldest message, then the others in order', async (t) => {
  const world = await openWorld(t);
  world.status = () => 500;
  await world.queue('a');
  await world.settle();
  for (const id of ['b', 'c', 'd']) await world.queue(id);
  await world.pass(600);
  t.deepEqual([...new Set(world.requests.map(({ id }) => id))], ['a']);
  const gaps = world.requests.map(({ atSeconds }, index) => atSeconds - (world.requests[index - 1]?.atSeconds ?? 0));
  // The clock advances by 5 s.
  t.true(
    gaps.slice(3).every((gap) => gap >= 30 && gap <= 65),
    gaps.join(' '),
  );
  t.deepEqual(
    world.valuesOf<AlertTransition>(topics.alertTransitions).map(({ to }) => to),
    ['firing'],
  );
  world.status = () => 200;
  const count = world.requests.length;
  await world.pass(65);
  t.deepEqual(
    world.requests.slice(count).map(({ id }) => id),
    ['a', 'b', 'c', 'd'],
  );
  t.deepEqual(
    world.valuesOf<AlertTransition>(topics.alertTransitions).map(({ to }) => to),
    ['firing', 'inactive'],
  );
});

test('a delivered test message releases the pending deliveries of the channel, and ends its alert', async (t) => {
  const world = await openWorld(t);
  world.status = () => 503;
  for (const id of ['a', 'b']) await world.queue(id);
  await world.pass(300);
  world.status = () => 200;
  const count = world.requests.length;
  // As the operation that sends a test message does.
  await endOutage(world.documents, 'acme', 'hook');
  const delivered = { tenantId: 'acme', channelId: 'hook', channelName: 'hook', nowMs: world.clock.nowMs, answer: '' };
  const transition = await recordOutcome(world.documents, { ...delivered, outcome: 'delivered' });
  t.is(transition?.to, 'inactive');
  await eventually('both are sent', () => world.requests.length === count + 2);
  t.deepEqual(
    world.requests.slice(count).map(({ id }) => id),
    ['a', 'b'],
  );
});

test('a message that is refused does not block the others forever', async (t) => {
  const world = await openWorld(t);
  world.status = (id) => (id === 'a' ? 500 : 200);
  await world.queue('a');
  await world.settle();
  for (const id of ['b', 'c']) await world.queue(id);
  await world.pass(30 * 60);
  const firstOf = (id: string) => world.requests.findIndex((request) => request.id === id);
  t.true(firstOf('b') > 0 && firstOf('c') > 0);
  await world.queue('d');
  await world.settle();
  t.is(world.requests.at(-1)?.id, 'd');
});

test('nothing is sent for a closed organization, and the ledger records it', async (t) => {
  const world = await openWorld(t);
  world.status = () => 500;
  await world.queue('a');
  await world.settle();
  const { length } = world.requests;
  const stored = world.documents.forTenant(organizationsTenant).collection(organizations);
  await stored.update('acme', { disabled: true }, 1);
  await world.queue('b');
  await world.pass(120);
  t.is(world.requests.length, length);
  t.deepEqual(
    world
      .valuesOf<DeliveryStep>(topics.notificationDeliveries)
      .filter(({ state }) => state === 'withdrawn')
      .map(({ deliveryId, answer }) => [deliveryId, answer]),
    [
      ['a', 'the organization is closed'],
      ['b', 'the organization is closed'],
    ],
  );
});
