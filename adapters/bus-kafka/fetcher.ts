/**
 * Reads pieces of partitions: one request a broker at a time, for all partitions that are read from it and want more. They are
 * read from their leaders, or from replicas that leaders name.
 */
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { fetchV15, ProtocolError } from '@platformatic/kafka';
import type { Log } from '../../schemas/ports/log.ts';
import { BufferPool, pooledBufferBytes } from '../buffer-pool.ts';
import type { Cluster, Metadata } from './cluster.ts';
import { committedRecords, type FetchedRecord } from './committed-offsets.ts';
import { unlessMoved } from './deadline.ts';
import { reasonOf } from './failures.ts';
import { fetchAnswer, type PartitionAnswer } from './fetch-answer.ts';
import { NearerReplicas } from './rack-aware-fetch.ts';
import { FatalBusError } from './wire.ts';

/** The records of a partition from one fetch. */
export interface Piece {
  readonly records: readonly FetchedRecord[];
  /** Offset of the next fetch; beyond the last record when control records follow it. */
  readonly next: number;
  /** Frees the memory of all its records. Do not call it while the records are in use. */
  release(): void;
}

interface PartitionRequest {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly maxBytes: number;
  /** Failures in a row to find a broker that answers it. */
  failures: number;
  resolve(piece: Piece | undefined): void;
  reject(error: Error): void;
}

const offsetOutOfRange = 1;
const readCommitted = 1;
const requestBytes = 32 * 1024 * 1024;
/** How long a broker waits for the first byte; also how long a partition may wait to join the next request. */
const waitMs = 100;
const retryMs = 300;
/** After this time without an answer, the fetcher checks whether another broker leads the partitions. */
const checkIntervalMs = 1000;
/** Leaders move in ordinary life; what lasts is worth a line. */
const failuresToReport = 10;

const keyOf = (topic: string, partition: number): string => `${topic}:${partition}`;

/** Names the records that are gone. */
export const gapError = (topic: string, partition: number, offset: number, earliest: number): FatalBusError =>
  new FatalBusError(
    `offset ${offset} of partition ${partition} of topic ${topic} is not there: the topic keeps offsets from ${earliest} on. ` +
      'Records in between are gone (retention, or a topic made anew); to go on without them, move the group’s offset',
  );

export class Fetcher {
  readonly #cluster: Cluster;
  readonly #log: Log;
  readonly #requests = new Map<string, PartitionRequest>();
  /** Partitions whose last request failed, or that have no leader; they are asked for again in a moment. */
  #parked: PartitionRequest[] = [];
  /** Brokers whose loop runs. */
  readonly #busy = new Set<number>();
  readonly #ending = new AbortController();
  readonly #bufferPool = new BufferPool();
  readonly #nearerReplicas = new NearerReplicas();
  #routing = false;
  #routeAgain = false;
  #failures = 0;

  constructor(cluster: Cluster, log: Log) {
    this.#cluster = cluster;
    this.#log = log;
  }

