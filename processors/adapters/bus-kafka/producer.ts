/** Publishing: whatever waits goes out in one request for each broker, as soon as the one before is acknowledged. */
import type { BaseOptions } from '@platformatic/kafka';
import type { Message, Producer } from '../../../schemas/bus.ts';
import { PermanentError, UnavailableError } from '../../../schemas/errors.ts';
import type { Cluster } from './cluster.ts';
import { isProtocolError, reasonOf } from './failures.ts';
import { largestValue } from './largest-value.ts';
import { nextRound } from './round.ts';
import { Sender } from './sender.ts';
import { FatalBusError, headerAllowance, type Outgoing, outgoing } from './wire.ts';
import { LateError, patience, within } from './within.ts';

export interface KafkaProducerOptions {
  readonly driver: BaseOptions;
  readonly cluster: Cluster;
  /** Runs a transaction with messages whose partitions are decided. */
  transaction<Result>(
    name: string,
    work: (send: (messages: readonly Outgoing[]) => Promise<void>) => Promise<Result>,
  ): Promise<Result>;
}

/** One call of `publish` that is not acknowledged yet. */
interface Call {
  waiting: number;
  resolve(): void;
  reject(error: Error): void;
}

interface Entry extends Outgoing {
  readonly call: Call;
}

/** A call is refused at once while more than this waits. */
const mostPendingBytes = 256 * 1024 * 1024;
/** How long Kafka may be away before calls are told that it cannot be said whether it has their messages. */
const patienceMs = 8000;
/** How long a failed round counts: without requests, which a readiness that stays bad keeps away, nothing would end it. */
const troubleMs = 10_000;

export class KafkaProducer implements Producer {
  readonly #options: KafkaProducerOptions;
  #sender: Sender;
  #queue: Entry[] = [];
  #pendingBytes = 0;
  readonly #patience = patience(patienceMs);
  #flushing = false;
  #trouble: { readonly at: number; readonly reason: string } | undefined;
  #closed = false;

  constructor(options: KafkaProducerOptions) {
    this.#options = options;
    this.#sender = new Sender(options.driver);
  }

