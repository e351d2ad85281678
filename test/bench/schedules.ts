/**
 * The CPU cost of schedules: a minute of 100,000 items at one a minute, on embedded stores.
 *
 *     node bin/node.mjs test/bench/schedules.ts [items]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { defineSchedule, scheduleTopic } from '../../processors/engine/schedule.ts';
import { runSchedule } from '../../processors/engine/schedule-run.ts';
import { openStates } from '../../runtime/states.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { defineCollection } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { defineDerivedTopic } from '../../schemas/topic.ts';

const count = Number(process.argv[2] ?? 100_000);
const directory = await mkdtemp(join(tmpdir(), 'oiq-bench-schedules-'));
const bus = await openSegmentsBus({ directory: join(directory, 'bus') });
const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
const items = defineCollection<{ readonly name: string }>({ name: 'things' });
const effects = defineDerivedTopic({
  name: 'effects',
  summary: 'of a benchmark',
  item: z.strictObject({ tenantId: z.string(), due: z.int() }),
});
await documents.ensureCollections([items, processorStates, processorStateChunks]);
await bus.ensureTopics([scheduleTopic('things'), effects]);
for (let from = 0; from < count; from += 20_000)
  await documents.transaction(async (transaction) => {
    for (let index = from; index < Math.min(count, from + 20_000); index++)
      await transaction
        .forTenant(`tenant-${index % 500}`)
        .collection(items)
        .insert({ name: `thing ${index}` });
  });

const clock = { nowMs: Date.now() + 60_000 };
const saves = { count: 0, bytes: 0 };
const states = openStates({ documents, clock: { now: () => clock.nowMs } });
let runs = 0;
const schedule = defineSchedule({
  name: 'things',
  summary: 'of a benchmark',
  collection: items,
  everyMs: () => 60_000,
  missed: { catchUp: 1000 },
  state: {
    version: 1,
    schema: z.strictObject({ values: z.array(z.number()) }),
    empty: () => ({ values: [] as number[] }),
  },
  emits: { effects },
  async run(_item, { tenantId, dueMs, state, emit }) {
    await yieldToEventLoop();
    // One run in a hundred emits something.
    if (++runs % 100 === 0) emit.effects({ tenantId, due: dueMs });
    return { values: [...state.values, dueMs].slice(-10) };
  },
});
const producer = await bus.producer();
const running = runSchedule(schedule, {
  bus,
  producer,
  states: {
    load: (key) => states.load(key),
    save(key, bytes, expected) {
      saves.count++;
      saves.bytes += bytes.length;
      return states.save(key, bytes, expected);
    },
  },
  ports: { documents, columns: {} as Columns },
  clock: { now: () => clock.nowMs },
  log: silentLog,
  metrics: silentMetrics,
  pollMs: 20,
});
await sleep(3000);
for (let minute = 0; minute < 3; minute++) {
  const [before, cpu, elapsed] = [runs, process.cpuUsage(), performance.now()];
  Object.assign(saves, { count: 0, bytes: 0 });
  for (let step = 0; step < 240; step++) {
    clock.nowMs += 250;
    // Waits without a fixed time, because wall-clock time does not matter here.
    const until = before + Math.floor(((step + 1) / 240) * count * 0.97);
    for (let wait = 0; runs < until && wait < 500; wait++) await sleep(2);
  }
  await sleep(500);
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `${runs - before} runs: ${((user + system) / 1e6).toFixed(1)} s of CPU, ${saves.count} saves of ${(saves.bytes / 1e6).toFixed(0)} MB, ` +
      `${((performance.now() - elapsed) / 1000).toFixed(0)} s, ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`,
  );
}
await running.stop();
await producer.close();
await bus.close();
await documents.close();
await rm(directory, { recursive: true });
