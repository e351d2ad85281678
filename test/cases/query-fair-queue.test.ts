/** Statements of tenants alternate, within limits. The tests count slots, and never measure time. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import test from 'ava';
import { QueryError } from '../../queries/errors.ts';
import { FairQueue, TooManyWaitingError } from '../../queries/limits/fair-queue.ts';
import { limitColumns, type ReadLimits } from '../../queries/limits/limited-columns.ts';
import { buildReadLimits } from '../../queries/limits/settings.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns, QueryLimits } from '../../schemas/ports/columns.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { parseSettings } from '../../schemas/settings.ts';

const limits = { slots: 4, maxSlotsPerTenant: 3, maxWaitingPerTenant: 1_000 };

/** Waits for slots and records their order; `endOne` ends the oldest running statement. */
const recorder = (queue: FairQueue) => {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  return {
    started,
    enqueue(tenant: string, signal?: AbortSignal): Promise<void> {
      return queue.acquire(tenant, signal).then((end) => {
        started.push(tenant);
        ends.push(end);
      });
    },
    async endOne(): Promise<void> {
      ends.shift()?.();
      await yieldToEventLoop();
    },
  };
};

test('a tenant with a hundred statements leaves a slot free for the others', async (t) => {
  const { enqueue, started } = recorder(new FairQueue(limits));
  for (let count = 0; count < 100; count++) void enqueue('a');
  void enqueue('b');
  await yieldToEventLoop();
  t.deepEqual(started, ['a', 'a', 'a', 'b']);
});

test('a statement waits for at most one statement of each other tenant, however many they have waiting', async (t) => {
  const queue = new FairQueue(limits);
  const { enqueue, started, endOne } = recorder(queue);
  for (const tenant of ['a', 'c']) for (let count = 0; count < 100; count++) void enqueue(tenant);
  await yieldToEventLoop();
  t.is(queue.runningCount, 4);
  t.is(queue.waitingCount, 196);
  void enqueue('b');
  started.length = 0;
  for (let count = 0; count < 3; count++) await endOne();
  t.true(started.includes('b'), started.join(' '));
});

test('users of a tenant alternate, however many statements one of them has waiting', async (t) => {
  const queue = new FairQueue({ slots: 1, maxSlotsPerTenant: 1, maxWaitingPerTenant: 1_000 });
  const order: string[] = [];
  const run = async (personId: string): Promise<void> => {
    const end = await queue.acquire('a', undefined, personId);
    order.push(personId);
    await yieldToEventLoop();
    end();
  };
  const people = [...Array.from({ length: 20 }, () => 'ann'), 'bob', 'bob', 'cid'];
  await Promise.all(people.map(run));
  t.is(order.length, people.length);
  t.deepEqual(order.slice(0, 6).sort(), ['ann', 'ann', 'ann', 'bob', 'bob', 'cid'].sort());
});

test('statements of one tenant run in request order, and all of them run', async (t) => {
  const queue = new FairQueue(limits);
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const end = await queue.acquire(`tenant-${index % 2}`);
      if (index % 2 === 0) order.push(index);
      await yieldToEventLoop();
      end();
    }),
  );
  t.deepEqual(
    order,
    Array.from({ length: 25 }, (_, index) => index * 2),
  );
  t.is(queue.runningCount + queue.waitingCount, 0);
});

test('a cancelled statement leaves the queue, and the statements behind it move up', async (t) => {
  const queue = new FairQueue({ ...limits, slots: 1 });
  const { enqueue, started, endOne } = recorder(queue);
  void enqueue('a');
  const left = new AbortController();
  const cancelled = enqueue('a', left.signal);
  void enqueue('a');
  t.is(queue.waitingCount, 2);
  left.abort(new Error('gone'));
  await t.throwsAsync(cancelled, { message: 'gone' });
  t.is(queue.waitingCount, 1);
  await endOne();
  t.deepEqual(started, ['a', 'a']);
  t.is(queue.runningCount, 1);
});

test('a tenant with a full queue is rejected at once, and other tenants are not', async (t) => {
  const queue = new FairQueue({ ...limits, slots: 1, maxWaitingPerTenant: 2 });
  const { enqueue } = recorder(queue);
  for (let count = 0; count < 3; count++) void enqueue('a');
  await t.throwsAsync(enqueue('a'), { instanceOf: TooManyWaitingError });
  void enqueue('b');
  t.is(queue.waitingCount, 3);
});