  /**
   * The next piece of a partition, once there is one; `undefined` when the fetcher closes. Rejects when the offset is
   * not there. One call a partition at a time. A piece has one record batch at least, else `maxBytes` at most.
   */
  fetch(topic: string, partition: number, offset: number, maxBytes = pooledBufferBytes): Promise<Piece | undefined> {
    if (this.#ending.signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#requests.set(keyOf(topic, partition), { topic, partition, offset, maxBytes, failures: 0, resolve, reject });
      void this.#route();
    });
  }

  /** Ends all waiting. Its cluster stays open. */
  close(): void {
    this.#ending.abort();
    for (const { resolve } of [...this.#requests.values(), ...this.#parked]) resolve(undefined);
    this.#requests.clear();
    this.#parked = [];
  }

  /** Starts a loop for every broker whose partitions are waited for. */
  async #route(forceUpdate = false): Promise<void> {
    this.#routeAgain = true;
    if (this.#routing) return;
    this.#routing = true;
    let failure: unknown;
    try {
      // Calls that arrive while this waits for metadata must be routed as well.
      while (this.#routeAgain && !this.#ending.signal.aborted) {
        this.#routeAgain = false;
        for (const node of (await this.#requestsByNode(forceUpdate)).keys())
          if (!this.#busy.has(node)) {
            this.#busy.add(node);
            void this.#serve(node);
          }
      }
    } catch (error) {
      failure = error;
    }
    this.#routing = false;
    if (failure !== undefined) await this.#recover(failure);
  }

  async #requestsByNode(forceUpdate = false): Promise<Map<number, PartitionRequest[]>> {
    const byNode = new Map<number, PartitionRequest[]>();
    // After an await others may want something too; they are met by the loop that runs for their broker, or by its end.
    for (;;) {
      const topics = [...new Set([...this.#requests.values()].map(({ topic }) => topic))];
      if (topics.length === 0) return byNode;
      const metadata = await this.#cluster.metadata(topics, forceUpdate);
      const requests = [...this.#requests.values()];
      if (requests.some(({ topic }) => !metadata.topics.has(topic))) continue;
      for (const request of requests) {
        const node = this.#nodeFor(request, metadata);
        if (node < 0) this.#park(request, 'it has no leader');
        else byNode.set(node, [...(byNode.get(node) ?? []), request]);
      }
      return byNode;
    }
  }

  /** The node from which a partition is read; -1 while it has no leader. */
  #nodeFor({ topic, partition }: PartitionRequest, metadata: Metadata): number {
    const leader = metadata.topics.get(topic)?.leaders[partition] ?? -1;
    return this.#nearerReplicas.nodeFor(keyOf(topic, partition), leader, metadata);
  }

  /** Fetches from one broker until no call waits for one of its partitions. */
  async #serve(node: number): Promise<void> {
    let failure: unknown;
    try {
      for (;;) {
        const requests = (await this.#requestsByNode()).get(node);
        if (requests === undefined || this.#ending.signal.aborted) break;
        await this.#request(node, requests);
        this.#failures = 0;
        // Partitions that just got a piece want the next one in a moment: a request without them would wait for the
        // idle ones first.
        await yieldToEventLoop();
      }
    } catch (error) {
      failure = error;
      this.#nearerReplicas.forgetNode(node);
    }
    this.#busy.delete(node);
    if (failure !== undefined) await this.#recover(failure);
    // A call that arrived while this loop was ending started no loop.
    else if (this.#requests.size > 0) await this.#route();
  }

  /** Waits, and reads the leaders of partitions again. A missing topic rejects all waiting calls. */
  async #recover(error: unknown): Promise<void> {
    if (this.#ending.signal.aborted) return;
    if (error instanceof FatalBusError) {
      for (const { reject } of this.#requests.values()) reject(error);
      this.#requests.clear();
      return;
    }
    this.#failures++;
    // Leaders move in ordinary life; what lasts is worth a line.
    if (this.#failures === 3) this.#log.warn({ reason: reasonOf(error) }, 'cannot fetch from Kafka; trying again');
    await sleep(retryMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    await this.#route(true);
  }

  /** Sets a partition aside, so that it holds up no other, until its leader may have changed. */
  #park(request: PartitionRequest, reason: string): void {
    const { topic, partition } = request;
    this.#requests.delete(keyOf(topic, partition));
    request.failures++;
    if (request.failures === failuresToReport)
      this.#log.warn({ topic, partition, reason }, 'cannot fetch a partition from Kafka; trying again');
    this.#parked.push(request);
    if (this.#parked.length === 1) void this.#unpark();
  }

  async #unpark(): Promise<void> {
    await sleep(retryMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    if (this.#ending.signal.aborted) return;
    for (const request of this.#parked) this.#requests.set(keyOf(request.topic, request.partition), request);
    this.#parked = [];
    await this.#route(true);
  }

  async #request(node: number, requests: readonly PartitionRequest[]): Promise<void> {
    const metadata = await this.#cluster.metadata([...new Set(requests.map(({ topic }) => topic))]);
    const partitions = new Map<string, Parameters<typeof fetchV15.createRequest>[6][number]['partitions']>();
    const names = new Map<string, string>();
    for (const { topic, partition, offset, maxBytes } of requests) {
      const id = metadata.topics.get(topic)?.id ?? '';
      names.set(id, topic);
      const list = partitions.get(id) ?? [];
      partitions.set(id, list);
      list.push({
        partition,
        currentLeaderEpoch: -1,
        fetchOffset: BigInt(offset),
        lastFetchedEpoch: -1,
        partitionMaxBytes: maxBytes,
      });
    }
    const topics = [...partitions].map(([topicId, list]) => ({ topicId, partitions: list }));
    const connection = await this.#cluster.directConnection(metadata, node);
    const pendingAnswer = connection.request({
      key: fetchV15.api.key,
      version: fetchV15.api.version,
      tagged: true,
      payload: fetchV15.createRequest(waitMs, 1, requestBytes, readCommitted, 0, -1, topics, [], this.#cluster.rack),
      parser: () => fetchAnswer(this.#bufferPool),
    });
    const { errorCode, responses } = await unlessMoved(pendingAnswer, checkIntervalMs, () =>
      this.#hasMoved(node, requests),
    ).catch((error) => {
      connection.close();
      throw error;
    });
    if (errorCode !== 0) throw new ProtocolError(errorCode);
    for (const { topicId, partitions: answers } of responses) {
      const topic = names.get(topicId);
      if (topic === undefined) continue;
      for (const answer of answers) await this.#settle(topic, answer);
    }
  }

  /** A broker that hangs, or goes, may leave requests without an answer while others lead its partitions already. */
  async #hasMoved(node: number, requests: readonly PartitionRequest[]): Promise<boolean> {
    const metadata = await this.#cluster.metadata([...new Set(requests.map(({ topic }) => topic))], true);
    return requests.some((request) => {
      const now = this.#nodeFor(request, metadata);
      return now >= 0 && now !== node;
    });
  }

  /** Hands out what came of a partition. */
  async #settle(topic: string, answer: PartitionAnswer): Promise<void> {
    const key = keyOf(topic, answer.partitionIndex);
    const request = this.#requests.get(key);
    if (request === undefined) return;
    if (answer.errorCode !== 0 && this.#nearerReplicas.forget(key)) {
      // A replica may know less than the leader, which is asked next.
      answer.pooledBuffer?.release();
      this.#park(request, new ProtocolError(answer.errorCode).message);
      return;
    }
    if (answer.errorCode === offsetOutOfRange) {
      const earliest = await this.#cluster.earliest(topic, request.partition);
      this.#requests.delete(key);
      request.reject(gapError(topic, request.partition, request.offset, earliest));
      return;
    }
    if (answer.errorCode !== 0) {
      answer.pooledBuffer?.release();
      this.#park(request, new ProtocolError(answer.errorCode).message);
      return;
    }
    request.failures = 0;
    if (answer.preferredReplica >= 0) {
      answer.pooledBuffer?.release();
      this.#nearerReplicas.name(key, answer.preferredReplica);
      void this.#route();
      return;
    }
    const { records, next } = committedRecords(answer, request.offset);
    const release = (): void => answer.pooledBuffer?.release();
    if (next > request.offset) {
      this.#requests.delete(key);
      request.resolve({ records, next, release });
    } else release();
  }
}
