/** Idempotent sending: each partition's batch is written once, and resent unchanged until its leader has stored it. */
import {
  type BaseOptions,
  type Connection,
  initProducerIdV4,
  ProtocolError,
  produceV9,
  Writer,
} from '@platformatic/kafka';
import { Cluster, type Metadata } from './cluster.ts';
import { createWatchdog } from './deadline.ts';
import { isAuthenticationError, isProtocolError } from './failures.ts';
import { encodeRecordBatch } from './record-batch.ts';
import { FatalBusError, type OutgoingMessage } from './wire.ts';

interface Producer {
  readonly id: bigint;
  readonly epoch: number;
}

/** The messages of one round for one partition. */
interface Batch {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Buffer;
}

/** A request that waits for its response. */
interface InFlightRequest {
  readonly leader: number;
  readonly batches: readonly Batch[];
  readonly connection: Connection;
}

const minRetryDelayMs = 20;
const maxRetryDelayMs = 250;
/**
 * A broker that hangs does not close its connections. After this time without a response, the sender checks whether
 * another broker has become the leader.
 */
const checkAfterMs = 1000;
const allReplicasAcks = -1;
const largestSequence = 2 ** 31;
/** The broker's error for a batch that it stored already, too long ago to report its offset. */
const duplicateError = 'DUPLICATE_SEQUENCE_NUMBER';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the protocol errors in an error of the driver. */
const listProtocolErrors = (error: unknown): ProtocolError[] => {
  if (error instanceof ProtocolError) return [error];
  return error instanceof AggregateError ? error.errors.flatMap(listProtocolErrors) : [];
};

const isDuplicate = (error: ProtocolError): boolean => isProtocolError(error, duplicateError);

/** Whether resending the same bytes can help: the connection broke, a leader is missing, or the error is retriable. */
const canRetry = (error: unknown): boolean => {
  if (error instanceof FatalBusError || error instanceof TypeError || error instanceof RangeError) return false;
  if (isAuthenticationError(error)) return false;
  const errors = listProtocolErrors(error);
  return errors.every((protocolError) => isDuplicate(protocolError) || protocolError['canRetry'] === true);
};

/** Encodes the batches of one leader as a Produce request of version 9, without copying large parts. */
const encodeProduceRequest = (batches: readonly Batch[], timeoutMs: number): Writer => {
  const topics = new Map<string, Batch[]>();
  for (const batch of batches) {
    const topicBatches = topics.get(batch.topic);
    if (topicBatches === undefined) topics.set(batch.topic, [batch]);
    else topicBatches.push(batch);
  }
  const request = Writer.create().appendString(undefined).appendInt16(allReplicasAcks).appendInt32(timeoutMs);
  return request
    .appendArray([...topics], (topic, [name, partitions]) => {
      topic.appendString(name).appendArray(partitions, (into, { partition, bytes }) => {
        into.appendInt32(partition).appendBytes(bytes);
      });
    })
    .appendTaggedFields();
};

/**
 * One producer id with its sequence numbers. Rounds must not overlap in time. After a failed round, the state of the
 * broker is unknown and the sender is unusable: close it and create another.
 */
export class Sender {
  readonly #cluster: Cluster;
  readonly #timeoutMs: number;
  readonly #sequences = new Map<string, number>();
  /** Leaders at the time of the last successful request; a broker that no longer leads returns an error. */
  #metadata: Metadata | undefined;
  #producer: Producer | undefined;
  readonly #inFlight = new Set<InFlightRequest>();
  readonly #watchdog = createWatchdog(checkAfterMs, () => void this.#disconnectFormerLeaders().catch(() => undefined));
  #pendingFailure: unknown;
  #isClosed = false;

  constructor(driver: BaseOptions) {
    this.#cluster = new Cluster(driver);
    this.#timeoutMs = driver.timeout ?? 5_000;
  }

  /** Why the current round is not acknowledged yet; `undefined` when no reason is known. */
  get pendingFailure(): unknown {
    return this.#pendingFailure;
  }

