/**
 * Effects happen once: a run with kills, failures, rebalances and redeliveries ends with the outputs and the state of
 * an uninterrupted run, which processes the messages on the bus with the processor's task in this process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { PoisonMessage } from '../../processors/engine/batch-result.ts';
import type { Processor } from '../../processors/engine/definition.ts';
import { Task } from '../../processors/engine/task.ts';
import { decodeTask } from '../../processors/engine/task-snapshot.ts';
import { processors as registered } from '../../processors/registry.ts';
import { openStates } from '../../runtime/states.ts';
import { decodeDeadLetter } from '../../schemas/dead-letter.ts';
import type { Bus, BusRecord, Message } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { processorStateChunks, processorStates } from '../../schemas/resources/processor-state.ts';
import { decodeHeaders } from '../../schemas/telemetry-message.ts';
import { type Signal, signals } from '../../schemas/telemetry-signals.ts';
import { topics } from '../../schemas/topics.ts';
import { killRounds } from '../budget.ts';
import { visitCounter } from '../cases/made-up-processor.ts';
import { plain, requestTypes } from '../cases/proto/load.ts';
import { type Random, seeded } from '../cases/random.ts';
import { firstMs } from '../cases/run-task.ts';
import { nodeFlags } from '../end-to-end/oiq-process.ts';
import { describePart, runSeed, selectPart } from '../parts.ts';
import { stretched } from '../waiting.ts';
import { type FollowedDocument, followedDocuments, inputOf, tenants } from './processors-input.ts';
import type { MemberOptions } from './processors-member.ts';
import { openStores, type StoresPlace } from './processors-stores.ts';
import { stagedTime } from './staged-bus.ts';

export interface OnceContract {
  readonly name: string;
  place(t: ExecutionContext): Promise<StoresPlace>;
  /** Number of concurrent members. */
  readonly members: number;
  readonly rounds: number;
  /** If fewer members died, another round follows. */
  readonly minDeaths: number;
  readonly messages: number;
  /** Number of registered processors that a run selects and interrupts. */
  readonly parts: number;
  /** Of 1,000 calls that publish or save. */
  readonly kills: number;
  readonly failures: number;
}

const maxRounds = 6;

/** A process of the interrupted run. */
interface Member {
  /** 0 if it finished or left when it was stopped, 1 if it died. */
  readonly ended: Promise<number>;
  leave(): void;
}

/** An interrupted run takes a minute; after this time it hangs. */
const hangMs = 10 * 60_000;

/** The uninterrupted run of one partition. */
interface Reference {
  readonly topic: string;
  readonly partition: number;
  readonly task: Task;
  readonly values: string[];
  readonly poison: PoisonMessage[];
  ticks: number;
}

const readAll = async (bus: Bus, topic: string, partition: number, from = 0): Promise<BusRecord[]> => {
  const found = (await bus.offsets(topic)).find((each) => each.partition === partition);
  const records: BusRecord[] = [];
  for await (const record of bus.read(topic, partition, Math.max(from, found?.earliest ?? 0), found?.end ?? 0))
    records.push({ ...record, value: Buffer.from(record.value) });
  return records;
};

const addToReference = (
  reference: Reference,
  { messages, poison }: Pick<ReturnType<Task['batch']>, 'messages' | 'poison'>,
): void => {
  for (const message of messages) reference.values.push(...valuesOf(message.topic, message));
  reference.poison.push(...poison);
};

/** The items of telemetry messages, because batching may differ. */
const recordsIn = (signal: Signal, value: Uint8Array): unknown[] => {
  // biome-ignore lint/suspicious/noExplicitAny: a decoded message of any signal
  const request = plain(requestTypes[signal], value) as any;
  const [resources, scopes, records] = {
    traces: ['resourceSpans', 'scopeSpans', 'spans'],
    metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
    logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
  }[signal] as [string, string, string];
  return request[resources].flatMap((resource: Record<string, Record<string, unknown[]>[]>) =>
    resource[scopes]?.flatMap((scope) => scope[records]),
  );
};

const valuesOf = (topic: string, { value, headers }: Pick<Message, 'value' | 'headers'>): string[] => {
  const signal = signals.find((each) => topics[each].name === topic);
  const values =
    signal === undefined ? (JSON.parse(Buffer.from(value).toString()) as unknown[]) : recordsIn(signal, value);
  const of = signal === undefined ? topic : `${topic} ${decodeHeaders(headers).projectId}`;
  return values.map((each) => `${of} ${JSON.stringify(each)}`);
};

