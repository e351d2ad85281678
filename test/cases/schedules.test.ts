/** Schedules: due times, the order of runs, and handling of failed runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { defineSchedule, type Run, type ScheduleDefinition } from '../../processors/engine/schedule.ts';
import { FairQueue } from '../../processors/engine/schedule-queue.ts';
import { runSchedule } from '../../processors/engine/schedule-run.ts';
import { decodeSlot } from '../../processors/engine/schedule-snapshot.ts';
import {
  computePhase,
  findDue,
  getNextDueMs,
  listSlots,
  slotCount,
  toItemKey,
  toSlot,
} from '../../processors/engine/schedule-times.ts';
import { parseSavedDueMs } from '../../runtime/due-time.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Bus, Message } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { ConflictError, type DocumentChange, type Documents, defineCollection } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { type Metrics, silentMetrics } from '../../schemas/ports/metrics.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { defineDerivedTopic } from '../../schemas/topic.ts';
import { eventually, stretched } from '../waiting.ts';

test('Due times of 100,000 items with an interval of one minute are spread evenly over the minute, slots and partitions', (t) => {
  const perSecond = new Array<number>(60).fill(0);
  const perSlot = new Array<number>(slotCount).fill(0);
  for (let index = 0; index < 100_000; index++) {
    const phase = computePhase(toItemKey(`tenant-${index % 700}`, `rule-${index}`));
    const second = Math.floor((getNextDueMs(phase, 60_000, 0) % 60_000) / 1000);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
    perSlot[toSlot(phase)] = (perSlot[toSlot(phase)] ?? 0) + 1;
  }
  // The random variation alone is 1,667 ± 200 per second, and 417 ± 100 per slot.
  for (const runs of perSecond) t.true(Math.abs(runs - 1667) < 200, `${runs} in a second`);
  for (const count of perSlot) t.true(Math.abs(count - 417) < 100, `${count} in a slot`);
  for (const partitions of [1, 7, 12, 24]) {
    const all = Array.from({ length: partitions }, (_, partition) => listSlots(partition, partitions));
    t.deepEqual(
      all.flat().toSorted((a, b) => a - b),
      Array.from({ length: slotCount }, (_, slot) => slot),
    );
  }
});

test('Only the last missed due times up to the limit are run, the earliest first', (t) => {
  // Due times are 250, 1250, 2250 …
  const at = (nowMs: number, afterMs: number, max: number) =>
    findDue(nowMs, { phase: 0.25, everyMs: 1000, afterMs, maxRuns: max });
  t.is(at(1249, 250, 1), undefined);
  t.deepEqual(at(1250, 250, 1), { dueMs: 1250, skipped: 0 });
  t.deepEqual(at(9000, 250, 1), { dueMs: 8250, skipped: 7 });
  t.deepEqual(at(9000, 250, 3), { dueMs: 6250, skipped: 5 });
  t.deepEqual(at(9000, 250, 100), { dueMs: 1250, skipped: 0 });
  t.deepEqual(at(9000, 8249, 1), { dueMs: 8250, skipped: 0 });
  // After a change of the interval, the next due time follows the new interval.
  t.deepEqual(findDue(9000, { phase: 0.25, everyMs: 400, afterMs: 8250, maxRuns: 9 }), { dueMs: 8500, skipped: 0 });
});

test('A tenant with slow runs gets its share of runs, and no more concurrent runs than its limit', async (t) => {
  const queue = new FairQueue({ total: 3, perTenant: 2 });
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (tenant: string, name: string): void =>
    queue.add(tenant, async () => {
      order.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await sleep(0);
  };
  for (let index = 1; index <= 5; index++) add('slow', `slow ${index}`);
  t.deepEqual(order, ['slow 1', 'slow 2'], 'one place is left for others');
  for (const name of ['quick 1', 'quick 2', 'quick 3']) add('quick', name);
  add('third', 'third 1');
  t.deepEqual(order.splice(0), ['slow 1', 'slow 2', 'quick 1']);
  await end('quick 1');
  await end('quick 2');
  await end('third 1');
  t.deepEqual(order.splice(0), ['quick 2', 'third 1', 'quick 3']);
  await end('slow 1');
  await end('slow 2');
  t.deepEqual(order, ['slow 3', 'slow 4']);
});

test('A failed run frees its slot for the next', async (t) => {
  const queue = new FairQueue({ total: 1, perTenant: 1 });
  let ran = false;
  queue.add('a', () => Promise.reject(new Error('no')));
  queue.add('a', async () => {
    ran = true;
  });
  await sleep(0);
  t.true(ran);
});

interface Rule {
  readonly everyMs: number | undefined;
  readonly revision?: number;
}
const rules = defineCollection<Rule>({ name: 'rules' });
const Counted = z.strictObject({ tenantId: z.string(), due: z.int() });
const counted = defineDerivedTopic({ name: 'counted', summary: 'of a test', item: Counted });
type Emits = { readonly counted: typeof counted };

/** A schedule of one member over a store in memory; `at` advances the clock, and waits until all due work has run. */
const running = async (
  t: ExecutionContext,
  definition: Partial<ScheduleDefinition<Rule, number, Emits>>,
  /** Snapshots of earlier processes, and the existing rule. */
  {
    snapshots = new Map<string, { number: number; bytes: Uint8Array }>(),
    rule: first = undefined as Rule | undefined,
    loadFaults = 0,
    followFaults = 0,
  } = {},
) => {
  const clock = { nowMs: 1_000_000 };
  const published: Message[] = [];
  const outcomes: string[] = [];
  const gauges = new Map<string, number>();
  const faults = { load: loadFaults, follow: followFaults, save: 0, lostSave: 0, publish: 0 };
  const lines: { readonly fields: object; readonly message: string }[] = [];
  /** Delays saves. */
  const saving = { underWay: 0, until: Promise.resolve() };
  let notify: (change: DocumentChange<Rule>) => void = () => undefined;
  const entitlementListeners = new Map<
    string,
    (change: DocumentChange<{ readonly entitlements?: readonly string[]; readonly planId?: string }>) => void
  >();
  const dueTimes: number[] = [];
  const since = new Date(clock.nowMs).toISOString();
  /** Sets the rule; `undefined` removes it. */
  const set = (rule: (Rule & { readonly createdAt?: string }) | undefined, id = 'rule'): void => {
    const stored = { id, version: 1, createdAt: since, updatedAt: new Date(clock.nowMs).toISOString() };
    notify({ tenantId: 'tenant', id, document: rule && { ...stored, ...rule } });
  };
  const documents = {
    async follow({ name }: { readonly name: string }, onChange: typeof notify) {
      if (fails('follow')) throw new UnavailableError('MongoDB cannot be reached');
      if (name !== rules.name) {
        entitlementListeners.set(name, onChange as never);
        return { getStaleMs: () => 0, close: async () => undefined };
      }
      notify = onChange;
      if (first !== undefined) set(first);
      return { getStaleMs: () => 0, close: async () => undefined };
    },
  };
  const assigned = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const bus = {
    offsets: async () => [{ partition: 0, earliest: 0, end: 0 }],
    createConsumer: () => ({
      async run(_topics: unknown, _onBatch: unknown, events: Parameters<ReturnType<Bus['createConsumer']>['run']>[2]) {
        const partition = { topic: 'schedule.counts', partition: 0, committed: 0, isClaimed: false };
        await events?.onAssigned?.(partition);
        assigned.resolve();
        await stopped.promise;
        await events?.onRevoked?.(partition);
      },
      stop: async () => stopped.resolve(),
    }),
  };
  const fails = (fault: keyof typeof faults): boolean => faults[fault] > 0 && faults[fault]-- > 0;
  const schedule = defineSchedule<Rule, number, Emits>({
    name: 'counts',
    summary: 'of a test',
    collection: rules,
    everyMs: ({ everyMs }) => everyMs,
    missed: 'skip',
    state: { version: 1, schema: z.number(), empty: () => 0 },
    emits: { counted },
    run: async (_rule, { state, emit, tenantId, dueMs }) => {
      emit.counted({ tenantId, due: dueMs });
      return state + 1;
    },
    ...definition,
  });
  const start = () =>
    runSchedule(
      {
        ...schedule,
        run(item, run) {
          dueTimes.push(run.dueMs);
          return schedule.run(item, run);
        },
      },
      {
        bus: bus as unknown as Bus,
        producer: {
          async publish(messages) {
            if (fails('publish')) throw new Error('the bus is away');
            published.push(...messages);
          },
        },
        states: {
          async load(key) {
            if (!key.endsWith('/since') && fails('load')) throw new Error('the store is away');
            return snapshots.get(key);
          },
          async save(key, bytes, expected) {
            saving.underWay++;
            await saving.until;
            saving.underWay--;
            if (fails('save')) throw new Error('the store is away');
            if (snapshots.get(key)?.number !== expected) throw new ConflictError('version', 'another was first');
            snapshots.set(key, { number: (expected ?? 0) + 1, bytes: Buffer.from(bytes) });
            if (fails('lostSave')) throw new Error('the store does not answer');
            return (expected ?? 0) + 1;
          },
        },
        ports: { documents: documents as unknown as Documents, columns: {} as Columns },
        clock: { now: () => clock.nowMs },
        log: { ...silentLog, warn: (fields, message) => void lines.push({ fields, message }) },
        metrics: {
          add(name, value, labels) {
            if (name === 'oiq_schedule_runs_total' && 'outcome' in labels)
              for (let index = 0; index < value; index++) outcomes.push(String(labels.outcome));
          },
          set: (name, value) => void gauges.set(name, value),
          observe: () => undefined,
        } satisfies Metrics,
        pollMs: 1,
      },
    );
  const member = start();
  t.teardown(() => member.stop());
  await assigned.promise;
  const key = toItemKey('tenant', 'rule');
  const phase = computePhase(key);
  return {
    clock,
    set,
    snapshots,
    published,
    outcomes,
    faults,
    lines,
    saving,
    dueTimes,
    gauges,
    member,
    /** Assigns a plan to the tenant. */
    plan(entitlements: readonly string[]): void {
      const stored = { version: 1, createdAt: since, updatedAt: since };
      entitlementListeners.get(plans.name)?.({
        tenantId: plansTenant,
        id: 'plan',
        document: { ...stored, id: 'plan', entitlements },
      });
      entitlementListeners.get(organizations.name)?.({
        tenantId: organizationsTenant,
        id: 'tenant',
        document: { ...stored, id: 'tenant', planId: 'plan' },
      });
    },
    /** The n-th due time after the start of the test. */
    due: (n: number, everyMs = 1000) => getNextDueMs(phase, everyMs, 1_000_000) + (n - 1) * everyMs,
    saved(id = 'rule') {
      const snapshot = snapshots.get(`schedules/counts/${toSlot(phase)}`);
      return snapshot && decodeSlot(snapshot.bytes).items.get(toItemKey('tenant', id));
    },
    /** The id of another rule in the same slot. */
    neighbour(): string {
      for (let index = 0; ; index++)
        if (toSlot(computePhase(toItemKey('tenant', `rule ${index}`))) === toSlot(phase)) return `rule ${index}`;
    },
    emitted: () =>
      published
        .flatMap(({ value }) => z.array(Counted).parse(JSON.parse(Buffer.from(value).toString())))
        .map(({ due }) => due),
    positions: () => published.map(({ headers }) => `${headers['emitter']} ${headers['position']}`),
  };
};