  async publish(messages: readonly Message[]): Promise<void> {
    if (messages.length === 0) return;
    const ready = this.#prepare(messages);
    const entries = ready ?? (await this.#prepareAnew(messages));
    if (this.#closed) throw new UnavailableError('the producer is closed');
    let bytes = 0;
    for (const entry of entries) bytes += entry.bytes;
    if (this.#pendingBytes + bytes > mostPendingBytes)
      throw new UnavailableError(`${this.#pendingBytes} bytes wait for Kafka already; try again later`);
    this.#pendingBytes += bytes;
    try {
      await new Promise<void>((resolve, reject) => {
        const call: Call = { waiting: entries.length, resolve, reject };
        for (const entry of entries) this.#queue.push({ ...entry, call });
        void this.#flush();
      });
    } finally {
      this.#pendingBytes -= bytes;
    }
  }

  /** What is known of topics: partitions and largest value. Kept for the producer's life, renewed when Kafka says it is stale. */
  readonly #topics = new Map<string, { readonly partitions: number; readonly largest: number }>();

  /** Decides partitions without waiting, so that calls keep their order; `undefined` when a topic is new here. */
  #prepare(messages: readonly Message[]): Outgoing[] | undefined {
    const entries: Outgoing[] = [];
    for (const message of messages) {
      const topic = this.#topics.get(message.topic);
      if (topic === undefined) return undefined;
      if (message.value.byteLength > topic.largest)
        throw new PermanentError(
          'too-large',
          `a message of ${message.value.byteLength} bytes is above the ${topic.largest} of topic ${message.topic}`,
        );
      const entry = outgoing(message, topic.partitions);
      if (entry.bytes > topic.largest + headerAllowance)
        throw new PermanentError(
          'too-large',
          `key and headers of a message of topic ${message.topic} are above ${headerAllowance} bytes`,
        );
      entries.push(entry);
    }
    return entries;
  }

  #learning: Promise<void> = Promise.resolve();

  /** One call after the other, in order. */
  async #prepareAnew(messages: readonly Message[]): Promise<Outgoing[]> {
    const learned = this.#learning.then(() => this.#learn(messages.map(({ topic }) => topic)));
    this.#learning = learned.catch(() => undefined);
    await learned;
    return this.#prepare(messages) ?? [];
  }

  async #learn(topics: readonly string[]): Promise<void> {
    const unknown = [...new Set(topics)].filter((topic) => !this.#topics.has(topic));
    if (unknown.length === 0) return;
    try {
      const metadata = await within(patienceMs, this.#options.cluster.metadata(unknown, true));
      for (const topic of unknown) {
        const largest = await within(patienceMs, largestValue(this.#options.cluster, topic));
        this.#topics.set(topic, { partitions: metadata.topics.get(topic)?.leaders.length ?? 1, largest });
      }
    } catch (cause) {
      if (cause instanceof FatalBusError) throw new UnavailableError(cause.message, { cause });
      throw new UnavailableError(`Kafka cannot be reached: ${reasonOf(cause)}`, { cause });
    }
  }

  async #flush(): Promise<void> {
    if (this.#flushing) return;
    this.#flushing = true;
    // Calls of the same turn of the event loop share the request.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const { round, rest } = nextRound(this.#queue, this.#roundLimit);
      this.#queue = rest;
      try {
        await this.#patience(this.#sender.send(round));
        this.#trouble = undefined;
        for (const { call } of round) if (--call.waiting === 0) call.resolve();
      } catch (error) {
        this.#fail(round, error);
      }
    }
    this.#flushing = false;
  }

  readonly #roundLimit = (topic: string): number => (this.#topics.get(topic)?.largest ?? 0) + headerAllowance;

  /** Rejects the calls of a round, and with them what waited behind it: it would only wait as long again. */
  #fail(round: readonly Entry[], error: unknown): void {
    const failed = new Set(round.map(({ call }) => call));
    for (const { call } of this.#queue) failed.add(call);
    this.#queue = [];
    this.#topics.clear();
    const tooLarge = isProtocolError(error, 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE') && round.length === 1;
    const reason = tooLarge
      ? new PermanentError('too-large', `Kafka refused a message of topic ${round[0]?.topic} as too large`)
      : new UnavailableError(`Kafka did not acknowledge: ${this.#why(error)}`, { cause: error });
    if (!tooLarge) this.#trouble = { at: performance.now(), reason: reason.message };
    for (const call of failed) call.reject(reason);
    // What the old one still retries must not come between messages that are published from now on.
    const old = this.#sender;
    this.#sender = new Sender(this.#options.driver);
    void old.close().catch(() => undefined);
  }

  #why(error: unknown): string {
    const { trouble } = this.#sender;
    return error instanceof LateError && trouble !== undefined
      ? `${reasonOf(error)}; ${reasonOf(trouble)}`
      : reasonOf(error);
  }

  async transaction<Result>(name: string, work: (publish: Producer['publish']) => Promise<Result>): Promise<Result> {
    return this.#options.transaction(name, (send) =>
      work(async (messages) => {
        if (messages.length === 0) return;
        let rest: readonly Outgoing[] = this.#prepare(messages) ?? (await this.#prepareAnew(messages));
        while (rest.length > 0) {
          const next = nextRound(rest, this.#roundLimit);
          await send(next.round);
          rest = next.rest;
        }
      }),
    );
  }

  /** Why nothing was acknowledged a moment ago; `undefined` when the last round was, or when it is worth trying again. */
  get trouble(): string | undefined {
    const trouble = this.#trouble;
    return trouble !== undefined && performance.now() - trouble.at < troubleMs ? trouble.reason : undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.#flushing) await new Promise((resolve) => setTimeout(resolve, 5));
    await this.#sender.close();
  }
}
