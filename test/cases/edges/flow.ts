/** The two processors over partitions in memory, run as the engine runs them. */
import { callEnds } from '../../../processors/edges/call-ends.ts';
import { serviceEdges } from '../../../processors/edges/edges.ts';
import type { Processor } from '../../../processors/engine/definition.ts';
import { Task } from '../../../processors/engine/task.ts';
import type { ServiceEdge } from '../../../schemas/edges.ts';
import { computePartition } from '../../../schemas/partition.ts';
import type { BusRecord, Message } from '../../../schemas/ports/bus.ts';
import { topics } from '../../../schemas/topics.ts';
import { randomOf } from '../random.ts';
import type { TestMessage } from '../sink-tables.ts';
import { createEmptyMetrics, type EdgeMetricsByKey } from './join.ts';
import { type Arrival, batchMs } from './traces.ts';

/** A partition of a topic and its task. */
class Lane {
  #task: Task;
  #waiting: BusRecord[] = [];
  #offset = 0;
  readonly #processor: Processor;
  readonly #place: { readonly topic: string; readonly partition: number };
  readonly dropped: Record<string, number> = {};
  problems = 0;

  constructor(processor: Processor, topic: string, partition: number) {
    this.#processor = processor;
    this.#place = { topic, partition };
    this.#task = new Task(processor, this.#place);
  }

  get holding() {
    return this.#task.status;
  }

  put(message: Omit<BusRecord, 'offset'>): void {
    this.#waiting.push({ ...message, offset: this.#offset++ });
  }

  /** When the oldest message was received that waits for the next batch. */
  get oldestMs(): number {
    return this.#waiting[0]?.timestampMs ?? Number.POSITIVE_INFINITY;
  }

  run(): readonly Message[] {
    return this.#noted(this.#task.batch(this.#waiting.splice(0)));
  }

  tick(clockMs: number): readonly Message[] {
    const response = this.#task.tick(clockMs);
    this.#task.clearOutbox();
    return response === undefined ? [] : this.#noted(response);
  }

  /** Restarts the process from a snapshot. */
  restart(): void {
    this.#task = new Task(this.#processor, this.#place, this.#task.snapshot());
  }

  #noted({ messages, poison, failedTimers, counts }: ReturnType<Task['batch']>): readonly Message[] {
    this.problems += poison.length + failedTimers.length;
    for (const [reason, count] of Object.entries(counts.dropped))
      this.dropped[reason] = (this.dropped[reason] ?? 0) + count;
    return messages;
  }
}

export interface Flowed {
  readonly edges: readonly ServiceEdge[];
  /** The messages with the edges. */
  readonly landed: readonly TestMessage[];
  /** Bytes and values on the topic of ends. */
  readonly ends: { readonly bytes: number; readonly count: number };
  readonly dropped: Readonly<Record<string, number>>;
  readonly problems: number;
  readonly holding: number;
}

export interface FlowOptions {
  readonly seed: number;
  readonly partitions: number;
  /** The probability of a restart after each batch. */
  readonly restarts?: number;
}

/** Both processors, with the same number of partitions for each topic. */
class Flow {
  readonly edges: ServiceEdge[] = [];
  readonly landed: TestMessage[] = [];
  readonly ends = { bytes: 0, count: 0 };
  readonly #first: readonly Lane[];
  readonly #second: readonly Lane[];
  readonly #random: () => number;
  readonly #restarts: number;
  #nowMs = 0;

  constructor({ seed, partitions, restarts = 0 }: FlowOptions) {
    const numbers = Array.from({ length: partitions }, (_, index) => index);
    this.#first = numbers.map((index) => new Lane(callEnds, topics.traces.name, index));
    this.#second = numbers.map((index) => new Lane(serviceEdges, topics.callEnds.name, index));
    this.#random = randomOf(seed);
    this.#restarts = restarts;
  }

  get lanes(): readonly Lane[] {
    return [...this.#first, ...this.#second];
  }

  accept({ partition, timestampMs, headers, value }: Arrival): void {
    this.#nowMs = timestampMs;
    for (const lane of this.lanes) if (lane.oldestMs < timestampMs - batchMs || this.#random() < 0.2) this.#run(lane);
    if (this.#random() < 0.02) this.#tick();
    this.#first[partition]?.put({ timestampMs, key: 'acme', headers, value });
  }

  pass(ms: number): void {
    for (const lane of this.lanes) this.#run(lane);
    this.#nowMs += ms;
    this.#tick();
  }

  #run(lane: Lane): void {
    if (lane.oldestMs === Number.POSITIVE_INFINITY) return;
    this.#publish(lane.run());
    if (this.#random() < this.#restarts) lane.restart();
  }

  #tick(): void {
    for (const lane of this.lanes)
      if (lane.oldestMs === Number.POSITIVE_INFINITY) this.#publish(lane.tick(this.#nowMs));
  }

  #publish(messages: readonly Message[]): void {
    for (const { topic, key, value, headers = {} } of messages) {
      const bytes = Buffer.from(value);
      const values = JSON.parse(bytes.toString('utf8')) as unknown[];
      if (topic === topics.serviceEdges.name) {
        this.edges.push(...(values as ServiceEdge[]));
        this.landed.push({ offset: this.landed.length, timestampMs: this.#nowMs, headers, value: bytes });
      } else {
        this.ends.bytes += bytes.length;
        this.ends.count += values.length;
        const lane = this.#second[computePartition(key, this.#second.length)];
        lane?.put({ timestampMs: this.#nowMs, key, headers, value: bytes });
      }
    }
  }
}

/** Sends messages through both processors in random batches, and then advances the clock by ten minutes. */
export const flow = (arrivals: readonly Arrival[], options: FlowOptions): Flowed => {
  const running = new Flow(options);
  for (const arrival of arrivals) running.accept(arrival);
  for (let minute = 0; minute < 10; minute++) running.pass(60_000);
  const { lanes, edges, landed, ends } = running;
  const dropped: Record<string, number> = {};
  for (const lane of lanes)
    for (const [reason, count] of Object.entries(lane.dropped)) dropped[reason] = (dropped[reason] ?? 0) + count;
  return {
    edges,
    landed,
    ends,
    dropped,
    problems: lanes.reduce((sum, lane) => sum + lane.problems, 0),
    holding: lanes.reduce((sum, lane) => sum + lane.holding.entries, 0),
  };
};

/** The stored rows, summed by edge and minute. */
export const sumsOf = (edges: readonly ServiceEdge[]): EdgeMetricsByKey => {
  const sums: EdgeMetricsByKey = {};
  for (const edge of edges) {
    const { connection, client, clientKind, clientEnvironment, server, serverKind, serverEnvironment } = edge;
    const key = JSON.stringify({
      minute: new Date(edge.minute).toISOString().slice(0, 16),
      connection,
      client,
      clientKind,
      clientEnvironment,
      server,
      serverKind,
      serverEnvironment,
      system: edge.system,
      address: edge.address,
      via: edge.via,
      project: edge.projectId,
      serverProject: edge.serverProjectId,
    });
    sums[key] ??= createEmptyMetrics();
    const sum = sums[key];
    for (const name of ['requests', 'errors', 'timed', 'durationSum', 'serverDurationSum'] as const)
      sum[name] += edge[name];
    sum.durationMax = Math.max(sum.durationMax, edge.durationMax);
    for (const count of Object.values(edge.unpaired)) sum.unpaired += count;
    for (const [bucket, count] of Object.entries(edge.durationBuckets))
      sum.buckets[bucket] = (sum.buckets[bucket] ?? 0) + count;
  }
  return sums;
};
