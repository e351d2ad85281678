/** Publishing: chooses partitions, checks sizes, and passes the messages of each leader to its own queue. */
import type { BaseOptions } from '@platformatic/kafka';
import { withTimeout } from '../../runtime/timeout.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import type { Message, Producer } from '../../schemas/ports/bus.ts';
import type { Cluster } from './cluster.ts';
import { describeFailure } from './failures.ts';
import { fetchMaxValueBytes } from './largest-value.ts';
import { acknowledgementTimeoutMs, LeaderQueue, type PublishCall } from './leader-queue.ts';
import { selectForRequest } from './select-for-request.ts';
import { FatalBusError, headerAllowance, type OutgoingMessage, toOutgoingMessage } from './wire.ts';

export interface KafkaProducerOptions {
  readonly driver: BaseOptions;
  readonly cluster: Cluster;
  /** Runs a transaction with messages whose partitions are already chosen. */
  transaction<Result>(
    name: string,
    work: (send: (messages: readonly OutgoingMessage[]) => Promise<void>) => Promise<Result>,
  ): Promise<Result>;
}

/** While more bytes than this wait for an acknowledgement, calls are rejected immediately. */
const maxPendingBytes = 256 * 1024 * 1024;
/**
 * How long a failed round affects readiness. A process that stays unready gets no requests, so no later success would
 * clear the failure.
 */
const failureMemoryMs = 10_000;

interface CachedTopic {
  readonly partitions: number;
  readonly maxValueBytes: number;
  /** The queue of each partition */
  readonly queues: readonly LeaderQueue[];
}

export class KafkaProducer implements Producer {
  readonly #options: KafkaProducerOptions;
  /**
   * Queues by leader at the time when a topic's metadata was read: a slow or unreachable broker delays only its own
   * partitions.
   */
  readonly #queues = new Map<number, LeaderQueue>();
  /** Metadata of topics, and the names of topics whose metadata is current. A failure makes all metadata stale. */
  readonly #topics = new Map<string, CachedTopic>();
  readonly #freshTopics = new Set<string>();
  #pendingBytes = 0;
  #lastFailure: { readonly at: number; readonly reason: string } | undefined;
  #isClosed = false;

  constructor(options: KafkaProducerOptions) {
    this.#options = options;
  }