/** Messages whose emitter position is higher than all previous ones. */
const withoutDuplicates = (messages: readonly BusRecord[]): BusRecord[] => {
  const highest = new Map<string, readonly [number, number]>();
  return messages.filter(({ headers }) => {
    const emitter = headers['emitter'] ?? '';
    const [offset = 0, part = 0] = (headers['position'] ?? '').split('.').map(Number);
    const [lastOffset, lastPart] = highest.get(emitter) ?? [-2, 0];
    if (offset < lastOffset || (offset === lastOffset && part <= lastPart)) return false;
    highest.set(emitter, [offset, part]);
    return true;
  });
};

/** Everything except the identifiers of this run. */
const stateIn = (bytes: Uint8Array) => {
  const { emitter: _emitter, outbox: _outbox, tenants: all, ...rest } = decodeTask(bytes);
  return {
    ...rest,
    tenants: all.map(({ state, ...tenant }) => ({ ...tenant, state: Buffer.from(state).toString('latin1') })),
  };
};

class DisturbedRun {
  readonly #t: ExecutionContext;
  readonly #contract: OnceContract;
  readonly #processor: Processor;
  readonly #module: string;
  readonly #place: StoresPlace;
  readonly #random: Random;
  readonly #references: Reference[] = [];
  /** In the form of the store, because state may contain times. */
  readonly #followed: FollowedDocument[] = [];
  #nowMs = firstMs;
  #members = 0;
  #deaths = 0;

  constructor(
    t: ExecutionContext,
    contract: OnceContract,
    processor: Processor,
    module: string,
    place: StoresPlace,
    seed: number,
  ) {
    this.#t = t;
    this.#contract = contract;
    this.#processor = processor;
    this.#module = module;
    this.#place = place;
    this.#random = seeded(seed);
  }

