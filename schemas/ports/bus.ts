/** The bus port. Kafka in a cluster, segment files in the embedded default; nothing above knows which. */
import type { Topic } from '../topic.ts';

/** One message to publish. */
export interface Message {
  readonly topic: string;
  /** Decides the partition (murmur2 of the UTF-8 bytes, as Kafka's default partitioner) and so the order. */
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** One message as it lies in a partition. Its value passed a checksum. */
export interface BusRecord {
  readonly offset: number;
  /** When the bus took it, epoch milliseconds. */
  readonly timestampMs: number;
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

type Weighed = Pick<BusRecord, 'headers' | 'value'>;

/** Telemetry records in a message (header `records`); 1 where it does not say. */
export const recordsIn = (headers: BusRecord['headers']): number => {
  const records = Number(headers['records'] ?? 1);
  return records >= 0 ? records : 1;
};

/** Bytes that a message is once decompressed (header `size`), and at least those of its value. */
export const bytesIn = ({ headers, value }: Weighed): number =>
  Math.max(value.length, Number(headers['size'] ?? 0) || 0);

/**
 * Records of one partition in order of offset. `first` and `last` name the range; a redelivery has exactly the same ones, also
 * where a record of it (or each of them) can no longer be read.
 */
export interface Batch {
  readonly topic: string;
  readonly partition: number;
  readonly first: number;
  readonly last: number;
  readonly records: readonly BusRecord[];
  /** Keeps the memory of the values as it is until what it answers is called, also beyond the batch; a bus may know no way to. */
  retain?(): () => void;
}

/** Publishing. Producers are idempotent: one `publish` puts each message on the bus once, retries of the driver included. */
export interface Producer {
  /**
   * Resolves once every message is durable (all in-sync replicas, or synced to disk). Messages of one key keep the
   * order of the calls. Rejects with `PermanentError` when a message is above the topic's size, and with
   * `UnavailableError` when the bus cannot say that it has them: then each may or may not be there.
   */
  publish(messages: readonly Message[]): Promise<void>;
  /**
   * Runs `work` under an exclusive name: a later holder of the same name fences this one out. What `work` publishes
   * becomes visible to consumers all at once when `work` resolves, and never when it rejects.
   */
  transaction<Result>(name: string, work: (publish: Producer['publish']) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface ConsumerOptions {
  /** Consumer group; starts at the earliest offset. */
  readonly group: string;
  /** A batch closes at this many telemetry records (the `records` header of each message, 1 without it). Default 20,000. */
  readonly maxRecords?: number;
  /** … or at this many bytes, decompressed (`bytesIn`). The message that reaches it is still in. Default 8 MiB. */
  readonly maxBytes?: number;
  /** … or this long after its first record was fetched. Default 1,000. */
  readonly maxWaitMs?: number;
}

/** A partition of which this member gets the batches from now on. */
export interface AssignedPartition {
  readonly topic: string;
  readonly partition: number;
  /** Next offset to consume: where the first batch begins, or a later one where offsets hold no message. */
  readonly committed: number;
  /** A range that begins at `committed` was claimed for a member and not acknowledged: the first batch is exactly that range. */
  readonly claimed: boolean;
}

/**
 * Tells a member which partitions it has. For one partition the calls come in this order and never overlap: `assigned`, batches,
 * `revoked`. A partition without messages is assigned too.
 *
 * A rebalance in which a member keeps a partition may revoke and assign it again (Kafka: each rebalance does; embedded: none).
 * No other member is assigned the partition before `revoked` has settled, unless the group has given up this member: after a
 * session without heartbeats (a paused process), or when `revoked` and the batch in hand take longer than the rebalance timeout.
 * Then `revoked` is called late, perhaps after another member has begun. A crash calls nothing.
 */
export interface PartitionEvents {
  /** Called before the first batch, which waits for it. When it rejects, it is called again after a back-off, as a batch is. */
  assigned?(partition: AssignedPartition): Promise<void> | void;
  /**
   * Called once for each assignment (also one that never resolved), after the batch in hand has settled: the partition is taken
   * away, or the consumer stops or fails. `stop` and the next rebalance wait for it; a rejection is logged.
   */
  revoked?(partition: Pick<AssignedPartition, 'topic' | 'partition'>): Promise<void> | void;
}

/**
 * The promise returned by `onBatch` is the acknowledgement: resolving commits the batch, rejecting commits nothing and
 * the batch is delivered again (with back-off). Batches of one partition never overlap in time; partitions do.
 * Values are to be read before it resolves: their memory is then used again.
 *
 * Ranges repeat: whatever happened in between (rejection, rebalance, crash, stop), a partition's next batch after an
 * unacknowledged one has exactly its `first` and `last`.
 */
export interface Consumer {
  /**
   * Runs until `stop`. Rejects when consuming cannot go on: the process should exit and say why. The embedded bus goes on behind
   * what it cannot read, once that is durable on the dead-letter topic.
   */
  run(topics: readonly string[], onBatch: (batch: Batch) => Promise<void>, events?: PartitionEvents): Promise<void>;
  /** Lets current batches finish and commit, leaves the group, and then lets `run` resolve. */
  stop(): Promise<void>;
}

/** Where a group stands in one partition. */
export interface Lag {
  readonly topic: string;
  readonly partition: number;
  /** Next offset to be consumed. */
  readonly committed: number;
  /** Next offset to be written. */
  readonly end: number;
  /** `end - committed`, in messages. */
  readonly lag: number;
}

/** Records of one partition in order of offset, as they were committed. */
export interface Fetched {
  readonly records: readonly BusRecord[];
  /** Offset to go on from: behind the last record, and behind what is no record for readers. */
  readonly next: number;
  /** The memory of its values is used again from now on. */
  release(): void;
}

/** Reads partitions outside any group, as they grow. */
export interface Follower {
  /**
   * Committed records from an offset on, once there are some, without those that are damaged; `undefined` once it is closed. One
   * call a partition at a time. Rejects when the offset is not kept (any longer), or lies behind the partition's end.
   */
  next(topic: string, partition: number, offset: number): Promise<Fetched | undefined>;
  /** Ends all waiting. */
  close(): Promise<void>;
}

export interface Bus {
  /** Creates missing topics and raises partition counts and limits to what is declared; never lowers or deletes. */
  ensureTopics(topics: readonly Topic[]): Promise<void>;
  producer(): Promise<Producer>;
  consumer(options: ConsumerOptions): Consumer;
  /** Committed records of a partition with `from <= offset < to`, outside any group, without those that are damaged. Rejects when `from` is no longer kept. */
  read(topic: string, partition: number, from: number, to: number): AsyncIterable<BusRecord>;
  /** As `read`, without an end, for many partitions at once: waiting costs little, however many there are. */
  follower(): Follower;
  /** First kept offset of every partition of a topic, and the next one that could be committed: below it, everything is decided. */
  offsets(
    topic: string,
  ): Promise<readonly { readonly partition: number; readonly earliest: number; readonly end: number }[]>;
  lag(group: string, topics: readonly string[]): Promise<readonly Lag[]>;
  /** How many members run each of these groups, in any process; 0 also for a group that is not known. */
  members(groups: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Forgets where a group stands: nothing is kept for it any longer, and it would start from the earliest offset. Rejects
   * with `PermanentError` when it has members, and when there is no such group.
   */
  forget(group: string): Promise<void>;
  /** Rejects when the bus cannot be used now; the message says why. */
  check(): Promise<void>;
  close(): Promise<void>;
}
