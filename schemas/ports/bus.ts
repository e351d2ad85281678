/**
 * The bus port: Kafka in a cluster, segment files in the embedded default. Callers do not depend on the implementation.
 */
import type { Topic } from '../topic.ts';

/** One message to publish. */
export interface Message {
  readonly topic: string;
  /** Determines the partition (Murmur2 of the UTF-8 bytes, as in Kafka's default partitioner) and thus the order. */
  readonly key: string;
  readonly value: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** One message of a partition. Its value passed a checksum. */
export interface BusRecord {
  readonly offset: number;
  /** When the bus accepted the message, in epoch milliseconds. */
  readonly timestampMs: number;
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

type SizedRecord = Pick<BusRecord, 'headers' | 'value'>;

/** Returns the number of telemetry records in a message (header `records`); 1 without the header. */
export const countRecords = (headers: BusRecord['headers']): number => {
  const records = Number(headers['records'] ?? 1);
  return records >= 0 ? records : 1;
};

/** Returns the decompressed size of a message in bytes (header `size`), at least the size of its value. */
export const getDecompressedBytes = ({ headers, value }: SizedRecord): number =>
  Math.max(value.length, Number(headers['size'] ?? 0) || 0);

/**
 * Records of one partition in offset order. `first` and `last` are the offsets of the range. A redelivery has exactly the same range,
 * even if some or all of its records can no longer be read.
 */
export interface Batch {
  readonly topic: string;
  readonly partition: number;
  readonly first: number;
  readonly last: number;
  readonly records: readonly BusRecord[];
  /**
   * Retains the memory of the values, even beyond the batch, until the returned function is called. Not every bus
   * supports this.
   */
  retain?(): () => void;
}

/**
 * Publishing. Producers are idempotent: one `publish` puts each message on the bus once, including retries of the
 * driver.
 */
export interface Producer {
  /**
   * Resolves once every message is durable (all in-sync replicas, or synced to disk). Messages with the same key keep
   * the order of the calls. Rejects with `PermanentError` if a message exceeds the topic's message size. Rejects with
   * `UnavailableError` if the bus does not confirm the messages: then each may or may not be stored.
   */
  publish(messages: readonly Message[]): Promise<void>;
  /**
   * Runs `work` under an exclusive name: a later holder of the same name fences the earlier one. Consumers see the
   * messages that `work` publishes all at once when `work` resolves, and never if it rejects.
   */
  transaction<Result>(name: string, work: (publish: Producer['publish']) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface ConsumerOptions {
  /** Consumer group, which starts at the earliest offset. */
  readonly group: string;
  /**
   * A batch closes at this many telemetry records (header `records` of each message, 1 without it). Default: 20,000.
   */
  readonly maxRecords?: number;
  /**
   * A batch closes at this many decompressed bytes (`getDecompressedBytes`), including the message that reaches the limit. Default:
   * 8 MiB.
   */
  readonly maxBytes?: number;
  /** A batch closes this many milliseconds after its first record was fetched. Default: 1,000. */
  readonly maxWaitMs?: number;
}

/** A partition that is assigned to this member. */
export interface AssignedPartition {
  readonly topic: string;
  readonly partition: number;
  /** Next offset to consume: the start of the first batch, or a later offset if some offsets contain no message. */
  readonly committed: number;
  /**
   * Whether a range from `committed` on was claimed for a member and not acknowledged. Then the first batch is exactly
   * that range.
   */
  readonly isClaimed: boolean;
}

/**
 * Notifies a member of its partitions. For one partition the calls have this order and never overlap: `onAssigned`,
 * batches, `onRevoked`. A partition without messages is assigned too.
 *
 * A rebalance may revoke a partition and assign it to the same member again (Kafka: each rebalance; embedded: never).
 * No other member gets the partition before `onRevoked` has settled. The exception is a member that the group has
 * removed: after a session without heartbeats (a paused process), or when `onRevoked` and the current batch exceed the
 * rebalance timeout. Then `onRevoked` is called late, possibly after another member has started. A crash calls nothing.
 */
export interface PartitionEvents {
  /**
   * Called before the first batch, which waits for the promise. If it rejects, the call is retried with back-off, like
   * a batch.
   */
  onAssigned?(partition: AssignedPartition): Promise<void> | void;
  /**
   * Called once per assignment (even if `onAssigned` never resolved), after the current batch has settled. The partition
   * was revoked, or the consumer stops or fails. `stop` and the next rebalance wait for the promise. A rejection is
   * logged.
   */
  onRevoked?(partition: Pick<AssignedPartition, 'topic' | 'partition'>): Promise<void> | void;
}

/**
 * The promise of `onBatch` is the acknowledgement. Resolving commits the batch. Rejecting commits nothing, and the
 * batch is redelivered with back-off. Batches of one partition never overlap in time; batches of different partitions
 * do. Read values before the promise resolves: their memory is then reused.
 *
 * Ranges repeat. After an unacknowledged batch (rejection, rebalance, crash, stop), the next batch of the partition has
 * exactly the same `first` and `last`.
 */
export interface Consumer {
  /**
   * Runs until `stop`. Rejects if the consumer cannot continue: then the process should exit with the reason. The
   * embedded bus skips unreadable messages once they are durable on the dead-letter topic.
   */
  run(topics: readonly string[], onBatch: (batch: Batch) => Promise<void>, events?: PartitionEvents): Promise<void>;
  /** Waits until the current batches are finished and committed, leaves the group, and then lets `run` resolve. */
  stop(): Promise<void>;
}

/** Position of a group in one partition. */
export interface Lag {
  readonly topic: string;
  readonly partition: number;
  /** Next offset to consume. */
  readonly committed: number;
  /** Next offset to write. */
  readonly end: number;
  /** `end - committed`, in messages. */
  readonly lag: number;
}

/** Committed records of one partition in offset order. */
export interface FetchedRecords {
  readonly records: readonly BusRecord[];
  /** Offset to continue from: after the last record, and after offsets without a record for readers. */
  readonly next: number;
  /** Releases the memory of the values for reuse. */
  release(): void;
}

/** Follows growing partitions without a consumer group. */
export interface PartitionFollower {
  /**
   * Returns committed records from an offset on, without damaged records. Waits until there is at least one. Returns `undefined` once
   * the follower is closed. At most one call per partition at a time. Rejects if the offset is no longer retained or is
   * after the partition's end.
   */
  next(topic: string, partition: number, offset: number): Promise<FetchedRecords | undefined>;
  /** Ends all pending calls. */
  close(): Promise<void>;
}

export interface Bus {
  /** Creates missing topics, and raises partition counts and limits to the declared values. Never lowers or deletes. */
  ensureTopics(topics: readonly Topic[]): Promise<void>;
  producer(): Promise<Producer>;
  createConsumer(options: ConsumerOptions): Consumer;
  /**
   * Iterates over the committed records of a partition with `from <= offset < to`, without a consumer group and without
   * damaged records. Rejects if `from` is no longer retained.
   */
  read(topic: string, partition: number, from: number, to: number): AsyncIterable<BusRecord>;
  /** Like `read`, but without an end and for many partitions. Waiting is cheap for any number of partitions. */
  createFollower(): PartitionFollower;
  /**
   * Returns the first retained offset of every partition of a topic, and the next offset that could be committed. * All transactions below that offset are committed or aborted.
   */
  offsets(
    topic: string,
  ): Promise<readonly { readonly partition: number; readonly earliest: number; readonly end: number }[]>;
  lag(group: string, topics: readonly string[]): Promise<readonly Lag[]>;
  /** Returns the number of members of each of these groups over all processes; 0 for an unknown group. */
  members(groups: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Deletes the offsets of a group, which would then start from the earliest offset. Rejects with `PermanentError` if
   * the group has members or does not exist.
   */
  deleteGroup(group: string): Promise<void>;
  /** Rejects if the bus is currently unavailable. The message contains the reason. */
  check(): Promise<void>;
  close(): Promise<void>;
}