  /**
   * Resolves when all in-sync replicas of every partition have the messages. Rejects with errors that a retry cannot
   * fix.
   */
  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    const topics = [...new Set(messages.map(({ topic }) => topic))];
    let batches: readonly Batch[] | undefined;
    this.#pendingFailure = undefined;
    for (let attempt = 0; ; attempt++) {
      try {
        const metadata = this.#getCachedMetadata(topics) ?? (await this.#cluster.metadata(topics, attempt > 0));
        this.#metadata = undefined;
        this.#producer ??= await this.#createProducer();
        batches ??= this.#encodeBatches(messages, this.#producer);
        batches = await this.#sendAll(metadata, batches);
        if (batches.length === 0) {
          this.#metadata = metadata;
          return;
        }
      } catch (error) {
        this.#pendingFailure = error;
        if (!canRetry(error)) throw error;
      }
      if (this.#isClosed) throw new Error('the producer was closed before Kafka acknowledged');
      // After a clean shutdown a leader has a successor immediately; after a crash it takes seconds.
      await pause(Math.min(minRetryDelayMs * 2 ** attempt, maxRetryDelayMs));
      if (this.#isClosed) throw new Error('the producer was closed before Kafka acknowledged');
    }
  }

  /** Closes the connections and stops resending. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#cluster.close();
  }

  #getCachedMetadata(topics: readonly string[]): Metadata | undefined {
    const metadata = this.#metadata;
    return metadata !== undefined && topics.every((topic) => metadata.topics.has(topic)) ? metadata : undefined;
  }

  async #createProducer(): Promise<Producer> {
    const { producerId, producerEpoch } = await this.#cluster.requestAny((connection) =>
      initProducerIdV4.api.async(connection, null, this.#timeoutMs),
    );
    return { id: producerId, epoch: producerEpoch };
  }

  #encodeBatches(messages: readonly OutgoingMessage[], { id, epoch }: Producer): Batch[] {
    const partitions = new Map<string, OutgoingMessage[]>();
    for (const message of messages) {
      const partitionKey = `${message.topic}:${message.partition}`;
      const partitionMessages = partitions.get(partitionKey);
      if (partitionMessages === undefined) partitions.set(partitionKey, [message]);
      else partitionMessages.push(message);
    }
    const now = Date.now();
    const batches: Batch[] = [];
    for (const [partitionKey, group] of partitions) {
      const [firstMessage] = group;
      if (firstMessage === undefined) continue;
      const firstSequence = this.#sequences.get(partitionKey) ?? 0;
      this.#sequences.set(partitionKey, (firstSequence + group.length) % largestSequence);
      const bytes = encodeRecordBatch(group, now, { producerId: id, epoch, first: firstSequence });
      batches.push({ topic: firstMessage.topic, partition: firstMessage.partition, bytes });
    }
    return batches;
  }

  /** Sends one request to each leader; returns the batches to resend. */
  async #sendAll(metadata: Metadata, batches: readonly Batch[]): Promise<readonly Batch[]> {
    const leaders = new Map<number, Batch[]>();
    for (const batch of batches) {
      const leader = metadata.topics.get(batch.topic)?.leaders[batch.partition] ?? -1;
      const leaderBatches = leaders.get(leader);
      if (leaderBatches === undefined) leaders.set(leader, [batch]);
      else leaderBatches.push(batch);
    }
    if (leaders.size === 1) for (const [leader, group] of leaders) return this.#sendToLeader(metadata, leader, group);
    const unsent = await Promise.all(
      [...leaders].map(([leader, group]) => this.#sendToLeader(metadata, leader, group)),
    );
    return unsent.flat();
  }

  async #sendToLeader(metadata: Metadata, leader: number, batches: Batch[]): Promise<Batch[]> {
    if (leader < 0) {
      this.#pendingFailure = new Error(
        `partition ${batches[0]?.partition} of topic ${batches[0]?.topic} has no leader`,
      );
      return batches;
    }
    try {
      const connection = await this.#cluster.connection(metadata, leader);
      await this.#request({ leader, batches, connection });
      return [];
    } catch (error) {
      const errors = listProtocolErrors(error);
      if (errors.length > 0 && errors.every(isDuplicate)) return [];
      if (!canRetry(error)) throw error;
      this.#pendingFailure = error;
      return batches;
    }
  }

  async #request(request: InFlightRequest): Promise<void> {
    this.#inFlight.add(request);
    this.#watchdog.begin();
    try {
      await new Promise<void>((resolve, reject) => {
        request.connection.send(
          produceV9.api.key,
          produceV9.api.version,
          () => encodeProduceRequest(request.batches, this.#timeoutMs),
          produceV9.parseResponse,
          true,
          true,
          (error) => (error == null ? resolve() : reject(error)),
        );
      });
    } finally {
      this.#inFlight.delete(request);
      if (this.#inFlight.size === 0) this.#watchdog.end();
    }
  }

  /**
   * Breaks connections to brokers that no longer lead the waiting partitions; the batches then go to the new leaders.
   */
  async #disconnectFormerLeaders(): Promise<void> {
    const pendingRequests = [...this.#inFlight];
    const names = pendingRequests.flatMap(({ batches }) => batches.map(({ topic }) => topic));
    const { topics } = await this.#cluster.metadata([...new Set(names)], true);
    for (const { leader, batches, connection } of pendingRequests) {
      const leaders = batches.map(({ topic, partition }) => topics.get(topic)?.leaders[partition] ?? -1);
      if (leaders.some((currentLeader) => currentLeader >= 0 && currentLeader !== leader)) connection.socket.destroy();
    }
  }
}
