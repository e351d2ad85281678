/** Reads pieces of partitions: one request a broker at a time, for all partitions of it that want more. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { fetchV15, ResponseError } from '@platformatic/kafka';
import type { Log } from '../../../schemas/log.ts';
import { type Cluster, reasonOf } from './cluster.ts';
import { committedRecords, type Place } from './committed.ts';
import { type FetchAnswer, fetchAnswer, type PartitionAnswer } from './fetch-answer.ts';
import { Slabs, slabBytes } from './slabs.ts';
import { FatalBusError } from './wire.ts';

/** What one fetch brought of a partition. */
export interface Piece {
  readonly places: readonly Place[];
  /** Where to go on; beyond the last record when control records follow it. */
  readonly next: number;
  /** Takes the memory of all its records back. Whoever keeps them does not call it. */
  release(): void;
}

interface Want {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  resolve(piece: Piece | undefined): void;
  reject(error: Error): void;
}

const offsetOutOfRange = 1;
const readCommitted = 1;
const requestBytes = 32 * 1024 * 1024;
/** How long a broker waits for the first byte; also how long a partition may wait to join the next request. */
const waitMs = 100;
const retryMs = 300;

/** What the broker says is wrong, as the driver words it. */
const errorIn = (answer: FetchAnswer): ResponseError | undefined => {
  const codes = [answer, ...answer.responses.flatMap(({ partitions }) => partitions)].map(({ errorCode }) => errorCode);
  const errors = Object.fromEntries(
    codes.flatMap((code, index) => (code === 0 ? [] : [[String(index), [code, null] as [number, null]]])),
  );
  const { key, version } = fetchV15.api;
  return Object.keys(errors).length === 0 ? undefined : new ResponseError(key, version, errors, answer);
};

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
  readonly #wants = new Map<string, Want>();
  /** Brokers whose loop runs. */
  readonly #busy = new Set<number>();
  readonly #ending = new AbortController();
  readonly #slabs = new Slabs();
  #routing = false;
  #routeAgain = false;
  #failures = 0;

  constructor(cluster: Cluster, log: Log) {
    this.#cluster = cluster;
    this.#log = log;
  }

  /**
   * The next piece of a partition, once there is one; `undefined` when the fetcher closes. Rejects when the offset is
   * not there. One call a partition at a time.
   */
  fetch(topic: string, partition: number, offset: number): Promise<Piece | undefined> {
    if (this.#ending.signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#wants.set(keyOf(topic, partition), { topic, partition, offset, resolve, reject });
      void this.#route();
    });
  }

  /** Ends all waiting. Its cluster stays open. */
  close(): void {
    this.#ending.abort();
    for (const { resolve } of this.#wants.values()) resolve(undefined);
    this.#wants.clear();
  }

  /** Starts a loop for every broker that has something to do. */
  async #route(forceUpdate = false): Promise<void> {
    this.#routeAgain = true;
    if (this.#routing) return;
    this.#routing = true;
    let failure: unknown;
    try {
      // What is wanted while this waits for metadata has to be routed as well.
      while (this.#routeAgain && !this.#ending.signal.aborted) {
        this.#routeAgain = false;
        for (const node of (await this.#wantsByLeader(forceUpdate)).keys())
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

  async #wantsByLeader(forceUpdate = false): Promise<Map<number, Want[]>> {
    const byLeader = new Map<number, Want[]>();
    // After an await others may want something too; they are met by the loop that runs for their broker, or by its end.
    for (;;) {
      const topics = [...new Set([...this.#wants.values()].map(({ topic }) => topic))];
      if (topics.length === 0) return byLeader;
      const metadata = await this.#cluster.metadata(topics, forceUpdate);
      const wants = [...this.#wants.values()];
      if (wants.some(({ topic }) => !metadata.topics.has(topic))) continue;
      for (const want of wants) {
        const leader = metadata.topics.get(want.topic)?.partitions[want.partition]?.leader ?? -1;
        if (leader < 0) throw new Error(`partition ${want.partition} of topic ${want.topic} has no leader`);
        byLeader.set(leader, [...(byLeader.get(leader) ?? []), want]);
      }
      return byLeader;
    }
  }

  /** Asks one broker until none of its partitions wants anything. */
  async #serve(node: number): Promise<void> {
    let failure: unknown;
    try {
      for (;;) {
        const wants = (await this.#wantsByLeader()).get(node);
        if (wants === undefined || this.#ending.signal.aborted) break;
        await this.#request(node, wants);
        this.#failures = 0;
        // Partitions that just got a piece want the next one in a moment: a request without them would wait for the
        // idle ones first.
        await nextTurn();
      }
    } catch (error) {
      failure = error;
    }
    this.#busy.delete(node);
    if (failure !== undefined) await this.#recover(failure);
    // What came while this loop was ending found no loop.
    else if (this.#wants.size > 0) await this.#route();
  }

  /** Waits, and looks anew at who leads what. A missing topic ends everything that waits. */
  async #recover(error: unknown): Promise<void> {
    if (this.#ending.signal.aborted) return;
    if (error instanceof FatalBusError) {
      for (const { reject } of this.#wants.values()) reject(error);
      this.#wants.clear();
      return;
    }
    this.#failures++;
    // Leaders move in ordinary life; what lasts is worth a line.
    if (this.#failures === 3) this.#log.warn({ reason: reasonOf(error) }, 'cannot fetch from Kafka; trying again');
    await sleep(retryMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
    await this.#route(true);
  }

  async #request(node: number, wants: readonly Want[]): Promise<void> {
    const metadata = await this.#cluster.metadata([...new Set(wants.map(({ topic }) => topic))]);
    const partitions = new Map<string, Parameters<typeof fetchV15.createRequest>[6][number]['partitions']>();
    const names = new Map<string, string>();
    for (const { topic, partition, offset } of wants) {
      const id = metadata.topics.get(topic)?.id ?? '';
      names.set(id, topic);
      const list = partitions.get(id) ?? [];
      partitions.set(id, list);
      list.push({
        partition,
        currentLeaderEpoch: -1,
        fetchOffset: BigInt(offset),
        lastFetchedEpoch: -1,
        partitionMaxBytes: slabBytes,
      });
    }
    const topics = [...partitions].map(([topicId, list]) => ({ topicId, partitions: list }));
    const connection = await this.#cluster.directConnection(metadata, node);
    const answer = await connection.ask({
      ...{ key: fetchV15.api.key, version: fetchV15.api.version, tagged: true },
      payload: fetchV15.createRequest(waitMs, 1, requestBytes, readCommitted, 0, -1, topics, [], ''),
      parser: () => fetchAnswer(this.#slabs),
    });
    // Errors of single partitions come with the others' records.
    const settled = await this.#settle(answer, names);
    const failure = errorIn(answer);
    if (failure !== undefined && settled === 0) throw failure;
  }

  /** Hands out what came; says how many partitions got an answer. */
  async #settle({ responses }: FetchAnswer, names: ReadonlyMap<string, string>): Promise<number> {
    let settled = 0;
    for (const { topicId, partitions } of responses) {
      const topic = names.get(topicId);
      if (topic === undefined) continue;
      for (const answer of partitions) if (await this.#settlePartition(topic, answer)) settled++;
    }
    return settled;
  }

  async #settlePartition(topic: string, answer: PartitionAnswer): Promise<boolean> {
    const key = keyOf(topic, answer.partitionIndex);
    const want = this.#wants.get(key);
    if (want === undefined) return true;
    if (answer.errorCode === offsetOutOfRange) {
      const earliest = await this.#cluster.earliest(topic, want.partition);
      this.#wants.delete(key);
      want.reject(gapError(topic, want.partition, want.offset, earliest));
      return true;
    }
    if (answer.errorCode !== 0) return false;
    const { places, next } = committedRecords(answer, want.offset);
    const release = (): void => answer.slab?.release();
    if (next > want.offset) {
      this.#wants.delete(key);
      want.resolve({ places, next, release });
    } else release();
    return true;
  }
}