test('Slots that cannot be loaded are logged in one line with their number, and run once loaded', async (t) => {
  const { set, clock, due, saved, lines } = await running(t, {}, { loadFaults: slotCount });
  set({ everyMs: 1000 });
  clock.nowMs = due(1);
  await eventually('the first', () => saved()?.dueMs === due(1));
  await eventually('it is told', () => lines.length > 0);
  t.deepEqual(lines, [
    {
      fields: { error: new Error('the store is away'), schedule: 'counts', slots: slotCount },
      message: 'slots could not be loaded; their items do not run until they are loaded',
    },
  ]);
});

test('A schedule whose documents are unavailable starts once they are available', async (t) => {
  const { set, clock, due, saved, lines } = await running(t, {}, { followFaults: 2 });
  set({ everyMs: 1000 });
  clock.nowMs = due(1);
  await eventually('the first', () => saved()?.dueMs === due(1));
  t.regex(lines[0]?.message ?? '', /documents do not answer; the schedule starts when they do/);
});

test('A schedule whose documents stay unavailable can be stopped', async (t) => {
  const unused = {} as never;
  const schedule = defineSchedule<Rule, number, Emits>({
    name: 'waits',
    summary: 'of a test',
    collection: rules,
    everyMs: () => 1000,
    missed: 'skip',
    state: { version: 1, schema: z.number(), empty: () => 0 },
    emits: { counted },
    run: async () => 0,
  });
  const tried = Promise.withResolvers<void>();
  const documents = {
    async follow() {
      tried.resolve();
      throw new UnavailableError('MongoDB cannot be reached');
    },
  };
  const consumer = { run: () => t.fail('it consumes'), stop: async () => undefined };
  const member = runSchedule(schedule, {
    bus: { createConsumer: () => consumer, offsets: unused } as never,
    states: { load: async () => ({ number: 1, bytes: Buffer.from('0') }), save: unused },
    ports: { documents: documents as never, columns: unused },
    producer: unused,
    clock: { now: () => 0 },
    log: silentLog,
    metrics: silentMetrics,
  });
  await tried.promise;
  await member.stop();
  await t.notThrowsAsync(member.done);
});

