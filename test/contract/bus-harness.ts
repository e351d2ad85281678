/** Shared by the suites of the bus contract: the harness of each adapter, and a consumer that records its batches. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import type { Batch, Bus, Consumer, ConsumerOptions, Message, PartitionEvents } from '../../schemas/ports/bus.ts';
import { defineTopic, type Topic } from '../../schemas/topic.ts';

/** One bus under test. The function that creates it also removes it, with `t.teardown`. */
export interface BusUnderTest {
  readonly bus: Bus;
  /** Ends the bus like a crash (in-flight batches are abandoned without a commit) and opens the same bus again. */
  reopen(): Promise<Bus>;
  /** Applies retention immediately; absent if the bus does so automatically. */
  retain?(): Promise<void>;
}

export interface BusContract {
  /** Prefix of the test titles. */
  readonly name: string;
  /** An exclusive bus, or a new client of a shared bus: topics and groups have random names. */
  make(t: ExecutionContext): Promise<BusUnderTest>;
  /** How long a test waits to show that an event does not occur. */
  readonly quietMs: number;
}

/** A topic with a random name and the same number of partitions on a cluster as on the embedded bus. */
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

/** One key per partition, found by trial. */
export const keysOf = (count: number, partitionOf: (key: string, count: number) => number): string[] => {
  const keys: string[] = [];
  for (let i = 0; Object.keys(keys).length < count; i++) keys[partitionOf(`key-${i}`, count)] ??= `key-${i}`;
  return keys;
};

export const rangeOf = ({ topic, partition, first, last }: Batch): string => `${topic}:${partition}:${first}-${last}`;

export interface Consuming {
  readonly consumer: Consumer;
  /** Every delivered batch, including rejected batches. */
  readonly batches: Batch[];
  /** Values of acknowledged batches as texts, in order. */
  readonly texts: string[];
  /** Ranges of acknowledged batches, in order. */
  readonly ranges: string[];
  /** The result of `run`. */
  readonly running: Promise<void>;
  stop(): Promise<void>;
}

/** Runs a consumer that records its batches; `onBatch` may reject or wait. Batches close after 50 ms by default. */
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
  // A test that expects the rejection awaits `running`.
  running.catch(() => undefined);
  const stop = async () => {
    await consumer.stop();
    await running;
  };
  return { consumer, batches, texts, ranges, running, stop };
};

export const quiet = (ms: number): Promise<void> => sleep(ms);

/** A promise with its resolve and reject functions. */
export const pending = <Value = void>(): PromiseWithResolvers<Value> => Promise.withResolvers<Value>();
