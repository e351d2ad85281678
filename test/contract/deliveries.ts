/** Deliveries with kill -9 at every stage: each notification reaches its channel, and each group arrives in order. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { Notification } from '../../schemas/notifications.ts';
import { incidents } from '../../schemas/resources/incident.ts';
import { notificationChannels } from '../../schemas/resources/notification-channel.ts';
import { channelHealths, channelOutages, pendingDeliveries } from '../../schemas/resources/notification-delivery.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import { topics } from '../../schemas/topics.ts';
import { startChannelReceiver } from '../cases/channel-receiver.ts';
import { type Random, seeded } from '../cases/random.ts';
import { runSeed } from '../parts.ts';
import type { DeliveriesMemberOptions } from './deliveries-member.ts';
import { openStores, type StoresPlace } from './processors-stores.ts';

export interface DeliveriesContract {
  readonly name: string;
  place(t: ExecutionContext): Promise<StoresPlace>;
  /** Number of concurrent processes. */
  readonly members: number;
}

const groups = 8;
const rounds = 4;
const count = groups * rounds;
const kills = 30;
const deathsUntilCalm = 8;

const notificationOf = (group: number, round: number): Notification => ({
  tenantId: 'acme',
  id: `n-${group}-${round}`,
  channelId: 'hook',
  receiver: 'all',
  groupKey: `{}:{g="${group}"}`,
  groupLabels: { g: String(group) },
  commonLabels: { alertname: 'X' },
  commonAnnotations: {},
  status: round % 2 === 0 ? 'firing' : 'resolved',
  reason: 'first',
  firing: 1,
  resolved: 0,
  truncatedAlerts: 0,
  atMs: round,
  alerts: [
    {
      alertId: 'a',
      ruleId: 'r',
      status: 'firing',
      labels: { alertname: 'X' },
      annotations: {},
      startsAtMs: 0,
      value: 1,
    },
  ],
});

/** Creates stores with a channel, and publishes the notifications, some of them twice. */
const prepare = async (place: StoresPlace, url: string): Promise<void> => {
  const { bus, documents } = await openStores(place);
  await bus.ensureTopics([
    topics.notifications,
    topics.notificationDeliveries,
    topics.alertTransitions,
    topics.events,
    topics.deadLetter,
  ]);
  await documents.ensureCollections([
    pendingDeliveries,
    notificationChannels,
    channelHealths,
    channelOutages,
    incidents,
    organizations,
  ]);
  await documents
    .forTenant('acme')
    .collection(notificationChannels)
    .insert({
      id: 'hook',
      name: 'hook',
      description: '',
      enabled: true,
      settings: { type: 'webhook', url },
      templates: { title: '', text: '' },
      maxPerMinute: 6000,
    });
  const producer = await bus.producer();
  for (let round = 0; round < rounds; round++)
    for (let group = 0; group < groups; group++) {
      const value = Buffer.from(JSON.stringify([notificationOf(group, round)]));
      const message = { topic: topics.notifications.name, key: 'acme/hook', value, headers: { tenant: 'acme' } };
      // Published before the notification of its group and round, so it has been read when that delivery ends.
      const opens = { ...notificationOf(group, round), channelId: '', escalationPolicyId: 'policy' };
      const incident = { ...message, value: Buffer.from(JSON.stringify([{ ...opens, id: `${opens.id}-incident` }])) };
      await producer.publish(group % 3 === 0 ? [incident, message, incident, message] : [incident, message]);
    }
  await producer.close();
  await bus.close();
  await documents.close();
};

/** IDs by group, in order of arrival. */
const inOrder = (ids: readonly string[]): string[][] =>
  Array.from({ length: groups }, (_, group) => ids.filter((id) => id.startsWith(`n-${group}-`)));

/** Runs a process, and restarts it when it dies, until nothing is left to deliver. */
const runMember = async (
  t: ExecutionContext,
  {
    place,
    random,
    deaths,
  }: { readonly place: StoresPlace; readonly random: Random; readonly deaths: { count: number } },
): Promise<void> => {
  const script = fileURLToPath(new URL('deliveries-member.ts', import.meta.url));
  for (;;) {
    const isCalm = deaths.count >= deathsUntilCalm;
    const options: DeliveriesMemberOptions = { place, seed: random(1e9), kills: isCalm ? 0 : kills, count };
    const child = spawn(process.execPath, [script, JSON.stringify(options)], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    t.teardown(() => void child.kill('SIGKILL'));
    const [code, signal] = await once(child, 'exit');
    if (code === 0) return;
    if (signal !== 'SIGKILL') throw new Error(`a member ended with ${code ?? signal}`);
    deaths.count++;
  }
};

export const deliveriesContract = ({ name, place: placeOf, members }: DeliveriesContract): void => {
  test.serial(`${name}: through kill -9 every notification is delivered, in the order of its group`, async (t) => {
    const seed = runSeed;
    const random = seeded(seed);
    const receiver = await startChannelReceiver();
    t.teardown(() => receiver.close());
    // The channel fails occasionally.
    receiver.reply = () => (random(8) === 0 ? { status: 503 } : { status: 200 });
    const place = await placeOf(t);
    await prepare(place, receiver.url);
    const deaths = { count: 0 };
    await Promise.all(Array.from({ length: members }, () => runMember(t, { place, random, deaths })));

    const ids = receiver.received.map(({ headers }) => String(headers['webhook-id']));
    const first = [...new Set(ids)];
    t.log(`seed ${seed}: ${deaths.count} deaths, ${count} notifications, ${ids.length} requests`);
    t.true(deaths.count > 0);
    t.is(first.length, count);
    t.deepEqual(inOrder(first), inOrder(first.toSorted()));
    const { bus, documents } = await openStores(place);
    const { items } = await documents.forTenant('acme').collection(pendingDeliveries).list({ limit: 1000 });
    const opened = await documents.forTenant('acme').collection(incidents).list();
    await bus.close();
    await documents.close();
    t.is(items.length, count);
    t.is(opened.items.length, groups);
    t.true(items.every(({ endedAt, notification }) => endedAt !== null && notification === undefined));
  });
};