  async run(): Promise<void> {
    await this.#open((stores) => this.#prepare(stores));
    const { rounds, minDeaths } = this.#contract;
    for (let round = 1; round <= rounds || (this.#deaths < minDeaths && round <= maxRounds); round++) {
      await this.#open((stores) => this.#feed(stores));
      await this.#disturb(round >= rounds);
      await this.#open((stores) => this.#follow(stores));
    }
    await this.#open((stores) => this.#compare(stores));
  }

  /** Only one process at a time can open the embedded stores. */
  async #open(work: (stores: { bus: Bus; documents: Documents }) => Promise<void>): Promise<void> {
    const stores = await openStores(this.#place);
    try {
      await work(stores);
    } finally {
      await stores.bus.close();
      await stores.documents.close();
    }
  }

  async #prepare({ bus, documents }: { bus: Bus; documents: Documents }): Promise<void> {
    const { reads, emits, follows, entitlement } = this.#processor;
    await bus.ensureTopics([...reads.topics, ...Object.values(emits), topics.deadLetter]);
    await documents.ensureCollections([
      processorStates,
      processorStateChunks,
      plans,
      organizations,
      ...Object.values(follows),
    ]);
    const limits = { requestsPerSecond: 1, requestsBurst: 1, requestsPerMinute: 1, bytesPerDay: null };
    const retentionDays = { logs: 1, metrics: 1, traces: 1 };
    const plan = { name: 'all', retentionDays, entitlements: [entitlement ?? []].flat(), limits };
    await documents
      .forTenant(plansTenant)
      .collection(plans)
      .insert({ id: 'all', ...plan });
    for (const id of tenants.filter((each) => each !== 'tenant-without-plan')) {
      const organization = { name: id, planId: 'all', disabled: false, retentionDays: {}, shards: 1 };
      await documents
        .forTenant(organizationsTenant)
        .collection(organizations)
        .insert({ id, ...organization });
    }
    for (const { collection, tenantId, id, document } of followedDocuments(this.#processor)) {
      const { version: _version, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = document;
      const stored = await documents.forTenant(tenantId).collection({ name: collection }).insert(fields);
      this.#followed.push({ collection, tenantId, id, document: stored });
    }
    for (const { name: topic } of reads.topics) {
      for (const { partition } of await bus.offsets(topic)) {
        const task = this.#task({ topic, partition });
        this.#references.push({ topic, partition, task, values: [], poison: [], ticks: 0 });
      }
    }
  }

  /** A task with the documents that the processor follows, and the entitled tenants. */
  #task(of: { readonly topic: string; readonly partition: number }, saved?: Uint8Array): Task {
    const isEntitled = (tenantId: string) =>
      this.#processor.entitlement === undefined || tenantId !== 'tenant-without-plan';
    const task = new Task(this.#processor, { ...of, isEntitled }, saved);
    for (const { collection, tenantId, id, document } of this.#followed)
      task.applyChange(collection, tenantId, id, document);
    return task;
  }

  /** Publishes new messages, and prepares the time at which ticks run after they are processed. */
  async #feed({ bus }: { bus: Bus }): Promise<void> {
    const producer = await bus.producer();
    let latestMs = this.#nowMs;
    for (const [topic, messages] of inputOf(
      this.#processor,
      this.#contract.messages,
      this.#nowMs + 1_000,
      this.#random,
    )) {
      for (const { key, value, headers, timestampMs } of messages) {
        await producer.publish([{ topic, key, value, headers: { ...headers, [stagedTime]: String(timestampMs) } }]);
        latestMs = Math.max(latestMs, timestampMs);
      }
    }
    await producer.close();
    this.#nowMs = latestMs + 3_600_000;
  }

  /** Runs members until everything is done; before the last round, possibly only until one died. */
  async #disturb(isLast: boolean): Promise<void> {
    const ticks = await this.#expectedTicks();
    for (let spawned = 0, isSettling = false; ; ) {
      const members = Array.from({ length: this.#contract.members }, (_, index) =>
        this.#member(ticks, spawned + index, isSettling),
      );
      spawned += members.length;
      // If one exited by itself, everything is done, and the others will exit as well.
      const codes = await Promise.race([Promise.all(members.map(({ ended }) => ended)), this.#someDeath(members)]);
      if (codes.every((code) => code === 0)) {
        // Messages that a tick emitted may be only in its snapshot, if the last member could not publish them.
        if (!isLast || (await this.#hasPublished())) return;
        isSettling = true;
      }
      this.#deaths += codes.filter((code) => code !== 0).length;
      if (!isLast && this.#random(2) === 0) {
        await this.#retire(members, 0);
        return;
      }
      await this.#retire(members, this.#random(3_000));
    }
  }

  /** The remaining members continue for this time; then they leave, so that new members join. */
  async #retire(members: readonly Member[], afterMs: number): Promise<void> {
    if (members.length > 1) await sleep(afterMs);
    for (const { leave } of members) leave();
    await Promise.all(members.map(({ ended }) => ended));
  }

  async #someDeath(members: readonly Member[]): Promise<number[]> {
    return await new Promise((resolve, reject) => {
      for (const { ended } of members) ended.then((code) => code !== 0 && resolve([code]), reject);
    });
  }

  async #hasPublished(): Promise<boolean> {
    let left = 0;
    await this.#open(async ({ documents }) => {
      const states = openStates({ documents, clock: systemClock });
      for (const { topic, partition } of this.#references) {
        const saved = await states.load(`${this.#processor.name}/${topic}/${partition}`);
        if (saved !== undefined) left += decodeTask(saved.bytes).outbox.length;
      }
    });
    return left === 0;
  }

  #member(ticks: Readonly<Record<string, number>>, spawned: number, isSettling: boolean): Member {
    // After this number of processes, faults are no longer injected, and the round ends.
    const isCalm = isSettling || spawned > killRounds / this.#contract.rounds;
    const options: MemberOptions = {
      place: this.#place,
      processor: this.#processor.name,
      module: this.#module,
      nowMs: this.#nowMs,
      ticks,
      seed: this.#random(1e9),
      kills: isCalm ? 0 : this.#contract.kills,
      failures: isSettling ? 0 : this.#contract.failures,
      isSettling,
    };
    const script = fileURLToPath(new URL('processors-member.ts', import.meta.url));
    const child = spawn(process.execPath, [...nodeFlags, script, JSON.stringify(options)], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    this.#t.teardown(() => void child.kill('SIGKILL'));
    this.#members++;
    let isToLeave = false;
    const ended = once(child, 'exit').then(([code, signal]) => {
      if (code === 0) return 0;
      // SIGTERM itself ends only a member that was still loading its code when it was stopped: it has changed nothing.
      if (signal !== 'SIGKILL' && !(isToLeave && signal === 'SIGTERM'))
        throw new Error(`a member ended with ${code ?? signal}`);
      return 1;
    });
    ended.catch(() => undefined);
    const leave = (): void => {
      isToLeave = true;
      child.kill('SIGTERM');
    };
    return { ended, leave };
  }

  /** Ticks of each partition once every message is processed and the time is `#nowMs`. */
  async #expectedTicks(): Promise<Readonly<Record<string, number>>> {
    const ticks: Record<string, number> = {};
    await this.#open(async ({ bus }) => {
      for (const { topic, partition, task, ticks: before } of this.#references) {
        const trial = this.#task({ topic, partition }, task.snapshot());
        trial.batch(await readAll(bus, topic, partition, task.status.nextOffset));
        ticks[`${topic}/${partition}`] = trial.tick(this.#nowMs) === undefined ? before : before + 1;
      }
    });
    return ticks;
  }

  /** Repeats the run without interruptions: a tick is done once it is in a snapshot. */
  async #follow({ bus, documents }: { bus: Bus; documents: Documents }): Promise<void> {
    const states = openStates({ documents, clock: systemClock });
    for (const reference of this.#references) {
      const { topic, partition, task } = reference;
      const saved = await states.load(`${this.#processor.name}/${topic}/${partition}`);
      if (saved === undefined || decodeTask(saved.bytes).tick === reference.ticks) continue;
      addToReference(reference, task.batch(await readAll(bus, topic, partition, task.status.nextOffset)));
      const response = task.tick(this.#nowMs);
      task.clearOutbox();
      if (response !== undefined) addToReference(reference, response);
      reference.ticks++;
    }
  }

  async #compare({ bus, documents }: { bus: Bus; documents: Documents }): Promise<void> {
    const t = this.#t;
    const states = openStates({ documents, clock: systemClock });
    for (const reference of this.#references) {
      const { topic, partition, task } = reference;
      addToReference(reference, task.batch(await readAll(bus, topic, partition, task.status.nextOffset)));
      const saved = await states.load(`${this.#processor.name}/${topic}/${partition}`);
      t.deepEqual(stateIn(saved?.bytes ?? new Uint8Array(0)), stateIn(task.snapshot()), `${topic}/${partition}`);
    }
    const values: string[] = [];
    let duplicates = 0;
    for (const { name } of Object.values(this.#processor.emits)) {
      for (const { partition } of await bus.offsets(name)) {
        const messages = await readAll(bus, name, partition);
        const distinct = withoutDuplicates(messages);
        duplicates += messages.length - distinct.length;
        values.push(...distinct.flatMap((message) => valuesOf(name, message)));
      }
    }
    const expected = this.#references.flatMap((reference) => reference.values);
    t.log(
      `${this.#members} members, ${this.#deaths} deaths, ${values.length} values, ${duplicates} duplicates passed by`,
    );
    t.true(expected.length > 0);
    t.deepEqual(values.sort(), expected.sort());
    const deadLetterTexts = new Set<string>();
    for (const { partition } of await bus.offsets(topics.deadLetter.name)) {
      for (const { headers } of await readAll(bus, topics.deadLetter.name, partition)) {
        const { reason, topic, partition: from, offset, originalHeaders } = decodeDeadLetter(headers);
        deadLetterTexts.add(`${topic} ${from} ${offset} ${reason} ${originalHeaders['only-ordinals']}`);
      }
    }
    const poison = this.#references.flatMap(({ topic, partition, poison: all }) =>
      all.map(({ offset, reason, ordinals }) => `${topic} ${partition} ${offset} ${reason} ${ordinals}`),
    );
    t.deepEqual([...deadLetterTexts].sort(), poison.sort());
  }
}

export const onceContract = (contract: OnceContract): void => {
  const registry = new URL('../../processors/registry.ts', import.meta.url).href;
  const madeUp = new URL('./made-up-processors.ts', import.meta.url).href;
  const chosen = selectPart(registered, contract.parts);
  const names = chosen.map(({ name }) => name);
  test(`${contract.name}: processors are selected at random`, (t) => {
    t.log(describePart(names, registered));
    t.true(names.length > 0);
  });
  for (const [processor, module] of [
    [visitCounter, madeUp] as const,
    ...chosen.map((each) => [each, registry] as const),
  ]) {
    test.serial(
      `${contract.name}: ${processor.name}: an interrupted run ends with the same outputs and state as an uninterrupted run`,
      async (t) => {
        const seed = runSeed;
        t.log(`seed ${seed}`);
        // Other tests log progress meanwhile, so ava would wait for a run that hangs until it is cut off.
        t.timeout(stretched(hangMs));
        await new DisturbedRun(t, contract, processor, module, await contract.place(t), seed).run();
      },
    );
  }
};
