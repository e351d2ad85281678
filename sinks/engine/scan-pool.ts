import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import { copyRun } from '../native/bytes.ts';
import type { EncodedBlock } from '../native/rows.ts';
import { Memory, movable } from './memory.ts';
import type { Rejected, ScanReply, ScanRequest, ScanSettled } from './scan-messages.ts';

/** Blocks of a batch. `settle` says what became of them, and takes their memory back: they are not to be read afterwards. */
export interface Scanned {
  readonly blocks: readonly EncodedBlock[];
  readonly rejected: readonly Rejected[];
  settle(landed: boolean): void;
}

interface Waiting {
  readonly resolve: (reply: ScanReply) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

/** Scanning keeps a core busy at half a million records a second; more threads than that only wait. */
const mostThreads = 4;

/** What a thread makes besides columns is gone with its message: the process' own nursery would only lie there. */
const resourceLimits = { maxYoungGenerationSizeMb: 12 } as const;

/**
 * Threads that scan. A partition always goes to the same one, which has the partition's resources and series in memory. A
 * thread that dies fails the batches it held, which are delivered again, and is replaced.
 */
export class ScanPool {
  readonly #threads: (Thread | undefined)[];
  readonly #definitions: string;
  readonly #memory = new Memory();
  #lastId = 0;
  #closed = false;

  /** `definitions` is the module whose `sinks` the threads load. */
  constructor(
    size = Math.max(1, Math.min(mostThreads, availableParallelism() - 1)),
    definitions = new URL('../index.ts', import.meta.url),
  ) {
    this.#definitions = definitions.href;
    this.#threads = Array.from({ length: size }, () => undefined);
  }

  /** `partition` as stored; `topic` and it choose the thread. */
  async scan(sink: string, topic: string, partition: number, records: readonly BusRecord[]): Promise<Scanned> {
    const thread = this.#threadOf(topic, partition);
    const id = ++this.#lastId;
    let bytes = 0;
    for (const { value } of records) bytes += value.length;
    const values = this.#memory.take(bytes);
    const whole = new Uint8Array(values);
    let at = 0;
    for (const { value } of records) {
      copyRun(value, 0, value.length, whole, at);
      at += value.length;
    }
    const request: ScanRequest = {
      kind: 'scan',
      id,
      sink,
      partition,
      offsets: records.map(({ offset }) => offset),
      timestamps: records.map(({ timestampMs }) => timestampMs),
      lengths: records.map(({ value }) => value.length),
      headers: records.map(({ headers }) => headers),
      values,
    };
    const reply = await new Promise<ScanReply>((resolve, reject) => {
      thread.waiting.set(id, { resolve, reject });
      thread.worker.postMessage(request, movable([values]));
    }).finally(() => this.#memory.give(values));
    if (reply.failure !== undefined) throw new Error(`the scanner of sink ${sink} failed: ${reply.failure}`);
    return { blocks: reply.blocks, rejected: reply.rejected, settle: (landed) => settle(thread, sink, reply, landed) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map((thread) => thread?.worker.terminate()));
  }

  #threadOf(topic: string, partition: number): Thread {
    if (this.#closed) throw new Error('the sinks are stopping');
    let hash = partition;
    for (let index = 0; index < topic.length; index++) hash = Math.imul(hash, 31) + topic.charCodeAt(index);
    const slot = (hash >>> 0) % this.#threads.length;
    const thread = this.#threads[slot] ?? this.#start(slot);
    this.#threads[slot] = thread;
    return thread;
  }

  #start(slot: number): Thread {
    const worker = new Worker(new URL('./scan-worker.ts', import.meta.url), {
      name: `scan-${slot}`,
      workerData: this.#definitions,
      resourceLimits,
    });
    const thread: Thread = { worker, waiting: new Map() };
    const fail = (error: Error): void => {
      if (this.#threads[slot] === thread) this.#threads[slot] = undefined;
      for (const { reject } of thread.waiting.values()) reject(error);
      thread.waiting.clear();
    };
    worker.on('message', (reply: ScanReply) => {
      thread.waiting.get(reply.id)?.resolve(reply);
      thread.waiting.delete(reply.id);
    });
    worker.on('error', (cause) => fail(new Error('a scan thread died', { cause })));
    worker.on('exit', (code) => fail(new Error(`a scan thread exited with code ${code}`)));
    return thread;
  }
}

const settle = ({ worker }: Thread, sink: string, { id, blocks }: ScanReply, landed: boolean): void => {
  const memory = blocks.map(({ bytes }) => bytes.buffer);
  const message: ScanSettled = { kind: 'settled', id, sink, landed, memory };
  worker.postMessage(message, movable(memory));
};
