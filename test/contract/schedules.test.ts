/** The contract of schedules with both buses and both documents stores. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { openKafkaBus } from '../../adapters/bus-kafka/bus-kafka.ts';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { defineSchedule, scheduleTopic } from '../../processors/engine/schedule.ts';
import { startProcessors } from '../../processors/index.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { defineCollection } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { defineDerivedTopic } from '../../schemas/topic.ts';
import { openPatientDocuments } from '../services/open-patient-documents.ts';
import { startServices } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { schedulesContract } from './schedules.ts';

const directory = async (t: ExecutionContext, what: string): Promise<string> => {
  const created = await mkdtemp(join(tmpdir(), `oiq-schedules-${what}-`));
  t.teardown(() => rm(created, { recursive: true, force: true }));
  return created;
};

const buses = {
  'segment files': async (t: ExecutionContext) => openSegmentsBus({ directory: await directory(t, 'bus') }),
  async Kafka() {
    const services = await startServices(['kafka']);
    return openKafkaBus({ brokers: services.url('kafka').split(','), sessionTimeoutMs: 6000 });
  },
};

const stores = {
  SQLite: async (t: ExecutionContext) =>
    openSqliteDocuments({ path: join(await directory(t, 'documents'), 'documents.sqlite') }),
  async MongoDB() {
    const services = await startServices(['mongodb']);
    const url = services.url('mongodb').replace('/?', `/oiq-schedules-${process.pid}-${Date.now()}?`);
    return openPatientDocuments(url);
  },
};

test('the processor role also runs schedules, by the wall clock, and saves them when it stops', async (t) => {
  const bus = await buses['segment files'](t);
  const documents = await stores.SQLite(t);
  t.teardown(async () => {
    await bus.close();
    await documents.close();
  });
  const pingCollection = defineCollection<{ readonly everyMs: number }>({ name: 'pings' });
  const Ping = z.strictObject({ tenantId: z.string(), runs: z.int() });
  const pings = defineDerivedTopic({ name: 'pings', summary: 'of a test', item: Ping });
  const schedule = defineSchedule({
    name: 'pings',
    summary: 'of a test',
    collection: pingCollection,
    everyMs: ({ everyMs }) => everyMs,
    missed: 'skip',
    state: { version: 1, schema: z.int(), empty: () => 0 },
    emits: { pings },
    async run(_item, { tenantId, state, emit }) {
      emit.pings({ tenantId, runs: state + 1 });
      return state + 1;
    },
  });
  await documents.ensureCollections([pingCollection, processorStates, processorStateChunks]);
  await bus.ensureTopics([scheduleTopic('pings'), pings]);
  const start = () =>
    startProcessors({
      bus,
      documents,
      columns: {} as Columns,
      metrics: silentMetrics,
      log: silentLog,
      clock: systemClock,
      registered: {
        processors: [],
        module: new URL('./made-up-processors.ts', import.meta.url),
        schedules: [schedule],
      },
      only: ['pings'],
    });
  const runs = async (): Promise<number[]> => {
    const seen: number[] = [];
    const [{ end = 0 } = {}] = await bus.offsets('pings');
    for await (const { value } of bus.read('pings', 0, 0, end))
      seen.push(
        ...z
          .array(Ping)
          .parse(JSON.parse(value.toString()))
          .map((ping) => ping.runs),
      );
    // The last saved runs are published again when they are loaded.
    return [...new Set(seen)];
  };
  for (const requiredRuns of [1, 2]) {
    const role = await start();
    // Added while the schedule runs.
    if (requiredRuns === 1) await documents.forTenant('tenant').collection(pingCollection).insert({ everyMs: 1000 });
    await eventually('a run', async () => (await runs()).length >= requiredRuns);
    await role.stop();
    await role.failure;
  }
  const seen = await runs();
  t.deepEqual(
    seen,
    seen.map((_, index) => index + 1),
  );
});

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
    });
