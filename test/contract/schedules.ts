/** Schedules over any bus and any documents store: every due time of every thing takes effect once, whatever happens to members. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { z } from 'zod';
import { defineSchedule, type Schedule, scheduleTopic } from '../../processors/engine/schedule.ts';
import { type RunningSchedule, runSchedule } from '../../processors/engine/schedule-run.ts';
import { decodeSlot } from '../../processors/engine/schedule-snapshot.ts';
import { nextDue, phaseOf, slotOf, thingKey } from '../../processors/engine/schedule-times.ts';
import { openStates, type States } from '../../runtime/states.ts';
import type { AssignedPartition, Bus, Consumer, Producer } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { ConflictError, type Documents, defineCollection, type Stored } from '../../schemas/ports/documents.ts';
import { silent } from '../../schemas/ports/log.ts';
import { noMetrics } from '../../schemas/ports/metrics.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { defineDerivedTopic, type Topic } from '../../schemas/topics.ts';
import { eventually } from './bus-harness.ts';

export interface SchedulesContract {
  /** Begins the titles. */
  readonly name: string;
  /** Of this test alone, or shared. Whoever makes them removes them, with `t.teardown`. */
  bus(t: ExecutionContext): Promise<Bus>;
  documents(t: ExecutionContext): Promise<Documents>;
  readonly patienceMs: number;
}

interface Check {
  readonly everyMs: number;
}

const Effect = z.strictObject({ tenantId: z.string(), id: z.string() });
const State = z.strictObject({ runs: z.int(), chain: z.string() });

const chained = (chain: string, dueMs: number): string => createHash('sha1').update(`${chain} ${dueMs}`).digest('hex');

/** Holds up a process: what passes it waits while it is frozen. */
class Gate {
  #thaw: PromiseWithResolvers<void> | undefined;
  readonly frozen = Promise.withResolvers<void>();

  wasFrozen = false;

  freeze(): void {
    if (this.#thaw !== undefined) return;
    this.wasFrozen = true;
    this.#thaw = Promise.withResolvers();
    this.frozen.resolve();
  }

  thaw(): void {
    this.#thaw?.resolve();
    this.#thaw = undefined;
  }

  async through<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#thaw?.promise;
    const result = await work();
    await this.#thaw?.promise;
    return result;
  }
}

interface World {
  readonly bus: Bus;
  readonly documents: Documents;
  readonly states: States;
  readonly clock: { nowMs: number };
  readonly schedule: Schedule;
}

/** A process of the schedule. */
class Member {
  readonly gate = new Gate();
  saves = 0;
  conflicts = 0;
  readonly #consumers: Consumer[] = [];
  #isLosing = false;
  readonly #ended = Promise.withResolvers<void>();
  readonly running: RunningSchedule;

