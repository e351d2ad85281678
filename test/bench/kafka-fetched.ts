/**
 * Bytes that a process with all log processors fetches from Kafka, divided by the produced bytes, without lag: 1 means
 * that each byte is fetched once. The broker advertises a proxy in this process, which counts the bytes.
 *
 *     BENCH_REAL=1 node bin/node.mjs test/bench/kafka-fetched.ts
 *
 * `BENCH_IDLE` adds processors without work (0), `BENCH_REAL=0` omits those of the product, and `BENCH_SECONDS` (20) is
 * the duration, with two messages of 500 records per second.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { collections } from '../../api/collections.ts';
import { startProcessors } from '../../processors/index.ts';
import { toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { topics } from '../../schemas/topics.ts';
import { freePorts } from '../services/ports.ts';
import { startService } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { processors } from './one-reading-registry.ts';
import { logMessages } from './payloads.ts';
import { scratch } from './scratch.ts';
import { migrateTopics } from './topics.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 20);
const perSecond = 2;
const topic = topics.logs.name;

const [port = 0, , proxyPort = 0] = await freePorts(3);
const counted = { toBroker: 0, fromBroker: 0 };
const proxy = createServer((client) => {
  const broker = connect(port, '127.0.0.1');
  client.on('data', (bytes) => {
    counted.toBroker += bytes.length;
  });
  broker.on('data', (bytes) => {
    counted.fromBroker += bytes.length;
  });
  client.pipe(broker).pipe(client);
  for (const [socket, other] of [
    [client, broker],
    [broker, client],
  ] as const)
    socket.on('error', () => other.destroy());
}).listen(proxyPort, '127.0.0.1');

const directory = scratch();
const place = join(directory, 'kafka');
mkdirSync(place);
writeFileSync(join(place, 'more.properties'), `advertised.listeners=PLAINTEXT://127.0.0.1:${proxyPort}\n`);
const kafka = await startService('kafka', { port, directory: place });
const brokers = [`127.0.0.1:${proxyPort}`];
await migrateTopics(brokers[0] as string);
const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
await documents.ensureCollections(collections);

const bus = await openKafkaBus({ brokers, replication: 1 });
const role = await startProcessors({
  bus,
  documents,
  metrics: silentMetrics,
  log: silentLog,
  clock: systemClock,
  registered: { processors, module: new URL('./one-reading-registry.ts', import.meta.url) },
});
const lags = async (): Promise<number[]> => {
  const groups = processors.map(({ name }) => toConsumerGroup('processors', name));
  return (await Promise.all(groups.map((group) => bus.lag(group, [topic])))).flat().map(({ lag }) => lag);
};
const producer = await bus.producer();
const messages = logMessages(500);
const publish = ({ key, value, headers }: (typeof messages)[number]) =>
  producer.publish([{ topic, key, value: Buffer.from(value), headers }]);
// All consumers have their partitions once they have read a message.
await publish(messages[0] as (typeof messages)[number]);
await eventually('all have read a message', async () => (await lags()).every((lag) => lag === 0));
await delay(3_000);

const before = { ...counted };
let produced = 0;
for (let at = 0; at < seconds * perSecond; at++) {
  const message = messages[at % messages.length] as (typeof messages)[number];
  produced += message.value.length;
  await publish(message);
  await delay(1_000 / perSecond);
}
await eventually('all have read everything', async () => (await lags()).every((lag) => lag === 0));
const fetched = counted.fromBroker - before.fromBroker;
console.log(
  `${processors.length} processors: produced ${(produced / 1e6).toFixed(1)} MB, from the broker ${(fetched / 1e6).toFixed(1)} MB, ${(fetched / produced).toFixed(3)} of it (all answers of the broker among them)`,
);
await role.stop();
await producer.close();
await bus.close();
await documents.close();
await kafka.stop();
proxy.close();
process.exit(0);
