/** What the suites of the bus contract share: the harness an adapter's test brings, and a consumer that keeps notes. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import type { Batch, Bus, Consumer, ConsumerOptions, Message, PartitionEvents } from '../../schemas/ports/bus.ts';
import { defineTopic, type Topic } from '../../schemas/topic.ts';

/** One bus under test. The one who makes it also removes it, with `t.teardown`. */
export interface BusUnderTest {
  readonly bus: Bus;
  /** Ends the bus as a crash would (batches in hand are abandoned, nothing of them is committed) and opens the same one again. */
  reopen(): Promise<Bus>;
  /** Makes the bus look at retention now; absent where the bus does so by itself. */
  retain?(): Promise<void>;
}

export interface BusContract {
  /** Begins the titles. */
  readonly name: string;
  /** A bus of its own, or a fresh client of a shared one: topics and groups have random names. */
  make(t: ExecutionContext): Promise<BusUnderTest>;
  /** How long to watch for what must not happen. */
  readonly quietMs: number;
}

/** A topic of a random name with as many partitions in a cluster as embedded. */
export const someTopic = (topic: Partial<Topic> = {}): Topic => {
  const partitions = topic.partitions ?? 1;
  return defineTopic({
    name: `contract.${randomUUID()}`,
    summary: 'of the bus contract',
    key: 'any',
    partitions,
    embeddedPartitions: partitions,
    ...topic,
  });
};

export const someGroup = (): string => `group-${randomUUID()}`;

export const messageTo = (
  topic: Topic,
  value: string | Uint8Array,
  { key = 'key', headers = {} }: { key?: string; headers?: Record<string, string> } = {},
): Message => ({ topic: topic.name, key, value: typeof value === 'string' ? Buffer.from(value) : value, headers });

/** Keys, one for each partition, found by trying. */
export const keysOf = (count: number, partitionOf: (key: string, count: number) => number): string[] => {
  const keys: string[] = [];
  for (let i = 0; Object.keys(keys).length < count; i++) keys[partitionOf(`key-${i}`, count)] ??= `key-${i}`;
  return keys;
};

export const rangeOf = ({ topic, partition, first, last }: Batch): string => `${topic}:${partition}:${first}-${last}`;

export interface Consuming {
  readonly consumer: Consumer;
  /** Every batch handed over, whatever became of it. */
  readonly batches: Batch[];
  /** Texts of the values of acknowledged batches, in order. */
  readonly texts: string[];
  /** Ranges of acknowledged batches, in order. */
  readonly ranges: string[];
  /** What `run` returned. */
  readonly running: Promise<void>;
  stop(): Promise<void>;
}

/** Runs a consumer that notes what it was given; `onBatch` may reject or wait. Batches close after 50 ms unless told otherwise. */
export const consume = (
  bus: Bus,
  topics: readonly Topic[],
  options: ConsumerOptions,
  onBatch: (batch: Batch) => unknown = () => undefined,
  events: PartitionEvents = {},
): Consuming => {
  const consumer = bus.createConsumer({ maxWaitMs: 50, ...options });
  const batches: Batch[] = [];
  const texts: string[] = [];
  const ranges: string[] = [];
  const running = consumer.run(
    topics.map(({ name }) => name),
    async (batch) => {
      batches.push(batch);
      await onBatch(batch);
      for (const { value } of batch.records) texts.push(value.toString());
      ranges.push(rangeOf(batch));
    },
    events,
  );
  // A test that expects the rejection awaits `running` itself.
  running.catch(() => undefined);
  const stop = async () => {
    await consumer.stop();
    await running;
  };
  return { consumer, batches, texts, ranges, running, stop };
};

export const quiet = (ms: number): Promise<void> => sleep(ms);

/** A promise and its ends. */
export const pending = <Value = void>(): PromiseWithResolvers<Value> => Promise.withResolvers<Value>();
