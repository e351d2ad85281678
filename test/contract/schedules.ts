/** Schedules on any bus and any documents store: every due time takes effect once, despite failures of members. */
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import type { Schedule } from '../../processors/engine/schedule.ts';
import { type RunningSchedule, runSchedule } from '../../processors/engine/schedule-run.ts';
import { openStates, type StateStore } from '../../runtime/states.ts';
import type { AssignedPartition, Bus, Consumer, Producer } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { ConflictError, type Documents } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { eventually } from '../waiting.ts';
import { madeUpChecks } from './made-up-checks.ts';

export interface SchedulesContract {
  /** Prefix of the test titles. */
  readonly name: string;
  /** Exclusive to the test, or shared. The function that creates them also removes them, with `t.teardown`. */
  bus(t: ExecutionContext): Promise<Bus>;
  documents(t: ExecutionContext): Promise<Documents>;
}

/** Pauses a process: calls through it wait while it is frozen. */
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
  readonly states: StateStore;
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
      { ...schedule, run: (item, run) => gate.through(() => schedule.run(item, run)) },
      {
        bus: {
          offsets: (topic) => bus.offsets(topic),
          createConsumer: (options) => this.#consumer(bus.createConsumer(options)),
        },
        producer: { publish: (messages) => gate.through(() => publish(messages)) },
        states: {
          load: (key) => gate.through(() => states.load(key)),
          save: (key, bytes, expected) => gate.through(() => this.#save(states, key, bytes, expected)),
        },
        ports: { documents, columns: {} as Columns },
        clock: { now: () => clock.nowMs },
        log: silentLog,
        metrics: silentMetrics,
        pollMs: 5,
      },
    );
    this.running.done.catch(() => undefined);
  }

  async #save(states: StateStore, ...args: Parameters<StateStore['save']>): Promise<number> {
    try {
      const number = await states.save(...args);
      this.saves++;
      // Saved runs are not published.
      if (this.#isLosing) this.gate.freeze();
      return number;
    } catch (error) {
      if (error instanceof ConflictError) this.conflicts++;
      throw error;
    }
  }

  /** The group receives no heartbeats of a frozen process. */
  #consumer(consumer: Consumer): Consumer {
    this.#consumers.push(consumer);
    const { gate } = this;
    return {
      run: async (topics, onBatch, events) => {
        const assigned: AssignedPartition[] = [];
        await consumer.run(topics, onBatch, {
          onAssigned(partition) {
            assigned.push(partition);
            return Promise.race([events?.onAssigned?.(partition), gate.frozen.promise]);
          },
          onRevoked: (partition) => (gate.wasFrozen ? undefined : events?.onRevoked?.(partition)),
        });
        if (!gate.wasFrozen) return;
        // It continues as if it still had its partitions.
        await this.#ended.promise;
        gate.thaw();
        for (const partition of assigned) await events?.onRevoked?.(partition);
      },
      stop: async () => {
        await consumer.stop();
        this.#ended.resolve();
      },
    };
  }

  /** Pauses the process between a save and its publish, until the group reassigns its partitions. */
  async lose(): Promise<void> {
    this.#isLosing = true;
    await this.gate.frozen.promise;
    this.#isLosing = false;
    for (const consumer of this.#consumers) await consumer.stop();
  }
}

export const schedulesContract = ({ name, bus: makeBus, documents: makeDocuments }: SchedulesContract): void => {
  test(`${name}: every due time takes effect once, even if one member returns from a long pause and one dies`, async (t) => {
    const [bus, documents] = [await makeBus(t), await makeDocuments(t)];
    const checks = madeUpChecks(randomUUID());
    const { schedule } = checks;
    const created = await checks.prepare(bus, documents, 3000);

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
      return eventually(what, () => member.saves >= until);
    };

    const first = join();
    const second = join();
    await works('the first member', first);
    await works('the second member', second);
    await first.lose();
    await works('the second member, which has everything', second);
    first.gate.thaw();
    await eventually('the first member to be refused', () => first.conflicts > 0);
    const third = join();
    await works('the first member’s next process', third);
    await second.lose();
    await works('the last member', third);
    clearInterval(ticking);

    const expected = created.map((item) => ({ item, lastMs: checks.lastDue(item, clock.nowMs) }));
    for (const { item, lastMs } of expected)
      await eventually('the last due time', async () => (await checks.saved(states, item))?.dueMs === lastMs);
    await third.running.stop();
    t.true((await checks.verify(t, { bus, states, made: created })) > 300);
  });
};
