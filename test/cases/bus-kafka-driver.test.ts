/** The Kafka drivers are used unmodified. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'ava';
import type { StoreMembers } from '../../schemas/ports/store-members.ts';
import { someGroup, someTopic } from '../contract/bus-harness.ts';
import { startServices } from '../services/services.ts';
import { eventually } from '../waiting.ts';

const require = createRequire(import.meta.url);
const withoutProbes: StoreMembers = {
  watch: () => ({ isUnavailable: () => false, subscribe: () => () => undefined, close: () => undefined }),
  listUnavailable: () => [],
};
const ofDriver = createRequire(import.meta.resolve('@platformatic/kafka'));

test('The bus modifies neither its drivers nor anything that they share with other modules', async (t) => {
  const { prototype: queue } = require('kafkajs/src/network/requestQueue') as { prototype: object };
  const { default: ajv } = ofDriver('ajv/dist/core') as { default: { prototype: object } };
  const before = [queue, ajv.prototype].map((prototype) => Object.getOwnPropertyDescriptors(prototype));
  await import('../../adapters/bus-kafka/bus-kafka.ts');
  t.deepEqual(
    [queue, ajv.prototype].map((prototype) => Object.getOwnPropertyDescriptors(prototype)),
    before,
  );
});

test('The client that wakes the idle process every millisecond does not stay connected', async (t) => {
  const brokers = (await startServices(['kafka'])).url('kafka').split(',');
  const { openKafkaBus } = await import('../../adapters/bus-kafka/bus-kafka.ts');
  // Probes of brokers have their own connections.
  const bus = await openKafkaBus({ brokers, storeMembers: withoutProbes });
  t.teardown(() => bus.close());
  const connections = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  const topic = someTopic();
  await bus.ensureTopics([topic]);
  t.true(connections() > 0);
  await eventually('no connection', () => connections() === 0);
  const group = someGroup();
  await eventually('the lag to be known', async () =>
    bus.lag(group, [topic.name]).then(
      () => true,
      () => false,
    ),
  );
  const own = connections();
  await bus.ensureTopics([topic]);
  t.true(connections() > own, 'it reconnects on the next request');
  await eventually('no connection but those of the other client', () => connections() <= own);
});

test('Driver versions are pinned, because the assumptions about the drivers were verified with these versions', (t) => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const driver of ['kafkajs', '@platformatic/kafka']) t.regex(dependencies[driver] ?? '', /^\d+\.\d+\.\d+$/);
});
