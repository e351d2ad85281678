/**
 * Many deliveries that wait in the document store, each in its own group.
 *
 *     node --expose-gc test/bench/deliveries.ts [deliveries]
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { startDeliveries } from '../../processors/deliveries/deliveries.ts';
import { openOutbound } from '../../runtime/outbound.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { notificationChannels } from '../../schemas/resources/notification-channel.ts';
import { channelHealths, channelOutages, pendingDeliveries } from '../../schemas/resources/notification-delivery.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import { topics } from '../../schemas/topics.ts';
import { startChannelReceiver } from '../cases/channel-receiver.ts';
import { scratch } from './scratch.ts';

const count = Number(process.argv[2] ?? 50_000);
const sampleCount = 200;
const directory = scratch();
mkdirSync(join(directory, 'bus'));
const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
await bus.ensureTopics([topics.notifications, topics.notificationDeliveries, topics.alertTransitions, topics.events]);
const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
await documents.ensureCollections([
  pendingDeliveries,
  notificationChannels,
  channelHealths,
  channelOutages,
  organizations,
]);
const receiver = await startChannelReceiver();
const channel = {
  id: 'hook',
  name: 'hook',
  description: '',
  enabled: true,
  templates: { title: '', text: '' },
  maxPerMinute: 60_000,
  settings: { type: 'webhook', url: receiver.url },
} as const;
await documents
  .forTenant('acme')
  .collection(notificationChannels)
  .insert(channel as never);
const alert = {
  alertId: 'a',
  ruleId: 'r',
  status: 'firing',
  startsAtMs: 0,
  value: 1,
  labels: { alertname: 'Slow', service: 'cart', instance: '10.0.0.1:9100', team: 'shop' },
  annotations: { summary: 'it answers slowly', runbook: 'https://runbooks.example.com/slow' },
};
const order = Array.from({ length: count }, (_, at) => at).sort(
  (one, other) => ((one * 7919) % count) - ((other * 7919) % count),
);
for (let from = 0; from < count; from += 1000)
  await documents.transaction(async (transaction) => {
    for (const at of order.slice(from, from + 1000)) {
      const queuedAt = new Date(Date.UTC(2026, 0, 1) + at).toISOString();
      const groupKey = `{}:{g="${at}"}`;
      const notification = {
        tenantId: 'acme',
        id: `n-${at}`,
        channelId: 'hook',
        receiver: 'all',
        groupKey,
        status: 'firing',
        reason: 'first',
        groupLabels: { g: String(at) },
        commonLabels: alert.labels,
        commonAnnotations: alert.annotations,
        firing: 5,
        resolved: 0,
        truncatedAlerts: 0,
        atMs: at,
        alerts: [alert, alert, alert, alert, alert],
      };
      const pending = {
        channelId: 'hook',
        lane: `hook/${groupKey}`,
        queuedAt,
        attempts: 0,
        dueAt: queuedAt,
        endedAt: null,
      };
      await transaction
        .forTenant('acme')
        .collection(pendingDeliveries)
        .insert({ id: `n-${at}`, ...pending, notification } as never);
    }
  });
globalThis.gc?.();
const before = process.memoryUsage();
let peak = before.rss;
const watching = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 20);
const producer = await bus.producer();
const began = performance.now();
const cpu = process.cpuUsage();
const deliveries = await startDeliveries({
  bus,
  documents,
  producer,
  clock: systemClock,
  log: silentLog,
  metrics: silentMetrics,
  publicUrl: '',
  counters: createMemoryCounters({ clock: systemClock }),
  mailer: { isDelivering: false, send: async () => {}, close: async () => {} },
  box: createSecretBox('k'.repeat(40)),
  outbound: openOutbound({ allowedNetworks: ['127.0.0.0/8'] }),
});
while (receiver.received.length === 0) await sleep(10);
const first = performance.now() - began;
while (receiver.received.length < sampleCount) await sleep(10);
const { user, system } = process.cpuUsage(cpu);
clearInterval(watching);
const places = receiver.received.map(({ headers }) => Number(String(headers['webhook-id']).slice(2)));
const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
await deliveries.stop();
globalThis.gc?.();
console.log(
  `${count} wait: the first request after ${(first / 1000).toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of CPU until ${sampleCount} were sent, ` +
    `which are among the oldest ${Math.max(...places.slice(0, sampleCount)) + 1}; RSS ${mebibytes(before.rss)} MiB before, ${mebibytes(peak)} MiB at most, ` +
    `heap ${mebibytes(process.memoryUsage().heapUsed - before.heapUsed)} MiB more`,
);
process.exit();
