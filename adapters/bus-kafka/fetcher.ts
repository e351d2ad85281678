/**
 * Fetches records of partitions: one request per broker at a time, for all its partitions with a waiting call. Records
 * come from the leader of a partition, or from the replica that the leader prefers.
 */
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { fetchV15, ProtocolError } from '@platformatic/kafka';
import { addToList } from '../../schemas/add-to-list.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { BufferPool, pooledBufferBytes } from '../buffer-pool.ts';
import type { Cluster, Metadata } from './cluster.ts';
import { type FetchedRecord, filterCommittedRecords } from './committed-offsets.ts';
import { rejectIfMoved } from './deadline.ts';
import { describeFailure } from './failures.ts';
import { type PartitionResponse, parseFetchResponse } from './fetch-response.ts';
import { PreferredReplicas } from './rack-aware-fetch.ts';
import { FatalBusError } from './wire.ts';

/** Records of a partition from one fetch. */
export interface FetchedBatch {
  readonly records: readonly FetchedRecord[];
  /** Offset of the next fetch; beyond the last record when control records follow. */
  readonly next: number;
  /** Frees the memory of all records of the batch. Do not call it while the records are in use. */
  release(): void;
}

interface PartitionRequest {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly maxBytes: number;
  /** Consecutive failures to find a broker that serves the partition. */
  failures: number;
  resolve(batch: FetchedBatch | undefined): void;
  reject(error: Error): void;
}

const offsetOutOfRange = 1;
const readCommitted = 1;
const requestBytes = 32 * 1024 * 1024;
/** How long a broker waits for the first byte, and how long a partition may wait to join the next request. */
const waitMs = 100;
/** The same for a broker without records, so that an idle process sends few requests. A record ends the wait at once. */
const idleWaitMs = 500;
/** Consecutive responses without records after which a broker counts as idle. */
const minEmptyResponses = 20;
const retryMs = 300;
/** After this time without a response, the fetcher checks whether another broker leads the partitions. */
const checkIntervalMs = 1000;
/** Leader changes are normal operation; only lasting failures are logged. */
const minLoggedFailures = 10;

const toKey = (topic: string, partition: number): string => `${topic}:${partition}`;

/** Returns the error for deleted records, with their offsets. */
export const createGapError = (topic: string, partition: number, offset: number, earliest: number): FatalBusError =>
  new FatalBusError(
    `offset ${offset} of partition ${partition} of topic ${topic} does not exist: the topic retains offsets from ${earliest}. ` +
      'Records in between were deleted (retention, or a recreated topic); to continue without them, move the group’s offset',
  );

export class Fetcher {
  readonly #cluster: Cluster;
  readonly #log: Log;
  readonly #requests = new Map<string, PartitionRequest>();
  /** Partitions whose last request failed, or that have no leader; they are retried after a delay. */
  #delayedRequests: PartitionRequest[] = [];
  /** Brokers with a running loop. */
  readonly #servedNodes = new Set<number>();
  /** Consecutive responses without records, by broker. */
  readonly #emptyResponses = new Map<number, number>();
  readonly #closing = new AbortController();
  readonly #bufferPool = new BufferPool();
  readonly #preferredReplicas = new PreferredReplicas();
  #isRouting = false;
  #mustRouteAgain = false;
  #failures = 0;

  constructor(cluster: Cluster, log: Log) {
    this.#cluster = cluster;
    this.#log = log;
  }