  async publish(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const preparedEntries = this.#prepare(messages);
    const entries = preparedEntries ?? (await this.#refreshAndPrepare(messages));
    if (this.#isClosed) throw new UnavailableError('the producer is closed');
    let bytes = 0;
    for (const entry of entries) bytes += entry.bytes;
    if (this.#pendingBytes + bytes > maxPendingBytes)
      throw new UnavailableError(`${this.#pendingBytes} bytes wait for Kafka already; try again later`);
    this.#pendingBytes += bytes;
    try {
      await new Promise<void>((resolve, reject) => {
        const call: PublishCall = { unacknowledgedCount: entries.length, resolve, reject };
        for (const entry of entries) this.#getQueue(entry).push({ ...entry, call });
      });
    } finally {
      this.#pendingBytes -= bytes;
    }
  }

  /**
   * Chooses partitions without waiting, so that calls preserve their order; `undefined` when a topic is not known yet.
   */
  #prepare(messages: readonly Message[]): OutgoingMessage[] | undefined {
    const entries: OutgoingMessage[] = [];
    for (const message of messages) {
      const topic = this.#topics.get(message.topic);
      if (topic === undefined || !this.#freshTopics.has(message.topic)) return undefined;
      if (message.value.byteLength > topic.maxValueBytes)
        throw new PermanentError(
          'too-large',
          `a message of ${message.value.byteLength} bytes exceeds the maximum of ${topic.maxValueBytes} bytes of topic ${message.topic}`,
        );
      const entry = toOutgoingMessage(message, topic.partitions);
      if (entry.bytes > topic.maxValueBytes + headerAllowance)
        throw new PermanentError(
          'too-large',
          `key and headers of a message of topic ${message.topic} exceed ${headerAllowance} bytes`,
        );
      entries.push(entry);
    }
    return entries;
  }

  #currentRefresh: Promise<void> = Promise.resolve();

  /** Refreshes metadata, one call after the other, in order. */
  async #refreshAndPrepare(messages: readonly Message[]): Promise<OutgoingMessage[]> {
    const refresh = this.#currentRefresh.then(() => this.#refreshTopics(messages.map(({ topic }) => topic)));
    this.#currentRefresh = refresh.catch(() => undefined);
    await refresh;
    return this.#prepare(messages) ?? [];
  }

  async #refreshTopics(topics: readonly string[]): Promise<void> {
    const staleTopics = [...new Set(topics)].filter((topic) => !this.#freshTopics.has(topic));
    if (staleTopics.length === 0) return;
    try {
      const metadata = await withTimeout(acknowledgementTimeoutMs, this.#options.cluster.metadata(staleTopics, true));
      for (const topic of staleTopics) {
        const maxValueBytes = await withTimeout(
          acknowledgementTimeoutMs,
          fetchMaxValueBytes(this.#options.cluster, topic),
        );
        const queues = this.#selectQueues(topic, metadata.topics.get(topic)?.leaders ?? []);
        this.#topics.set(topic, { partitions: queues.length, maxValueBytes, queues });
        this.#freshTopics.add(topic);
      }
    } catch (cause) {
      if (cause instanceof FatalBusError) throw new UnavailableError(cause.message, { cause });
      throw new UnavailableError(`Kafka cannot be reached: ${describeFailure(cause)}`, { cause });
    }
  }

  #getQueue({ topic, partition }: OutgoingMessage): LeaderQueue {
    const queue = this.#topics.get(topic)?.queues[partition];
    if (queue === undefined) throw new UnavailableError(`topic ${topic} has no partition ${partition} any more`);
    return queue;
  }

  /** A partition stays in its queue while messages are in flight there; otherwise their order would be lost. */
  #selectQueues(topic: string, leaders: readonly number[]): LeaderQueue[] {
    const currentQueues = this.#topics.get(topic)?.queues ?? [];
    return leaders.map((leader, partition) => {
      const queue = currentQueues[partition];
      return queue === undefined || queue.isIdle ? this.#getOrCreateQueue(leader) : queue;
    });
  }

  #getOrCreateQueue(leader: number): LeaderQueue {
    const existing = this.#queues.get(leader);
    if (existing !== undefined) return existing;
    const queue = new LeaderQueue({
      driver: this.#options.driver,
      getMaxBytes: this.#getMaxRequestBytes,
      onAcknowledged: () => {
        this.#lastFailure = undefined;
      },
      onFailure: (reason) => {
        this.#freshTopics.clear();
        if (!(reason instanceof PermanentError)) this.#lastFailure = { at: performance.now(), reason: reason.message };
      },
    });
    this.#queues.set(leader, queue);
    return queue;
  }

  readonly #getMaxRequestBytes = (topic: string): number =>
    (this.#topics.get(topic)?.maxValueBytes ?? 0) + headerAllowance;

  async transaction<Result>(name: string, work: (publish: Producer['publish']) => Promise<Result>): Promise<Result> {
    return this.#options.transaction(name, (send) =>
      work(async (messages) => {
        if (messages.length === 0) return;
        let remaining: readonly OutgoingMessage[] =
          this.#prepare(messages) ?? (await this.#refreshAndPrepare(messages));
        while (remaining.length > 0) {
          const next = selectForRequest(remaining, this.#getMaxRequestBytes);
          await send(next.round);
          remaining = next.remaining;
        }
      }),
    );
  }

  /** Why the last round was not acknowledged; `undefined` after a success, or when it is time to retry. */
  get failureReason(): string | undefined {
    const failureReason = this.#lastFailure;
    return failureReason !== undefined && performance.now() - failureReason.at < failureMemoryMs
      ? failureReason.reason
      : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }
}
