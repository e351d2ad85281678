import { availableParallelism } from 'node:os';
import { TransferMemoryPool, transferableBuffers } from '../../runtime/memory.ts';
import { packRecords } from '../../runtime/packed-records.ts';
import { type PoolThread, WorkerPool } from '../../runtime/worker-pool.ts';
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { EncodedBlock } from '../native/rows.ts';
import type { RejectedMessage, ScanReply, ScanRequest, ScanSettled } from './scan-messages.ts';

/**
 * Blocks of a batch. `settle` reports whether they were stored, and returns their memory; they must not be read afterwards.
 */
export interface ScanResult {
  readonly blocks: readonly EncodedBlock[];
  readonly rejected: readonly RejectedMessage[];
  settle(hasLanded: boolean): void;
}

/** One core scans half a million records per second. More threads would only wait. */
const maxThreads = 4;

/**
 * Objects of a thread other than columns live no longer than their message, so the process's default young generation
 * would be wasted.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 12 } as const;

/**
 * Pool of scan threads. A partition always goes to the same thread, which caches the partition's resources and series.
 * If a thread dies, its batches fail and are redelivered, and the thread is replaced.
 */
export class ScanPool {
  readonly #pool: WorkerPool<ScanReply>;
  readonly #memory = new TransferMemoryPool();

  /** `definitions` is the module whose `sinks` the threads load. */
  constructor(definitions: URL, size = Math.max(1, Math.min(maxThreads, availableParallelism() - 1))) {
    const module = new URL('./scan-worker.ts', import.meta.url);
    const workerData = () => definitions.href;
    this.#pool = new WorkerPool({ name: 'scan', owner: 'the sinks', module, size, workerData, resourceLimits });
  }

  /** `partition` is the stored number. The thread is chosen by it and `topic`. */
  async scan(sink: string, topic: string, partition: number, batch: readonly BusRecord[]): Promise<ScanResult> {
    const thread = this.#pool.getThread(topic, partition);
    const { records, copies } = packRecords(batch, this.#memory, true);
    const request = (id: number): ScanRequest => ({ kind: 'scan', id, sink, partition, records });
    const reply = await thread.request(request, transferableBuffers(copies)).finally(() => {
      for (const buffer of copies) this.#memory.reuse(buffer);
    });
    if (reply.failure !== undefined) throw new Error(`the scanner of sink ${sink} failed: ${reply.failure}`);
    return {
      blocks: reply.blocks,
      rejected: reply.rejected,
      settle: (landed) => reportOutcome(thread, sink, reply, landed),
    };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

const reportOutcome = (
  thread: PoolThread<ScanReply>,
  sink: string,
  { id, blocks }: ScanReply,
  hasLanded: boolean,
): void => {
  const memory = blocks.map(({ bytes }) => bytes.buffer);
  const message: ScanSettled = { kind: 'settled', id, sink, hasLanded, memory };
  thread.post(message, transferableBuffers(memory));
};