test('With `skip` only the latest missed due time is run, and the others are counted', async (t) => {
  const { set, clock, due, saved, emitted, outcomes } = await running(t, {});
  set({ everyMs: 1000 });
  clock.nowMs = due(1);
  await eventually('the first', () => saved()?.dueMs === due(1));
  clock.nowMs = due(5) + 10;
  await eventually('the fifth', () => saved()?.dueMs === due(5));
  t.deepEqual(saved()?.state, '2');
  t.deepEqual(emitted(), [due(1), due(5)]);
  t.deepEqual(outcomes.toSorted(), ['skipped', 'skipped', 'skipped', 'success', 'success']);
});

test('Items of a tenant run while its plan has the entitlement; due times without the entitlement are counted', async (t) => {
  const { set, plan, clock, due, saved, emitted, outcomes } = await running(t, {
    entitlement: 'alerting',
    missed: { catchUp: 10 },
  });
  const has: readonly (readonly string[] | undefined)[] = [undefined, ['logs'], ['logs', 'alerting'], []];
  set({ everyMs: 1000 });
  for (const [index, entitlements] of has.entries()) {
    if (entitlements !== undefined) plan(entitlements);
    clock.nowMs = due(index + 1);
    await eventually(`due time ${index + 1}`, () => saved()?.dueMs === due(index + 1));
  }
  t.deepEqual(emitted(), [due(3)], 'what was due before is not made up');
  t.is(saved()?.state, '1');
  t.deepEqual(outcomes, ['not-entitled', 'not-entitled', 'success', 'not-entitled']);
});