test('a free slot is used at once, but never before a waiting statement', async (t) => {
  const queue = new FairQueue({ ...limits, slots: 2, maxSlotsPerTenant: 1 });
  const { enqueue, started } = recorder(queue);
  const end = queue.tryAcquire('a');
  t.is(queue.runningCount, 1);
  void enqueue('a');
  t.is(queue.tryAcquire('a'), undefined, 'the tenant has all that it may have');
  const endOther = queue.tryAcquire('b');
  t.is(queue.tryAcquire('c'), undefined, 'no slot is free');
  void enqueue('c');
  endOther?.();
  t.is(queue.tryAcquire('c'), undefined, 'what waited has it');
  end?.();
  await yieldToEventLoop();
  t.deepEqual(started, ['c', 'a']);
  t.is(queue.runningCount, 2);
});

const readLimits: ReadLimits = {
  ...limits,
  slots: 1,
  maxSlotsPerTenant: 1,
  maxWaitingPerTenant: 1,
  waitSeconds: 0.05,
  maxExecutionSeconds: 30,
  maxRowsRead: 1_000,
};

/** Columns that block every statement until they are released. */
const blockedColumns = () => {
  const seen: QueryLimits[] = [];
  const free = Promise.withResolvers<void>();
  const columns = {
    forTenant: (tenantId: string) => ({
      tenantId,
      async query(_sql: string, _parameters: unknown, queryLimits: QueryLimits) {
        seen.push(queryLimits);
        await free.promise;
        queryLimits.onCost?.({ rowsRead: 5, bytesRead: 40, elapsedMs: 1 });
        return [];
      },
    }),
  } as unknown as Columns;
  return { seen, free, columns };
};

const counted = () => {
  const counts: Record<string, number> = {};
  const add = (name: string, value: number, labels: object): void => {
    const key = [name, ...Object.values(labels)].join(' ');
    counts[key] = (counts[key] ?? 0) + value;
  };
  const set = (name: string, value: number): void => {
    counts[name] = value;
  };
  const metrics: Metrics = { add, set, observe: (name, _value, labels) => add(name, 1, labels) };
  return { counts, metrics };
};

test('reads that get no slot are rejected with a retry time, and counted', async (t) => {
  const { columns, free, seen } = blockedColumns();
  const { counts, metrics } = counted();
  const reader = limitColumns(columns, { limits: readLimits, metrics }).forTenant('a');
  const running = reader.query('SELECT 1');
  const waiting = reader.query('SELECT 2');
  const refused = await t.throwsAsync(reader.query('SELECT 3'), { instanceOf: QueryError });
  t.is((refused as QueryError).code, 'RATE_LIMITED');
  t.is((refused as QueryError).retryAfterSeconds, 1);
  t.is(counts['oiq_queries_running'], 1);
  const late = await t.throwsAsync(waiting, { instanceOf: UnavailableError });
  t.regex(late?.message ?? '', /waited 0.05 seconds/);
  free.resolve();
  await running;
  t.is(seen.length, 1);
  t.like(counts, {
    oiq_queries_running: 0,
    oiq_queries_waiting: 0,
    'oiq_queries_refused_total waited': 1,
    'oiq_queries_refused_total too-many': 1,
    'oiq_query_duration_seconds answered': 1,
    oiq_query_rows_read_total: 5,
    oiq_query_bytes_read_total: 40,
  });
});

test('a read can request a lower limit than allowed, but not a higher one', async (t) => {
  const { columns, free, seen } = blockedColumns();
  free.resolve();
  const reader = limitColumns(columns, {
    limits: { ...readLimits, maxMemoryBytes: 100 },
    metrics: counted().metrics,
  }).forTenant('a');
  await reader.query('SELECT 1', {}, { maxExecutionSeconds: 5, maxRowsRead: 10_000, maxResultRows: 7 });
  await reader.query('SELECT 1', {}, { maxExecutionSeconds: 50, maxMemoryBytes: 10 });
  const input = seen.map(({ onCost: _, ...rest }) => rest);
  t.deepEqual(input, [
    { maxExecutionSeconds: 5, maxRowsRead: 1_000, maxResultRows: 7, maxMemoryBytes: 100 },
    { maxExecutionSeconds: 30, maxRowsRead: 1_000, maxMemoryBytes: 10 },
  ]);
});

test('the embedded engine has four slots, a server has twelve, and settings override both', (t) => {
  const of = (environment: Record<string, string>) => {
    const { slots, maxSlotsPerTenant } = buildReadLimits(parseSettings(environment));
    return [slots, maxSlotsPerTenant];
  };
  t.deepEqual(of({}), [4, 3]);
  t.deepEqual(of({ OIQ_CLICKHOUSE_URL: 'http://host:8123/oiq' }), [12, 9]);
  t.deepEqual(of({ OIQ_QUERY_SLOTS: '1' }), [1, 1]);
  t.deepEqual(of({ OIQ_QUERY_SLOTS: '8', OIQ_QUERY_SLOTS_PER_ORGANIZATION: '20' }), [8, 8]);
});
