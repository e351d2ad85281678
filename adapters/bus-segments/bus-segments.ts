/** The embedded bus: a durable log of append-only segment files. See the README in `bus-segments/`. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getFormerGroup } from '../../runtime/consumer-groups.ts';
import { Budget } from '../../runtime/reading-window.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import { computePartition } from '../../schemas/partition.ts';
import type {
  Bus,
  BusRecord,
  ConsumerOptions,
  Lag,
  Message,
  PartitionFollower,
  Producer,
} from '../../schemas/ports/bus.ts';
import { type Clock, systemClock } from '../../schemas/ports/clock.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { Topic } from '../../schemas/topic.ts';
import { topics } from '../../schemas/topics.ts';
import { BufferPool } from '../buffer-pool.ts';
import { lockDirectory } from '../directory-lock.ts';
import { type Disk, disk as realDisk } from './disk.ts';
import { SegmentsFollower } from './follower.ts';
import { createSegmentsConsumer, Group } from './group.ts';
import { createDeadLetters, describeLostRange, type LostRange } from './lost-messages.ts';
import { type OffsetStore, openOffsetStore, type StoredTopic } from './offset-store.ts';
import { getPartitionDirectory, PartitionLog } from './partition.ts';
import { PartitionConsumer } from './partition-consumer.ts';
import { BatchBuilder, PartitionReader } from './reader.ts';
import { type EncodedRecord, encodeRecord } from './record.ts';
import { GroupReader, SharedReading } from './shared-reading.ts';
import { Transactions } from './transactions.ts';

const mebibyte = 1024 * 1024;
/** A segment is removed as a whole, so its first record may outlive the retention by the age of a segment. */
const segmentsPerRetention = 8;
const minSegmentAgeMs = 60 * 60_000;
/** Maximum decompressed bytes in memory for groups that have not read them yet. */
const maxBufferedBytes = 64 * mebibyte;

export interface SegmentsOptions {
  /** Directory of all files; created if missing. Only one process at a time can use it. */
  readonly directory: string;
  readonly clock?: Clock;
  readonly log?: Log;
  /** Counts damaged records. */
  readonly metrics?: Metrics;
  /** Size in bytes after which a new segment begins. Default 128 MiB. */
  readonly segmentBytes?: number;
  /** Retained bytes per partition, overriding the setting of each topic. */
  readonly retentionBytes?: number | undefined;
  /** Interval between checks for old segments. Default one minute. */
  readonly retentionEveryMs?: number;
  /** Maximum bytes that wait to be written; above it `publish` rejects. Default 256 MiB. */
  readonly maxPendingBytes?: number;
  /** How long to wait for another process to release the directory, in milliseconds. Default 1,000. */
  readonly lockWaitMs?: number;
  readonly disk?: Disk;
}

/** A bus on segment files. `retain` applies retention immediately instead of waiting for the timer. */
export interface SegmentsBus extends Bus {
  retain(): Promise<void>;
}

interface OpenTopic {
  readonly definition: StoredTopic;
  readonly partitions: PartitionLog[];
}

/**
 * Opens the log in a directory; rejects when another process uses it. `close` abandons batches in progress: stop
 * consumers first.
 */
export const openSegmentsBus = async (options: SegmentsOptions): Promise<SegmentsBus> => {
  await mkdir(options.directory, { recursive: true });
  const lock = await lockDirectory(options.directory, options.lockWaitMs ?? 1000);
  let store: OffsetStore;
  try {
    store = openOffsetStore(options.directory);
  } catch (error) {
    await lock.close();
    throw error;
  }
  const bus = new EmbeddedBus(options, store, () => lock.close());
  try {
    await bus.open();
  } catch (error) {
    await bus.close();
    throw error;
  }
  return bus;
};

class EmbeddedBus implements SegmentsBus {
  readonly #options: SegmentsOptions;
  readonly #store: OffsetStore;
  readonly #transactions: Transactions;
  readonly #unlock: () => Promise<void>;
  readonly #disk: Disk;
  readonly #log: Log;
  readonly #topics = new Map<string, OpenTopic>();
  readonly #groups = new Map<string, Group>();
  readonly #consumers = new Map<string, PartitionConsumer[]>();
  readonly #followers = new Set<SegmentsFollower>();
  readonly #bufferPool = new BufferPool({ areShared: true });
  readonly #sharedReadings = new WeakMap<PartitionLog, SharedReading>();
  readonly #budget = new Budget(maxBufferedBytes);
  #timer: NodeJS.Timeout | undefined;
  #pendingBytes = 0;
  #closing: Promise<void> | undefined;
  #retention: Promise<void> = Promise.resolve();
  #runningProbe: Promise<void> | undefined;