test('A failed run has no effect, is counted, and is retried at the next due time', async (t) => {
  let failures = 2;
  const run = async (_rule: Rule, { state, emit, tenantId, dueMs }: Run<number, Emits>): Promise<number> => {
    emit.counted({ tenantId, due: dueMs });
    if (failures === 2 && failures-- > 0) throw new Error('the query failed');
    // A value for another tenant is rejected when it is emitted.
    if (failures === 1 && failures-- > 0) emit.counted({ tenantId: 'other', due: dueMs });
    return state + 1;
  };
  const { set, clock, due, saved, emitted, outcomes } = await running(t, { run });
  set({ everyMs: 1000 });
  for (const n of [1, 2, 3]) {
    clock.nowMs = due(n);
    await eventually(`due time ${n}`, () => saved()?.dueMs === due(n));
  }
  t.deepEqual(saved()?.state, '1');
  t.deepEqual(emitted(), [due(3)]);
  t.deepEqual(outcomes, ['failure', 'failure', 'success']);
});

/** A schedule whose runs need a store, after due times 1 to 3 were missed during an outage of the store. */
const awayAfterMissed = async (t: ExecutionContext) => {
  const store = { isAway: true };
  const failed: number[] = [];
  const member = await running(
    t,
    {
      missed: { catchUp: 10 },
      async run(_rule, { state, emit, tenantId, dueMs, canWait }) {
        if (store.isAway && canWait) throw new UnavailableError('ClickHouse cannot be reached');
        if (store.isAway) failed.push(dueMs);
        else emit.counted({ tenantId, due: dueMs });
        return state + 1;
      },
    },
    { rule: { everyMs: 60_000 } },
  );
  const { clock, dueTimes } = member;
  const first = getNextDueMs(computePhase(toItemKey('tenant', 'rule')), 60_000, clock.nowMs);
  const at = (n: number): number => first + (n - 1) * 60_000;
  clock.nowMs = at(3) + 10;
  await eventually('the first try', () => dueTimes.length === 1);
  return { ...member, store, failed, at };
};

