import { mock } from 'node:test';
import test from 'ava';
import { createStoreMembers } from '../../runtime/store-members.ts';
import type { StoreMember } from '../../schemas/ports/store-members.ts';

test.serial('The metric of a server is NaN after the store no longer lists the server', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  t.teardown(() => mock.timers.reset());
  const metrics = new Map<string, number>();
  const { watch, listUnavailable } = createStoreMembers({
    metrics: { set: (_name, value, labels) => void metrics.set(String('server' in labels && labels.server), value) },
  });
  const pending = Promise.withResolvers<void>();
  const broken: StoreMember = {
    name: 'bootstrap:9092',
    probe: () => Promise.reject(new Error('refused')),
    minFailures: 1,
  };
  const slow: StoreMember = { name: 'removed:9092', probe: () => pending.promise };
  const working: StoreMember = { name: 'broker:9092', probe: async () => undefined };
  let listed: readonly StoreMember[] = [broken, slow, working];
  const storeWatch = watch('Kafka', () => listed);
  t.teardown(() => storeWatch.close());
  const tick = async (): Promise<void> => {
    mock.timers.tick(1000);
    for (let steps = 0; steps < 50; steps++) await Promise.resolve();
  };
  await tick();
  t.deepEqual(Object.fromEntries(metrics), { 'bootstrap:9092': 0, 'broker:9092': 1 });
  listed = [working];
  await tick();
  pending.resolve();
  await tick();
  t.deepEqual(Object.fromEntries(metrics), {
    'bootstrap:9092': Number.NaN,
    'removed:9092': Number.NaN,
    'broker:9092': 1,
  });
  t.deepEqual(listUnavailable(), []);
});