  constructor(options: SegmentsOptions, store: OffsetStore, unlock: () => Promise<void>) {
    this.#options = options;
    this.#store = store;
    this.#unlock = unlock;
    this.#disk = options.disk ?? realDisk;
    this.#log = options.log ?? silentLog;
    this.#transactions = new Transactions(store, {
      publish: (messages, transaction) => this.#publish(messages, transaction),
      release: (transaction) => {
        for (const { partitions } of this.#topics.values())
          for (const partition of partitions) partition.release(transaction);
      },
    });
  }

  async open(): Promise<void> {
    for (const storedTopic of this.#store.topics()) await this.#openTopic(storedTopic);
    this.#timer = setInterval(
      () => void this.retain().catch(() => undefined),
      this.#options.retentionEveryMs ?? 60_000,
    );
    this.#timer.unref();
  }

  async ensureTopics(topics: readonly Topic[]): Promise<void> {
    for (const topic of topics) {
      if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/.test(topic.name))
        throw new PermanentError('bad-topic', `${topic.name} is not a valid topic name`);
      const currentTopic = this.#topics.get(topic.name)?.definition;
      const storedTopic: StoredTopic = {
        name: topic.name,
        partitions: Math.max(topic.embeddedPartitions, currentTopic?.partitions ?? 1),
        retentionMs: Math.max(Math.round(topic.retentionHours * 3_600_000), currentTopic?.retentionMs ?? 0),
        retentionBytes: Math.max(topic.retentionBytes, currentTopic?.retentionBytes ?? 0),
        maxMessageBytes: Math.max(topic.maxMessageBytes, currentTopic?.maxMessageBytes ?? 0),
      };
      await this.#openTopic(storedTopic);
      this.#store.saveTopic(storedTopic);
    }
    for (const group of this.#groups.values()) group.rebalance();
  }

  async producer(): Promise<Producer> {
    let isClosed = false;
    const publishing = new Set<Promise<unknown>>();
    const track = <Result>(promise: Promise<Result>): Promise<Result> => {
      publishing.add(promise);
      const done = () => publishing.delete(promise);
      promise.then(done, done);
      return promise;
    };
    const runWhileOpen = <Result>(work: () => Promise<Result>): Promise<Result> =>
      isClosed ? Promise.reject(new UnavailableError('the producer is closed')) : track(work());
    return {
      publish: (messages) => runWhileOpen(() => this.#publish(messages, 0)),
      transaction: (name, work) => runWhileOpen(() => this.#transactions.run(name, work)),
      close: async () => {
        isClosed = true;
        await Promise.allSettled(publishing);
      },
    };
  }

  createConsumer(options: ConsumerOptions) {
    const { group: name } = options;
    const formerGroup = getFormerGroup(name);
    if (formerGroup !== undefined) this.#store.rename(formerGroup, name);
    const group = this.#groups.get(name) ?? new Group((topic) => this.#getOrCreateConsumers(name, topic));
    this.#groups.set(name, group);
    return createSegmentsConsumer(options, group);
  }

  async *read(topic: string, partition: number, from: number, to: number): AsyncIterable<BusRecord> {
    const log = this.#getPartition(topic, partition);
    if (from < log.earliest)
      throw new Error(`${log.title}: offset ${from} is no longer stored; the earliest is ${log.earliest}`);
    const reader = new PartitionReader(log, from, new BufferPool());
    try {
      while (reader.nextOffset < Math.min(to, log.stableEnd)) {
        const batch = new BatchBuilder({ maxRecords: Number.POSITIVE_INFINITY, maxBytes: mebibyte, endOffset: to });
        const lostRange = await reader.readInto(batch);
        yield* batch.records;
        if (lostRange === undefined) continue;
        this.#log.warn({}, describeLostRange(log.title, lostRange));
        await reader.seek(lostRange.to);
      }
    } finally {
      await reader.close();
    }
  }

  createFollower(): PartitionFollower {
    const follower = new SegmentsFollower((topic, partition) => this.#getPartition(topic, partition), this.#log);
    this.#followers.add(follower);
    return follower;
  }

  async offsets(topic: string) {
    const { partitions } = this.#getTopic(topic);
    return partitions.map(({ earliest, stableEnd: end }, partition) => ({ partition, earliest, end }));
  }

  async lag(group: string, topics: readonly string[]): Promise<readonly Lag[]> {
    return topics.flatMap((topic) =>
      this.#getTopic(topic).partitions.map(({ earliest, end }, partition) => {
        const committed = this.#getPosition(group, topic, partition)?.committed ?? earliest;
        return { topic, partition, committed, end, lag: end - committed };
      }),
    );
  }

  async members(groups: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return new Map(groups.map((group) => [group, this.#groups.get(group)?.size ?? 0]));
  }

  /** Returns the position of a group, or of its former name. */
  #getPosition(group: string, topic: string, partition: number) {
    const formerGroup = getFormerGroup(group);
    return (
      this.#store.position(group, topic, partition) ??
      (formerGroup === undefined ? undefined : this.#store.position(formerGroup, topic, partition))
    );
  }

  async deleteGroup(group: string): Promise<void> {
    if ((this.#groups.get(group)?.size ?? 0) > 0)
      throw new PermanentError('group-in-use', `group ${group} has members: stop them first`);
    if (!this.#store.deleteGroup(group)) throw new PermanentError('unknown-group', `group ${group} is not known`);
    this.#groups.delete(group);
    for (const [key, consumers] of this.#consumers)
      if (consumers.some((consumer) => consumer.group === group)) this.#consumers.delete(key);
  }

  /**
   * After a failed write, attempts a test write. An unready process receives no requests, so without the test it would
   * stay unready.
   */
  async check(): Promise<void> {
    if (this.#closing !== undefined) throw new UnavailableError('the bus is closed');
    for (const { partitions } of this.#topics.values())
      for (const { fault } of partitions) {
        if (fault === undefined) continue;
        // Several roles of a process call `check` at the same time; they share one probe.
        this.#runningProbe ??= this.#probe(fault).finally(() => {
          this.#runningProbe = undefined;
        });
        return await this.#runningProbe;
      }
  }

  async #probe(fault: Error): Promise<void> {
    const path = join(this.#options.directory, 'probe');
    try {
      await rm(path, { force: true });
      const file = await this.#disk.open(path, 'create');
      try {
        await file.write([Buffer.alloc(mebibyte)], 0);
        await file.sync();
      } finally {
        await file.close();
        await rm(path, { force: true });
      }
    } catch (cause) {
      throw new UnavailableError(`the log in ${this.#options.directory} cannot be written: ${fault.message}`, {
        cause,
      });
    }
  }

  retain(): Promise<void> {
    this.#retention = this.#retention.catch(() => undefined).then(() => this.#retain());
    return this.#retention;
  }

  async #retain(): Promise<void> {
    for (const { definition, partitions } of this.#topics.values())
      for (const [partition, log] of partitions.entries()) {
        const groupPositions = this.#listGroupPositions(definition.name, partition);
        const minCommitted = Math.min(Number.POSITIVE_INFINITY, ...groupPositions.map(({ committed }) => committed));
        const bytes = this.#options.retentionBytes ?? definition.retentionBytes;
        const { hasRetainedSegments } = await log.retain({
          milliseconds: definition.retentionMs,
          bytes,
          minNeededOffset: minCommitted,
        });
        const slowest = groupPositions.find(({ committed }) => committed === minCommitted);
        if (hasRetainedSegments)
          this.#log.warn(
            { log: log.title, group: slowest?.group, committed: minCommitted, end: log.end },
            'records past their retention are still stored because a group has not consumed them',
          );
      }
  }

  /** Returns the next offset of each group that ever ran on the topic; 0 for a partition that was added later. */
  #listGroupPositions(topic: string, partition: number) {
    return this.#store.listGroups(topic).map((group) => ({
      group,
      committed: this.#store.position(group, topic, partition)?.committed ?? 0,
    }));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#retention.catch(() => undefined);
    for (const consumers of this.#consumers.values()) for (const consumer of consumers) consumer.abandon();
    await Promise.all([...this.#followers].map((follower) => follower.close()));
    for (const { partitions } of this.#topics.values()) for (const partition of partitions) await partition.close();
    this.#store.close();
    await this.#unlock();
  }

  /** Opens partitions that are not open yet and applies the limits. */
  async #openTopic(definition: StoredTopic): Promise<void> {
    const partitions = this.#topics.get(definition.name)?.partitions ?? [];
    for (let partition = partitions.length; partition < definition.partitions; partition++)
      partitions.push(await this.#openPartition(definition, partition));
    this.#topics.set(definition.name, { definition, partitions });
    await this.#disk.syncDirectory(this.#options.directory);
    await this.#disk.syncDirectory(join(this.#options.directory, definition.name));
  }

  #openPartition({ name: topic, retentionMs }: StoredTopic, partition: number): Promise<PartitionLog> {
    const nextOffsets = this.#store.listGroups(topic).map((group) => {
      const { committed = 0, claimed = -1 } = this.#store.position(group, topic, partition) ?? {};
      return Math.max(committed, claimed + 1);
    });
    return PartitionLog.open({
      topic,
      partition,
      directory: getPartitionDirectory(this.#options.directory, topic, partition),
      disk: this.#disk,
      clock: this.#options.clock ?? systemClock,
      log: this.#log,
      segmentBytes: this.#options.segmentBytes ?? 128 * mebibyte,
      maxSegmentAgeMs: Math.max(minSegmentAgeMs, retentionMs / segmentsPerRetention),
      acknowledgedOffset: Math.max(0, ...nextOffsets),
      isAborted: (transaction) => this.#transactions.isAborted(transaction),
    });
  }

  #getTopic(name: string): OpenTopic {
    const topic = this.#topics.get(name);
    if (topic === undefined)
      throw new PermanentError('unknown-topic', `topic ${name} does not exist: it was never created`);
    return topic;
  }

  #getPartition(topic: string, partition: number): PartitionLog {
    const log = this.#getTopic(topic).partitions[partition];
    if (log === undefined)
      throw new PermanentError('unknown-partition', `topic ${topic} has no partition ${partition}`);
    return log;
  }

  #getOrCreateConsumers(group: string, topic: string): readonly PartitionConsumer[] {
    const key = JSON.stringify([group, topic]);
    const consumers = this.#consumers.get(key) ?? [];
    this.#consumers.set(key, consumers);
    for (const [partition, partitionLog] of this.#getTopic(topic).partitions.entries())
      consumers[partition] ??= new PartitionConsumer({
        group,
        topic,
        partition,
        partitionLog,
        store: this.#store,
        log: this.#log,
        reader: (from) => this.#createGroupReader(partitionLog, from),
        putDeadLetter: (lost, consumer) => this.#deadLetterLost(lost, consumer),
      });
    return consumers;
  }

  /** A reader for a group, which shares reads with the other groups of the partition. */
  #createGroupReader(log: PartitionLog, from: number): GroupReader {
    const shared = this.#sharedReadings.get(log) ?? new SharedReading(log, this.#bufferPool, this.#budget);
    this.#sharedReadings.set(log, shared);
    return new GroupReader(log, from, shared);
  }

  /**
   * Lost records of the dead-letter topic itself are only logged, because they contain bytes that are already damaged.
   */
  async #deadLetterLost(lost: LostRange, { group, topic, partition }: PartitionConsumer): Promise<void> {
    const message = describeLostRange(`${topic}/${partition}`, lost);
    if (topic !== topics.deadLetter.name) {
      await this.#publish(await createDeadLetters(this.#disk, lost, { group, topic, partition }, message), 0);
      this.#options.metrics?.add('oiq_dead_letters_total', 1, { origin: group, reason: 'damaged' });
    }
    this.#log.error({ group }, message);
  }

  async #publish(messages: readonly Message[], transaction: number): Promise<void> {
    if (this.#closing !== undefined) throw new UnavailableError('the bus is closed');
    const entriesByPartition = new Map<PartitionLog, EncodedRecord[]>();
    let bytes = 0;
    for (const message of messages) {
      const { definition, partitions } = this.#getTopic(message.topic);
      if (message.value.length > definition.maxMessageBytes)
        throw new PermanentError(
          'message-too-large',
          `a message of ${message.value.length} bytes exceeds the maximum of ${definition.maxMessageBytes} bytes of topic ${message.topic}`,
        );
      const partition = this.#getPartition(message.topic, computePartition(message.key, partitions.length));
      const entry = encodeRecord(message);
      const entries = entriesByPartition.get(partition) ?? [];
      if (entries.length === 0) entriesByPartition.set(partition, entries);
      entries.push(entry);
      bytes += entry.head.length + entry.value.length;
    }
    await this.#append(entriesByPartition, bytes, transaction);
  }

  async #append(parts: ReadonlyMap<PartitionLog, EncodedRecord[]>, bytes: number, transaction: number): Promise<void> {
    const limit = this.#options.maxPendingBytes ?? 256 * mebibyte;
    if (this.#pendingBytes + bytes > limit && this.#pendingBytes > 0)
      throw new UnavailableError(`more than ${limit} bytes wait to be written`, { retryAfterSeconds: 1 });
    this.#pendingBytes += bytes;
    const appends = [...parts].map(([partition, entries]) => partition.append(entries, transaction));
    const results = await Promise.allSettled(appends);
    this.#pendingBytes -= bytes;
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}