test('Missed due times during a store outage take effect once the store responds, like current due times', async (t) => {
  const { clock, store, failed, at, dueTimes, emitted, saved, outcomes } = await awayAfterMissed(t);
  for (const n of [1, 2, 3]) {
    clock.nowMs += 5_000;
    await eventually(`try ${n}`, () => dueTimes.length === n + 1);
  }
  await sleep(30);
  t.deepEqual(dueTimes, [at(1), at(1), at(1), at(1)], 'one try in five seconds');
  store.isAway = false;
  clock.nowMs += 5_000;
  await eventually('all of them', () => saved()?.dueMs === at(3));
  t.deepEqual(emitted(), [at(1), at(2), at(3)]);
  t.deepEqual(failed, []);
  t.deepEqual(outcomes, ['waits', 'waits', 'waits', 'waits', 'success', 'success', 'success']);
});

test('Missed due times during a store outage wait until the next due time, which then fails in time', async (t) => {
  const { clock, store, failed, at, emitted, saved, dueTimes } = await awayAfterMissed(t);
  clock.nowMs = at(4) + 10;
  await eventually('the due time that is current', () => saved()?.dueMs === at(4));
  t.deepEqual(failed, [at(1), at(2), at(3), at(4)]);
  clock.nowMs = at(5) + 10;
  await eventually('the next', () => saved()?.dueMs === at(5));
  t.deepEqual(failed.slice(4), [at(5)]);
  store.isAway = false;
  clock.nowMs = at(6) + 10;
  await eventually('the first one after the store recovered', () => saved()?.dueMs === at(6));
  t.deepEqual(emitted(), [at(6)]);
  t.is(dueTimes.length, 7, 'one try that waited, and one run each');
});

test('A run over its time limit is reported, has no effect, and blocks the item until it ends', async (t) => {
  const end = Promise.withResolvers<void>();
  const abortReasons: string[] = [];
  let runs = 0;
  const { set, clock, due, saved, emitted, outcomes, dueTimes } = await running(t, {
    budgetMs: 20,
    async run(_rule, { state, emit, tenantId, dueMs, signal }) {
      emit.counted({ tenantId, due: dueMs });
      signal.addEventListener('abort', () => abortReasons.push(String(signal.reason)));
      if (++runs === 1) await end.promise;
      return state + 1;
    },
  });
  set({ everyMs: 1000 });
  clock.nowMs = due(1);
  await eventually('the end of its time', () => saved()?.dueMs === due(1));
  t.deepEqual(abortReasons, ['Error: no response within 20 ms']);
  clock.nowMs = due(2);
  await sleep(50);
  t.deepEqual(dueTimes, [due(1)]);
  end.resolve();
  await eventually('the second', () => saved()?.dueMs === due(2));
  t.deepEqual(emitted(), [due(2)]);
  t.is(saved()?.state, '1');
  t.deepEqual(outcomes, ['late', 'success']);
});