  constructor({ bus, documents, states, clock, schedule }: World, publish: Producer['publish']) {
    const { gate } = this;
    this.running = runSchedule(
      { ...schedule, run: (thing, run) => gate.through(() => schedule.run(thing, run)) },
      {
        bus: { offsets: (topic) => bus.offsets(topic), consumer: (options) => this.#consumer(bus.consumer(options)) },
        producer: { publish: (messages) => gate.through(() => publish(messages)) },
        states: {
          load: (key) => gate.through(() => states.load(key)),
          save: (key, bytes, expected) => gate.through(() => this.#save(states, key, bytes, expected)),
        },
        ports: { documents, columns: {} as Columns },
        clock: { now: () => clock.nowMs },
        log: silent,
        metrics: noMetrics,
        lookMs: 5,
      },
    );
    this.running.done.catch(() => undefined);
  }

  async #save(states: States, ...args: Parameters<States['save']>): Promise<number> {
    try {
      const number = await states.save(...args);
      this.saves++;
      // What was saved is not published.
      if (this.#isLosing) this.gate.freeze();
      return number;
    } catch (error) {
      if (error instanceof ConflictError) this.conflicts++;
      throw error;
    }
  }

  /** The group does not hear of a frozen process. */
  #consumer(consumer: Consumer): Consumer {
    this.#consumers.push(consumer);
    const { gate } = this;
    return {
      run: async (topics, onBatch, events) => {
        const kept: AssignedPartition[] = [];
        await consumer.run(topics, onBatch, {
          assigned(partition) {
            kept.push(partition);
            return Promise.race([events?.assigned?.(partition), gate.frozen.promise]);
          },
          revoked: (partition) => (gate.wasFrozen ? undefined : events?.revoked?.(partition)),
        });
        if (!gate.wasFrozen) return;
        // It goes on as if it had its partitions still.
        await this.#ended.promise;
        gate.thaw();
        for (const partition of kept) await events?.revoked?.(partition);
      },
      stop: async () => {
        await consumer.stop();
        this.#ended.resolve();
      },
    };
  }

  /** Holds the process up, between a save and what it would publish then, for so long that the group gives its partitions to others. */
  async lose(): Promise<void> {
    this.#isLosing = true;
    await this.gate.frozen.promise;
    this.#isLosing = false;
    for (const consumer of this.#consumers) await consumer.stop();
  }
}

/** Takes each position of an emitter once, as consumers of derived topics do. */
const effectsOn = async (bus: Bus, topic: Topic): Promise<string[]> => {
  const effects: string[] = [];
  for (const { partition, earliest, end } of await bus.offsets(topic.name)) {
    const highest = new Map<string, [offset: number, part: number]>();
    for await (const { headers, value } of bus.read(topic.name, partition, earliest, end)) {
      const { emitter = '', position = '' } = headers;
      const [offset = 0, part = 0] = position.split('.').map(Number);
      const [offsetBefore, partBefore] = highest.get(emitter) ?? [0, 0];
      if (highest.has(emitter) && (offset < offsetBefore || (offset === offsetBefore && part <= partBefore))) continue;
      highest.set(emitter, [offset, part]);
      for (const { id } of z.array(Effect).parse(JSON.parse(value.toString()))) effects.push(id);
    }
  }
  return effects;
};

export const schedulesContract = ({
  name,
  bus: makeBus,
  documents: makeDocuments,
  patienceMs,
}: SchedulesContract): void => {
  test(`${name}: every due time takes effect once, also when one member returns from a long pause and one dies`, async (t) => {
    t.timeout(4 * patienceMs);
    const [bus, documents] = [await makeBus(t), await makeDocuments(t)];
    const id = randomUUID().slice(0, 8);
    const things = defineCollection<Check>({ name: `checks-${id}` });
    const effects = defineDerivedTopic({
      name: `effects.${id}`,
      summary: 'of a test',
      item: Effect,
      partitions: 2,
      embeddedPartitions: 2,
    });
    const schedule = defineSchedule({
      name: `checks-${id.replaceAll(/[0-9]/g, 'x')}`,
      summary: 'of a test',
      things,
      everyMs: ({ everyMs }) => everyMs,
      missed: { makeUp: 100_000 },
      state: { version: 1, schema: State, empty: () => ({ runs: 0, chain: '' }) },
      emits: { effects },
      async run(thing, { tenantId, dueMs, state, emit }) {
        emit.effects({ tenantId, id: `${thing.id}@${dueMs}` });
        await sleep(Math.random() * 3);
        return { runs: state.runs + 1, chain: chained(state.chain, dueMs) };
      },
    });
    await documents.ensureCollections([things, processorStates, processorStateChunks]);
    const dealt = scheduleTopic(schedule.name);
    await bus.ensureTopics([{ ...dealt, partitions: 4, embeddedPartitions: 4 }, effects]);
    const made: (Check & Stored & { readonly tenantId: string })[] = [];
    for (let index = 0; index < 30; index++) {
      const tenantId = `tenant-${index % 3}`;
      const thing = { everyMs: 3000 + 500 * (index % 7) };
      made.push({ ...(await documents.of(tenantId).collection(things).insert(thing)), tenantId });
    }

    const clock = { nowMs: Date.now() + 60_000 };
    const states = openStates({ documents, clock: { now: () => clock.nowMs } });
    const producer = await bus.producer();
    const world: World = { bus, documents, states, clock, schedule };
    const join = (): Member => {
      const member = new Member(world, (messages) => producer.publish(messages));
      t.teardown(() => member.running.stop());
      return member;
    };
    const ticking = setInterval(() => {
      clock.nowMs += 100;
    }, 10);
    t.teardown(() => clearInterval(ticking));
    const works = (what: string, member: Member): Promise<void> => {
      const until = member.saves + 60;
      return eventually(what, patienceMs, () => member.saves >= until);
    };

    const first = join();
    const second = join();
    await works('the first member', first);
    await works('the second member', second);
    await first.lose();
    await works('the second member, which has everything', second);
    first.gate.thaw();
    await eventually('the first member to be refused', patienceMs, () => first.conflicts > 0);
    const third = join();
    await works('the first member’s next process', third);
    await second.lose();
    await works('the last member', third);
    clearInterval(ticking);

    const sinceMs = Number(
      Buffer.from((await states.load(`schedules/${schedule.name}/since`))?.bytes ?? []).toString(),
    );
    const expected = made.map((thing) => {
      const phase = phaseOf(thingKey(thing.tenantId, thing.id));
      const dues: number[] = [];
      const next = (afterMs: number): number => nextDue(phase, thing.everyMs, afterMs);
      const begin = Math.max(sinceMs, Date.parse(thing.updatedAt));
      for (let due = next(begin); due <= clock.nowMs; due = next(due)) dues.push(due);
      return { thing, slot: slotOf(phase), dues };
    });
    const savedOf = async ({ thing, slot }: (typeof expected)[number]) => {
      const snapshot = await states.load(`schedules/${schedule.name}/${slot}`);
      return snapshot && decodeSlot(snapshot.bytes).things.get(thingKey(thing.tenantId, thing.id));
    };
    for (const each of expected)
      await eventually('the last due time', patienceMs, async () => (await savedOf(each))?.dueMs === each.dues.at(-1));
    await third.running.stop();
    for (const each of expected) {
      const chain = each.dues.reduce(chained, '');
      t.deepEqual(JSON.parse((await savedOf(each))?.state ?? ''), { runs: each.dues.length, chain });
    }
    const ids = expected.flatMap(({ thing, dues }) => dues.map((due) => `${thing.id}@${due}`));
    t.deepEqual((await effectsOn(bus, effects)).toSorted(), ids.toSorted());
    t.true(ids.length > 300, `${ids.length} runs`);
  });
};