  /**
   * Resolves with the next records of a partition once there are any, or with `undefined` when the fetcher closes.
   * Rejects when the offset does not exist. Allows one call per partition at a time. Returns at most `maxBytes`, but at
   * least one Kafka record batch.
   */
  fetch(
    topic: string,
    partition: number,
    offset: number,
    maxBytes = pooledBufferBytes,
  ): Promise<FetchedBatch | undefined> {
    if (this.#closing.signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#requests.set(toKey(topic, partition), { topic, partition, offset, maxBytes, failures: 0, resolve, reject });
      void this.#route();
    });
  }

  /** Ends all waiting calls. The cluster stays open. */
  close(): void {
    this.#closing.abort();
    for (const { resolve } of [...this.#requests.values(), ...this.#delayedRequests]) resolve(undefined);
    this.#requests.clear();
    this.#delayedRequests = [];
  }

  /** Starts a loop for every broker with partitions that have a waiting call. */
  async #route(forceUpdate = false): Promise<void> {
    this.#mustRouteAgain = true;
    if (this.#isRouting) return;
    this.#isRouting = true;
    let failure: unknown;
    try {
      // Calls that arrive while this waits for metadata must be routed as well.
      while (this.#mustRouteAgain && !this.#closing.signal.aborted) {
        this.#mustRouteAgain = false;
        for (const node of (await this.#groupRequestsByNode(forceUpdate)).keys())
          if (!this.#servedNodes.has(node)) {
            this.#servedNodes.add(node);
            void this.#serveNode(node);
          }
      }
    } catch (error) {
      failure = error;
    }
    this.#isRouting = false;
    if (failure !== undefined) await this.#recover(failure);
  }

  async #groupRequestsByNode(forceUpdate = false): Promise<Map<number, PartitionRequest[]>> {
    const byNode = new Map<number, PartitionRequest[]>();
    // New calls may arrive after an await; the running loop of their broker, or the end of that loop, handles them.
    for (;;) {
      const topics = [...new Set([...this.#requests.values()].map(({ topic }) => topic))];
      if (topics.length === 0) return byNode;
      const metadata = await this.#cluster.metadata(topics, forceUpdate);
      const requests = [...this.#requests.values()];
      if (requests.some(({ topic }) => !metadata.topics.has(topic))) continue;
      for (const request of requests) {
        const node = this.#selectNode(request, metadata);
        if (node < 0) this.#delayRetry(request, 'it has no leader');
        else addToList(byNode, node, request);
      }
      return byNode;
    }
  }

  /** Returns the node from which to read a partition; -1 while it has no leader. */
  #selectNode({ topic, partition }: PartitionRequest, metadata: Metadata): number {
    const leader = metadata.topics.get(topic)?.leaders[partition] ?? -1;
    return this.#preferredReplicas.selectNode(toKey(topic, partition), leader, metadata);
  }

  /** Fetches from one broker until no call waits for one of its partitions. */
  async #serveNode(node: number): Promise<void> {
    let failure: unknown;
    try {
      for (;;) {
        const requests = (await this.#groupRequestsByNode()).get(node);
        if (requests === undefined || this.#closing.signal.aborted) break;
        await this.#sendRequest(node, requests);
        this.#failures = 0;
        // Partitions that just received a batch request the next one immediately. A request without them would first
        // wait for the idle partitions.
        await yieldToEventLoop();
      }
    } catch (error) {
      failure = error;
      this.#preferredReplicas.forgetNode(node);
    }
    this.#servedNodes.delete(node);
    if (failure !== undefined) await this.#recover(failure);
    // A call that arrived while this loop was ending started no loop.
    else if (this.#requests.size > 0) await this.#route();
  }

  /** Waits, then refreshes the leaders of partitions. A missing topic rejects all waiting calls. */
  async #recover(error: unknown): Promise<void> {
    if (this.#closing.signal.aborted) return;
    if (error instanceof FatalBusError) {
      for (const { reject } of this.#requests.values()) reject(error);
      this.#requests.clear();
      return;
    }
    this.#failures++;
    // Leader changes are normal operation; only lasting failures are logged.
    if (this.#failures === 3)
      this.#log.warn({ reason: describeFailure(error) }, 'cannot fetch from Kafka; trying again');
    await sleep(retryMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    await this.#route(true);
  }

  /** Delays the requests of a partition until its leader may have changed, so that it blocks no other partition. */
  #delayRetry(request: PartitionRequest, reason: string): void {
    const { topic, partition } = request;
    this.#requests.delete(toKey(topic, partition));
    request.failures++;
    if (request.failures === minLoggedFailures)
      this.#log.warn({ topic, partition, reason }, 'cannot fetch a partition from Kafka; trying again');
    this.#delayedRequests.push(request);
    if (this.#delayedRequests.length === 1) void this.#retryDelayed();
  }

  async #retryDelayed(): Promise<void> {
    await sleep(retryMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    if (this.#closing.signal.aborted) return;
    for (const request of this.#delayedRequests) this.#requests.set(toKey(request.topic, request.partition), request);
    this.#delayedRequests = [];
    await this.#route(true);
  }

  async #sendRequest(node: number, requests: readonly PartitionRequest[]): Promise<void> {
    const metadata = await this.#cluster.metadata([...new Set(requests.map(({ topic }) => topic))]);
    const partitions = new Map<string, Parameters<typeof fetchV15.createRequest>[6][number]['partitions']>();
    const names = new Map<string, string>();
    for (const { topic, partition, offset, maxBytes } of requests) {
      const id = metadata.topics.get(topic)?.id ?? '';
      names.set(id, topic);
      addToList(partitions, id, {
        partition,
        currentLeaderEpoch: -1,
        fetchOffset: BigInt(offset),
        lastFetchedEpoch: -1,
        partitionMaxBytes: maxBytes,
      });
    }
    const topics = [...partitions].map(([topicId, list]) => ({ topicId, partitions: list }));
    const connection = await this.#cluster.directConnection(metadata, node);
    const emptyResponses = this.#emptyResponses.get(node) ?? 0;
    const maxWaitMs = emptyResponses < minEmptyResponses ? waitMs : idleWaitMs;
    const pendingResponse = connection.request({
      key: fetchV15.api.key,
      version: fetchV15.api.version,
      hasTaggedFields: true,
      payload: fetchV15.createRequest(maxWaitMs, 1, requestBytes, readCommitted, 0, -1, topics, [], this.#cluster.rack),
      parser: () => parseFetchResponse(this.#bufferPool),
    });
    const { errorCode, responses } = await rejectIfMoved(pendingResponse, checkIntervalMs, () =>
      this.#hasMoved(node, requests),
    ).catch((error) => {
      connection.close();
      throw error;
    });
    if (errorCode !== 0) throw new ProtocolError(errorCode);
    const hasRecords = responses.some(({ partitions: partitionResponses }) =>
      partitionResponses.some(({ records }) => records.length > 0),
    );
    this.#emptyResponses.set(node, hasRecords ? 0 : emptyResponses + 1);
    for (const { topicId, partitions: partitionResponses } of responses) {
      const topic = names.get(topicId);
      if (topic === undefined) continue;
      for (const response of partitionResponses) await this.#deliver(topic, response);
    }
  }

  /**
   * A broker that hangs or shuts down may not respond while other brokers already lead its partitions.
   */
  async #hasMoved(node: number, requests: readonly PartitionRequest[]): Promise<boolean> {
    const metadata = await this.#cluster.metadata([...new Set(requests.map(({ topic }) => topic))], true);
    return requests.some((request) => {
      const currentNode = this.#selectNode(request, metadata);
      return currentNode >= 0 && currentNode !== node;
    });
  }

  /** Delivers the response for a partition to its caller. */
  async #deliver(topic: string, partitionResponse: PartitionResponse): Promise<void> {
    const key = toKey(topic, partitionResponse.partitionIndex);
    const request = this.#requests.get(key);
    if (request === undefined) return;
    if (partitionResponse.errorCode !== 0 && this.#preferredReplicas.clearPreferred(key)) {
      // A replica may lag behind the leader, so the leader is read next.
      partitionResponse.pooledBuffer?.release();
      this.#delayRetry(request, new ProtocolError(partitionResponse.errorCode).message);
      return;
    }
    if (partitionResponse.errorCode === offsetOutOfRange) {
      const earliest = await this.#cluster.earliest(topic, request.partition);
      this.#requests.delete(key);
      request.reject(createGapError(topic, request.partition, request.offset, earliest));
      return;
    }
    if (partitionResponse.errorCode !== 0) {
      partitionResponse.pooledBuffer?.release();
      this.#delayRetry(request, new ProtocolError(partitionResponse.errorCode).message);
      return;
    }
    request.failures = 0;
    if (partitionResponse.preferredReplica >= 0) {
      partitionResponse.pooledBuffer?.release();
      this.#preferredReplicas.setPreferred(key, partitionResponse.preferredReplica);
      void this.#route();
      return;
    }
    const { records, next } = filterCommittedRecords(partitionResponse, request.offset);
    const release = (): void => partitionResponse.pooledBuffer?.release();
    if (next > request.offset) {
      this.#requests.delete(key);
      request.resolve({ records, next, release });
    } else release();
  }
}