test('A disabled item does not run, and restarts when enabled; a different item with its id does the same', async (t) => {
  const { set, clock, due, saved, dueTimes } = await running(t, {});
  set({ everyMs: undefined });
  clock.nowMs = due(1);
  await sleep(30);
  t.deepEqual(dueTimes, []);
  set({ everyMs: 1000 });
  await sleep(30);
  t.deepEqual(dueTimes, [], 'what was due while it was off is not made up');
  for (const n of [2, 3]) {
    clock.nowMs = due(n);
    await eventually(`due time ${n}`, () => saved()?.dueMs === due(n));
  }
  t.is(saved()?.state, '2');
  set({ everyMs: 1000, revision: 2 });
  clock.nowMs = due(4);
  await eventually('the changed rule', () => saved()?.dueMs === due(4));
  t.is(saved()?.state, '3', 'a change keeps the state');
  set({ everyMs: 1000, createdAt: new Date(clock.nowMs).toISOString() });
  clock.nowMs = due(5);
  await eventually('the new rule', () => saved()?.dueMs === due(5));
  t.is(saved()?.state, '1', 'the state was another rule’s');
  set(undefined);
  clock.nowMs = due(9);
  await sleep(30);
  t.is(dueTimes.at(-1), due(5));
});

for (const [what, fault] of [
  ['a save that fails', 'save'],
  ['a save of which the answer is lost', 'lostSave'],
  ['values that could not be published', 'publish'],
] as const)
  test(`After ${what} the slot is loaded again, and each due time takes effect once`, async (t) => {
    const { set, clock, due, saved, emitted, positions, faults, member } = await running(t, {
      missed: { catchUp: 100 },
    });
    set({ everyMs: 1000 });
    for (const n of [1, 2, 3, 4]) {
      if (n === 3) faults[fault] = 1;
      clock.nowMs = due(n);
      await eventually(`due time ${n}`, () => saved()?.dueMs === due(n));
    }
    await member.stop();
    t.is(faults[fault], 0);
    t.is(saved()?.state, '4');
    t.is(new Set(positions()).size, 4);
    t.deepEqual([...new Set(emitted())], [due(1), due(2), due(3), due(4)]);
  });

test('A stop saves finished runs, and ends active runs without an effect', async (t) => {
  const aborted: string[] = [];
  const { set, clock, due, saved, emitted, dueTimes, member, saving, neighbour } = await running(t, {
    async run({ id }, { state, emit, tenantId, dueMs, signal }) {
      if (id === 'rule' && state === 1) {
        emit.counted({ tenantId, due: dueMs });
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        aborted.push(id);
      }
      return state + 1;
    },
  });
  const other = neighbour();
  set({ everyMs: 1000 });
  set({ everyMs: 1000 }, other);
  clock.nowMs = due(1) + 10;
  await eventually('the first runs', () => saved()?.state === '1' && saved(other)?.state === '1');
  const save = Promise.withResolvers<void>();
  saving.until = save.promise;
  clock.nowMs = due(2) + 10;
  await eventually('the other one to be saved', () => saving.underWay === 1);
  clock.nowMs = due(3) + 10;
  await eventually('its third run', () => dueTimes.length === 5);
  // The item has run, and its result is not saved yet.
  const stopped = member.stop();
  await sleep(0);
  save.resolve();
  await stopped;
  t.deepEqual(aborted, ['rule']);
  t.is(saved(other)?.state, '3');
  t.is(saved()?.dueMs, due(1));
  t.deepEqual(emitted(), []);
});

test('A state of an older version is upgraded, or starts empty, and its due times continue', async (t) => {
  const rule = { everyMs: 1000 };
  const state = (version: number) => ({ version, schema: z.number(), empty: () => 0 });
  const first = await running(t, {}, { rule });
  first.clock.nowMs = first.due(1);
  await eventually('the first', () => first.saved()?.state === '1');
  await first.member.stop();
  const { snapshots } = first;
  const upgrade = (saved: unknown, version: number): number => (saved as number) * 100 + version;
  const second = await running(t, { state: { ...state(2), upgrade } }, { snapshots, rule });
  second.clock.nowMs = second.due(2);
  await eventually('the second', () => second.saved()?.dueMs === second.due(2));
  await second.member.stop();
  t.is(second.saved()?.state, '102');
  const third = await running(t, { state: state(3) }, { snapshots, rule });
  third.clock.nowMs = third.due(3);
  await eventually('the third', () => third.saved()?.dueMs === third.due(3));
  t.is(third.saved()?.state, '1');
  t.deepEqual(third.dueTimes, [third.due(3)]);
});

