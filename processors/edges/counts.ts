/** Counts of calls by edge and minute until they are emitted. */
import type { Connection, NodeKind, ServiceEdge, UnpairedReason } from '../../schemas/edges.ts';
import { getDurationBucket } from '../../schemas/tables/durations.ts';

/** Identity of an edge. */
export interface Edge {
  readonly projectId: string;
  readonly serverProjectId: string;
  readonly connection: Connection;
  readonly client: string;
  readonly clientKind: NodeKind;
  readonly clientEnvironment: string;
  readonly server: string;
  readonly serverKind: NodeKind;
  readonly serverEnvironment: string;
  readonly system: string;
  readonly address: string;
  readonly via: string;
}

/** One call. */
export interface Call {
  readonly startMs: number;
  readonly failed: boolean;
  /** Duration as the client measured it; for a message, its time in the queue. Absent if unknown. */
  readonly durationNs?: number;
  readonly serverDurationNs?: number;
  readonly unpaired?: UnpairedReason;
}

interface Counts {
  requests: number;
  errors: number;
  timed: number;
  durationSum: number;
  durationMax: number;
  serverDurationSum: number;
  readonly buckets: Map<number, number>;
  readonly unpaired: Map<UnpairedReason, number>;
}

type Saved = [key: string, numbers: number[], buckets: [number, number][], unpaired: [UnpairedReason, number][]];

const minuteMs = 60_000;
/** Last minute that the table can store, because clocks of senders may have any value. */
const lastMinute = Math.floor(0xffffffff / 60) * minuteMs;
/** Beyond this number counts are emitted early, so that memory is bounded however senders name their hosts. */
const maxEdges = 5_000;

/** The key contains the whole edge, so no other copy is stored. */
const edgeKey = (edge: Edge, minute: number): string =>
  JSON.stringify([
    minute,
    edge.projectId,
    edge.serverProjectId,
    edge.connection,
    edge.client,
    edge.clientKind,
    edge.clientEnvironment,
    edge.server,
    edge.serverKind,
    edge.serverEnvironment,
    edge.system,
    edge.address,
    edge.via,
  ]);

type Key = [
  number,
  string,
  string,
  Connection,
  string,
  NodeKind,
  string,
  string,
  NodeKind,
  string,
  string,
  string,
  string,
];

const parseKey = (key: string): Edge & { readonly minute: number } => {
  const [minute, projectId, serverProjectId, connection, client, clientKind, clientEnvironment, ...rest]: Key =
    JSON.parse(key);
  const [server, serverKind, serverEnvironment, system, address, via] = rest;
  return {
    minute,
    projectId,
    serverProjectId,
    connection,
    client,
    clientKind,
    clientEnvironment,
    server,
    serverKind,
    serverEnvironment,
    system,
    address,
    via,
  };
};

const emptyCounts = (): Counts => ({
  requests: 0,
  errors: 0,
  timed: 0,
  durationSum: 0,
  durationMax: 0,
  serverDurationSum: 0,
  buckets: new Map(),
  unpaired: new Map(),
});

const increment = <Key>(counts: Map<Key, number>, key: Key): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
/** Nanoseconds stay exact up to 104 days per minute and edge; the sum is capped there. */
const saturatingSum = (left: number, right: number): number => Math.min(left + right, Number.MAX_SAFE_INTEGER);

/** Counts of one tenant. Equal calls in equal order give equal values in equal order, also across `save`. */
export class EdgeCounts {
  readonly #counts = new Map<string, Counts>();
  #bytes = 0;

  constructor(saved: readonly Saved[] = []) {
    for (const [key, numbers, buckets, unpaired] of saved) {
      const [requests = 0, errors = 0, timed = 0, durationSum = 0, durationMax = 0, serverDurationSum = 0] = numbers;
      const maps = { buckets: new Map(buckets), unpaired: new Map(unpaired) };
      this.#counts.set(key, { requests, errors, timed, durationSum, durationMax, serverDurationSum, ...maps });
      this.#bytes += estimateBytes(key);
    }
  }

  save(): Saved[] {
    return Array.from(this.#counts, ([key, counts]) => {
      const { requests, errors, timed, durationSum, durationMax, serverDurationSum, buckets, unpaired } = counts;
      return [key, [requests, errors, timed, durationSum, durationMax, serverDurationSum], [...buckets], [...unpaired]];
    });
  }

  get entries(): number {
    return this.#counts.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#counts.size >= maxEdges;
  }

  add(edge: Edge, { startMs, failed, durationNs, serverDurationNs = 0, unpaired }: Call): void {
    const counts = this.#getOrCreateCounts(
      edgeKey(edge, Math.min(Math.floor(startMs / minuteMs) * minuteMs, lastMinute)),
    );
    counts.requests++;
    if (failed) counts.errors++;
    counts.serverDurationSum = saturatingSum(counts.serverDurationSum, serverDurationNs);
    if (unpaired !== undefined) increment(counts.unpaired, unpaired);
    if (durationNs === undefined) return;
    counts.timed++;
    counts.durationSum = saturatingSum(counts.durationSum, durationNs);
    counts.durationMax = Math.max(counts.durationMax, durationNs);
    increment(counts.buckets, getDurationBucket(durationNs));
  }

  /** Returns all counts and removes them. */
  drain(tenantId: string): ServiceEdge[] {
    const values = Array.from(this.#counts, ([key, { buckets, unpaired, ...numbers }]) => ({
      tenantId,
      ...parseKey(key),
      ...numbers,
      durationBuckets: Object.fromEntries(buckets),
      unpaired: Object.fromEntries(unpaired),
    }));
    this.#counts.clear();
    this.#bytes = 0;
    return values;
  }

  #getOrCreateCounts(key: string): Counts {
    const existing = this.#counts.get(key);
    if (existing !== undefined) return existing;
    const counts = emptyCounts();
    this.#counts.set(key, counts);
    this.#bytes += estimateBytes(key);
    return counts;
  }
}

/** Assumes about 20 buckets per edge and minute. */
const estimateBytes = (key: string): number => key.length + 900;
