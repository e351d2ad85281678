/** Fencing of two members that both own a partition, and the order of writes when a tick takes effect. */
import '../../subjects/query-kinds.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { PartitionRun, type ProcessorContext } from '../../processors/engine/partition-run.ts';
import { TaskPool } from '../../processors/engine/pool.ts';
import { defaultIntervals } from '../../processors/engine/runtime.ts';
import { decodeTask } from '../../processors/engine/task-snapshot.ts';
import { TenantFuse } from '../../processors/engine/tenant-fuse.ts';
import { openStates } from '../../runtime/states.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Batch, Message } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { ConflictError } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { visitCounter, visitCounts, visits } from '../cases/made-up-processor.ts';
import { valuesIn } from '../cases/run-task.ts';

const hourMs = 3_600_000;
const key = `${visitCounter.name}/${visits.name}/0`;

const fixture = async (t: ExecutionContext) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-fencing-'));
  const bus = await openSegmentsBus({ directory });
  await bus.ensureTopics([visits, visitCounts]);
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await documents.ensureCollections([processorStates, processorStateChunks]);
  const producer = await bus.producer();
  const pool = new TaskPool({ threads: 1, definitions: new URL('./made-up-processors.ts', import.meta.url) });
  t.teardown(async () => {
    await pool.close();
    await producer.close();
    await bus.close();
    await documents.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const states = openStates({ documents, clock: systemClock });
  const time = { nowMs: Date.now() };
  const events: string[] = [];
  const published: Message[] = [];
  let failing = false;
  const shared: ProcessorContext = {
    processor: visitCounter,
    group: 'processors.test-visit-counts',
    fuse: new TenantFuse('test'),
    buckets: 1,
    runtime: {
      bus,
      pool,
      metrics: silentMetrics,
      log: silentLog,
      clock: { now: () => time.nowMs },
      intervals: defaultIntervals,
      configuration: { check() {}, close: async () => undefined },
      states: {
        ...states,
        async save(...args) {
          const number = await states.save(...args);
          events.push('saved');
          return number;
        },
      },
      producer: {
        ...producer,
        async publish(messages) {
          events.push('published');
          if (failing) throw new UnavailableError('the bus is away');
          published.push(...messages);
        },
      },
    },
  };
  let offset = 0;
  return {
    states,
    events,
    time,
    fail(fails: boolean) {
      failing = fails;
    },
    member: async (committed: number) => {
      const run = new PartitionRun(shared, { topic: visits.name, partition: 0, committed, isClaimed: false });
      await run.load();
      return run;
    },
    /** A batch of one visit, which is on the bus. */
    async visit(page: string): Promise<Batch> {
      const value = Buffer.from(JSON.stringify([{ tenantId: 'acme', page, timeMs: time.nowMs, serial: 0 }]));
      await producer.publish([{ topic: visits.name, key: 'acme', value, headers: { tenant: 'acme' } }]);
      const records = [];
      for await (const record of bus.read(visits.name, 0, offset, offset + 1)) records.push(record);
      const at = offset++;
      return { topic: visits.name, partition: 0, first: at, last: at, records };
    },
    kinds: () => valuesIn(published).map((value) => (value as { kind: string }).kind),
  };
};

test('a tick is saved in a snapshot before it takes effect', async (t) => {
  const { member, visit, events, time, kinds, states } = await fixture(t);
  const one = await member(0);
  await one.processBatch(await visit('/a'));
  events.length = 0;
  time.nowMs += hourMs;
  await one.tick();
  t.deepEqual(events, ['saved', 'published']);
  t.deepEqual(kinds(), ['first', 'count', 'silence']);
  t.is(decodeTask((await states.load(key))?.bytes ?? new Uint8Array(0)).tick, 1);
});

test('messages that a tick emitted and could not publish are published by the next owner of the partition, before anything else', async (t) => {
  const { member, visit, time, kinds, fail } = await fixture(t);
  const one = await member(0);
  await one.processBatch(await visit('/a'));
  time.nowMs += hourMs;
  fail(true);
  await t.throwsAsync(one.tick(), { instanceOf: UnavailableError });
  fail(false);
  const next = await member(1);
  t.deepEqual(kinds(), ['first', 'count', 'silence']);
  await next.processBatch(await visit('/b'));
  t.deepEqual(kinds(), ['first', 'count', 'silence', 'first']);
  await next.saveAndClose();
  await member(2);
  t.is(kinds().length, 4, 'it was forgotten then');
});

test('a paused member neither ticks nor saves once another member has its partition', async (t) => {
  const { member, visit, time, kinds, states } = await fixture(t);
  const paused = await member(0);
  const first = await visit('/a');
  await paused.processBatch(first);
  const successor = await member(1);
  const number = await states.getNumber(key);
  time.nowMs += hourMs;
  await t.throwsAsync(paused.tick(), { instanceOf: ConflictError });
  t.deepEqual(kinds(), ['first']);
  await paused.saveAndClose();
  t.is(await states.getNumber(key), number, 'it saved nothing');
  await successor.tick();
  t.deepEqual(kinds(), ['first', 'count', 'silence']);
});

test('no tick runs between the step of a range and its acknowledgement', async (t) => {
  const { member, visit, time, kinds, fail } = await fixture(t);
  const one = await member(0);
  const batch = await visit('/a');
  fail(true);
  await t.throwsAsync(one.processBatch(batch));
  time.nowMs += hourMs;
  fail(false);
  await one.tick();
  t.deepEqual(kinds(), []);
  await one.processBatch(batch);
  t.deepEqual(kinds(), ['first']);
  await one.tick();
  t.deepEqual(kinds(), ['first', 'count', 'silence']);
});

test('no tick runs while messages wait in the partition', async (t) => {
  const { member, visit, time, kinds } = await fixture(t);
  const one = await member(0);
  await one.processBatch(await visit('/a'));
  const waiting = await visit('/a');
  time.nowMs += hourMs;
  await one.tick();
  t.deepEqual(kinds(), ['first']);
  await one.processBatch(waiting);
  await one.tick();
  t.deepEqual(kinds(), ['first', 'count', 'silence']);
});

test('a range that did not take effect is not in the snapshot of a partition that is revoked', async (t) => {
  const { member, visit, kinds, fail } = await fixture(t);
  const one = await member(0);
  await one.processBatch(await visit('/a'));
  const batch = await visit('/b');
  fail(true);
  await t.throwsAsync(one.processBatch(batch));
  fail(false);
  await one.saveAndClose();
  const next = await member(1);
  await next.processBatch(batch);
  t.deepEqual(kinds(), ['first', 'first']);
});