for (const [what, restarts] of [
  ['goes on', false],
  ['was started again', true],
] as const)
  test(`After a fast clock items are due again at once, in a process that ${what}, and one warning counts them`, async (t) => {
    const rule = { everyMs: 1000 };
    const first = await running(t, { missed: { catchUp: 10 } }, { rule });
    const other = first.neighbour();
    first.set(rule, other);
    const isSaved = ({ saved }: typeof first, dueMs: number): boolean =>
      [saved(), saved(other)].every((one) => Math.abs((one?.dueMs ?? 0) - dueMs) < 10);
    first.clock.nowMs = first.due(3600) + 10;
    await eventually('due times that lie ahead', () => isSaved(first, first.due(3600)));
    if (restarts) await first.member.stop();
    const member = restarts
      ? await running(t, { missed: { catchUp: 10 } }, { snapshots: first.snapshots, rule })
      : first;
    // It did not exist when the slot was loaded, so its due times start anew.
    if (restarts) member.set(rule, other);
    const { clock, due, emitted, lines } = member;
    clock.nowMs = due(2) + 10;
    await eventually('the warning', () => lines.length > 0);
    for (const n of [3, 4]) {
      clock.nowMs = due(n) + 10;
      await eventually(`due time ${n}`, () => isSaved(member, due(n)));
    }
    for (const n of [3, 4]) t.is(emitted().filter((each) => each === due(n)).length, 1);
    t.is(lines.length, 1);
    t.like(lines[0]?.fields, { schedule: 'counts', items: restarts ? 1 : 2 });
    t.regex(lines[0]?.message ?? '', /due times were in the future/);
  });

test('An item changed by a process with a fast clock does not wait for that time', async (t) => {
  const { set, clock, due, saved } = await running(t, {});
  clock.nowMs = due(3600);
  set({ everyMs: 1000 });
  clock.nowMs = due(1) + 10;
  await sleep(30);
  clock.nowMs = due(2) + 10;
  await eventually('its due time', () => saved()?.dueMs === due(2));
  t.is(saved()?.state, '1');
});

test('An item that is overdue by more than three intervals is reported until it has run', async (t) => {
  const end = Promise.withResolvers<void>();
  const { set, clock, due, saved, gauges, member } = await running(t, {
    budgetMs: stretched(2000),
    async run(_rule, { state }) {
      await end.promise;
      return state + 1;
    },
  });
  const everyMs = stretched(10_000);
  const oldest = (): number | undefined => gauges.get('oiq_schedule_oldest_due_seconds');
  set({ everyMs });
  clock.nowMs = due(1, everyMs);
  await sleep(10);
  clock.nowMs = due(3, everyMs);
  await eventually('two intervals', () => oldest() === (2 * everyMs) / 1000);
  t.is(member.degraded(), undefined);
  clock.nowMs = due(5, everyMs);
  await eventually('four intervals', () => oldest() === (4 * everyMs) / 1000);
  t.regex(
    member.degraded() ?? '',
    /^counts: 1 have been due for more than three intervals, the oldest for \d+ seconds$/,
  );
  end.resolve();
  await eventually('the run', () => saved()?.dueMs === due(5, everyMs));
  clock.nowMs += everyMs / 2 + 1;
  await eventually('nothing is due', () => oldest() === 0);
  t.is(member.degraded(), undefined);
});

