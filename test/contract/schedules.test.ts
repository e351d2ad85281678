/** The contract of schedules over both buses and both documents stores. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { kafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { segmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { mongoDocuments } from '../../adapters/documents-mongodb/documents-mongodb.ts';
import { sqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { startServices } from '../services/services.ts';
import { schedulesContract } from './schedules.ts';

const directory = async (t: ExecutionContext, what: string): Promise<string> => {
  const made = await mkdtemp(join(tmpdir(), `oiq-schedules-${what}-`));
  t.teardown(() => rm(made, { recursive: true, force: true }));
  return made;
};

const buses = {
  'segment files': async (t: ExecutionContext) => segmentsBus({ directory: await directory(t, 'bus') }),
  async Kafka() {
    const services = await startServices(['kafka']);
    return kafkaBus({ brokers: services.url('kafka').split(','), sessionTimeoutMs: 6000 });
  },
};

const stores = {
  SQLite: async (t: ExecutionContext) =>
    sqliteDocuments({ path: join(await directory(t, 'documents'), 'documents.sqlite') }),
  async MongoDB() {
    const services = await startServices(['mongodb']);
    const url = services.url('mongodb').replace('/?', `/oiq-schedules-${process.pid}-${Date.now()}?`);
    return mongoDocuments({ url });
  },
};

for (const [onBus, openBus] of Object.entries(buses))
  for (const [inStore, openStore] of Object.entries(stores))
    schedulesContract({
      name: `${onBus}, ${inStore}`,
      async bus(t) {
        const bus = await openBus(t);
        t.teardown(() => bus.close());
        return bus;
      },
      async documents(t) {
        const documents = await openStore(t);
        t.teardown(() => documents.close());
        return documents;
      },
      patienceMs: 60_000,
    });
