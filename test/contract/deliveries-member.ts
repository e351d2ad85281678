/** A process that delivers notifications and kills itself at random: before and after it writes, publishes or sends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { startDeliveries } from '../../processors/deliveries/deliveries.ts';
import { openOutbound } from '../../runtime/outbound.ts';
import { createSecretBox } from '../../runtime/secret-box.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { pendingDeliveries } from '../../schemas/resources/notification-delivery.ts';
import { seeded } from '../cases/random.ts';
import { openStores, type StoresPlace } from './processors-stores.ts';

export interface DeliveriesMemberOptions {
  readonly place: StoresPlace;
  readonly seed: number;
  /** Number of calls, of 1,000, that end the process. */
  readonly kills: number;
  readonly count: number;
}

const { place, seed, kills, count } = JSON.parse(process.argv[2] ?? '{}') as DeliveriesMemberOptions;
const random = seeded(seed);
const strike = (): void => {
  if (random(1000) < kills) process.kill(process.pid, 'SIGKILL');
};
const struck = async <Result>(call: () => Promise<Result>): Promise<Result> => {
  strike();
  const result = await call();
  strike();
  return result;
};

const { bus, documents } = await openStores(place);
const producer = await bus.producer();
const outbound = openOutbound({ allowedNetworks: ['127.0.0.0/8'], timeoutMs: 30_000 });
const deliveries = await startDeliveries({
  bus,
  documents,
  clock: systemClock,
  log: silentLog,
  metrics: silentMetrics,
  publicUrl: '',
  counters: createMemoryCounters({ clock: systemClock }),
  mailer: { isDelivering: false, send: async () => {}, close: async () => {} },
  box: createSecretBox('k'.repeat(40)),
  producer: { publish: (messages) => struck(() => producer.publish(messages)) },
  outbound: { ...outbound, fetch: (url, request) => struck(() => outbound.fetch(url, request)) },
  waitsMs: Array.from({ length: 40 }, () => 100),
  leaseMs: 3_000,
  pollMs: 50,
});
deliveries.done.catch((error: unknown) => {
  console.error(error);
  process.exit(3);
});

const stored = documents.forTenant('acme').collection(pendingDeliveries);
while ((await stored.count({ endedAt: { $ne: null } })) < count) await sleep(200);
await deliveries.stop();
await producer.close();
await bus.close();
await documents.close();
process.exit(0);