test('An item with only failing runs counts as due since its first failure', async (t) => {
  let fails = true;
  const { set, clock, due, outcomes, gauges, member } = await running(t, {
    async run(_rule, { state }) {
      if (fails) throw new Error('the columns are away');
      return state + 1;
    },
  });
  set({ everyMs: 60_000 });
  const runAt = async (count: number): Promise<void> => {
    const before = outcomes.length;
    clock.nowMs = due(count, 60_000);
    await eventually(`run ${count}`, () => outcomes.length > before);
    // Due work is polled every five seconds.
    clock.nowMs += 5000;
  };
  const oldest = (): number | undefined => gauges.get('oiq_schedule_oldest_due_seconds');
  await runAt(1);
  await eventually('the first', () => oldest() === 5);
  for (const count of [2, 3, 4]) await runAt(count);
  await eventually('three intervals', () => oldest() === 185);
  t.is(
    member.degraded(),
    'counts: 1 have been due for more than three intervals, 1 of them because their runs fail, the oldest for 185 seconds',
  );
  fails = false;
  await runAt(5);
  await eventually('nothing is due', () => oldest() === 0);
  t.is(member.degraded(), undefined);
});

test('Items of a slot that cannot be loaded are reported as due', async (t) => {
  const { clock, due, gauges, member } = await running(t, {}, { rule: { everyMs: 10_000 }, loadFaults: 1_000_000 });
  clock.nowMs = due(1, 10_000);
  await eventually('due', () => gauges.get('oiq_schedule_oldest_due_seconds') === 0);
  clock.nowMs = due(7, 10_000);
  await eventually('long due', () => gauges.get('oiq_schedule_oldest_due_seconds') === 60);
  t.regex(
    member.degraded() ?? '',
    /^counts: 1 have been due for more than three intervals, the oldest for 60 seconds$/,
  );
});

test('A saved due time that is further ahead than the longest wait counts as now', (t) => {
  const nowMs = Date.UTC(2026, 0, 1);
  const ahead = (ms: number): string => new Date(nowMs + ms).toISOString();
  t.is(parseSavedDueMs(ahead(1000), nowMs, 1000), nowMs + 1000);
  t.is(parseSavedDueMs(ahead(1001), nowMs, 1000), nowMs);
  t.is(parseSavedDueMs(ahead(-5000), nowMs, 1000), nowMs - 5000);
});

test('A schedule with a name that is invalid as a consumer group is rejected', async (t) => {
  await t.throwsAsync(() => running(t, { name: 'Alert rules' }), { message: /cannot be named "Alert rules"/ });
});

test('The cleanup of a deleted item takes effect once, even if nothing ran when it was deleted', async (t) => {
  const left: number[] = [];
  let failures = 0;
  const definition: Partial<ScheduleDefinition<Rule, number, Emits>> = {
    async removed({ tenantId, state, emit }) {
      if (failures-- > 0) throw new Error('not now');
      left.push(state);
      emit.counted({ tenantId, due: -state });
    },
  };
  const { set, clock, due, saved, emitted, snapshots, faults, member } = await running(t, definition);
  set({ everyMs: 1000 });
  clock.nowMs = due(1);
  await eventually('the first', () => saved()?.dueMs === due(1));
  set(undefined);
  await eventually('the end', () => emitted().includes(-1));
  await eventually('the save', () => saved() === undefined);
  set({ everyMs: 1000, createdAt: new Date(clock.nowMs).toISOString() });
  clock.nowMs = due(3);
  await eventually('the second life', () => saved()?.dueMs === due(3));
  faults.save = 1;
  set(undefined);
  await eventually('the second end', () => emitted().filter((each) => each === -1).length === 2);
  t.is(emitted().filter((each) => each === -1).length, 2, 'a save that failed published nothing');
  set({ everyMs: 1000, createdAt: new Date(clock.nowMs + 1).toISOString() });
  clock.nowMs = due(5);
  await eventually('the third life', () => saved()?.dueMs === due(5));
  await member.stop();
  const later = await running(t, definition, { snapshots });
  await eventually('the end after a restart', () => later.emitted().includes(-1));
  await eventually('the state is gone', () => later.saved() === undefined);
  t.is(left.length, 4, 'the one whose save failed was called twice');
});
