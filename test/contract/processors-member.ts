/**
 * A process that runs one processor with injected faults: publishing and saving fails before or after it took effect,
 * or the process kills itself at that point. Exits once nothing is left to do.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Processor } from '../../processors/engine/definition.ts';
import { decodeTask } from '../../processors/engine/task-snapshot.ts';
import { startProcessors } from '../../processors/index.ts';
import { openStates } from '../../runtime/states.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Bus, Producer } from '../../schemas/ports/bus.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { processorStates } from '../../schemas/resources/processor-state.ts';
import { seeded } from '../cases/random.ts';
import { openStores, type StoresPlace } from './processors-stores.ts';

export interface MemberOptions {
  readonly place: StoresPlace;
  readonly processor: string;
  readonly module: string;
  readonly nowMs: number;
  readonly seed: number;
  /** Number of calls of each kind, of 1,000, that end the process, and that fail. */
  readonly kills: number;
  readonly failures: number;
  /** Expected final ticks of the snapshot of each partition, by topic and partition. */
  readonly ticks: Readonly<Record<string, number>>;
  /** Exits only when no snapshot has unpublished messages. */
  readonly isSettling: boolean;
}

const { place, processor, module, nowMs, seed, kills, failures, ticks, isSettling } = JSON.parse(
  process.argv[2] ?? '{}',
) as MemberOptions;

// Handled from the start: a member that is stopped while it joins should leave, not die.
let isStopRequested = false;
process.on('SIGTERM', () => {
  isStopRequested = true;
});

const random = seeded(seed);

const strike = (what: string): void => {
  const drawn = random(1_000);
  if (drawn < kills) process.kill(process.pid, 'SIGKILL');
  if (drawn < kills + failures) throw new UnavailableError(`${what} failed, as the test wants it`);
};

/** Calls that may fail before and after they take effect. */
const shaky = async <Result>(what: string, call: () => Promise<Result>): Promise<Result> => {
  strike(what);
  const result = await call();
  strike(what);
  return result;
};

const shakyProducer = (producer: Producer): Producer => ({
  publish: (messages) => shaky('publishing', () => producer.publish(messages)),
  transaction: (name, work) => producer.transaction(name, work),
  close: () => producer.close(),
});

const shakyBus = (bus: Bus): Bus => ({ ...bus, producer: async () => shakyProducer(await bus.producer()) });

/** A snapshot is saved by writing one document. */
const shakyDocuments = (documents: Documents): Documents => {
  const wrapped = <Target extends object>(target: Target, overridden: Partial<Target>): Target =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(overridden, name) ?? Reflect.get(of, name);
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
  return wrapped(documents, {
    forTenant(tenantId) {
      const tenant = documents.forTenant(tenantId);
      return wrapped(tenant, {
        collection(definition) {
          const collection = tenant.collection(definition);
          if (definition.name !== processorStates.name) return collection;
          return wrapped(collection, {
            insert: (...args) => shaky('saving', () => collection.insert(...args)),
            replace: (...args) => shaky('saving', () => collection.replace(...args)),
          });
        },
      });
    },
  });
};

const { bus, documents } = await openStores(place);
const { processors } = (await import(module)) as { readonly processors: readonly Processor[] };
const chosen = processors.find(({ name }) => name === processor);
const clock = { now: () => nowMs };
const role = await startProcessors({
  bus: shakyBus(bus),
  documents: shakyDocuments(documents),
  metrics: silentMetrics,
  log: silentLog,
  clock,
  only: [processor],
  registered: { processors, module: new URL(module) },
  pool: { threads: 1 },
  pace: { tickMs: 50, snapshotMessages: 15 },
});
role.failure.catch((error: unknown) => {
  console.error(error);
  process.exit(3);
});

const topics = chosen?.reads.topics.map(({ name }) => name) ?? [];
const states = openStates({ documents, clock });

const isDone = async (): Promise<boolean> => {
  const lags = await bus.lag(`processors.${processor}`, topics);
  if (lags.some(({ lag }) => lag > 0)) return false;
  for (const { topic, partition } of lags) {
    const snapshot = await states.load(`${processor}/${topic}/${partition}`);
    const { tick, outbox } = snapshot === undefined ? { tick: 0, outbox: [] } : decodeTask(snapshot.bytes);
    if (tick < (ticks[`${topic}/${partition}`] ?? 0) || (isSettling && outbox.length > 0)) return false;
  }
  return true;
};
while (!isStopRequested && !(await isDone().catch(() => false))) await sleep(100);
await role.stop();
await bus.close();
await documents.close();
process.exit(0);
