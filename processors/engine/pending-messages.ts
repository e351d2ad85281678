/**
 * Messages held by a thread, as the main thread sees them. Each is sent once, for all tasks that read its partition.
 */
import { type TransferMemoryPool, transferableBuffers } from '../../runtime/memory.ts';
import { packRecords } from '../../runtime/packed-records.ts';
import { type Budget, ReadingWindow, type WindowBatch, type WindowReader } from '../../runtime/reading-window.ts';
import { findFirstIndex } from '../../schemas/first-index.ts';
import { type Batch, type BusRecord, getDecompressedBytes } from '../../schemas/ports/bus.ts';
import type { MessageChunk, MessageRange } from './task-messages.ts';

interface HeldChunk extends WindowBatch {
  readonly sent: MessageChunk;
  /** Its own memory, transferred with the call. */
  readonly copies: readonly ArrayBufferLike[];
  /** Marks the messages as no longer read. */
  release(): void;
}

/** Content of a call, and the action after its reply. */
export interface MessageTransfer {
  readonly runs: readonly MessageRange[];
  readonly chunks: readonly MessageChunk[];
  readonly transferred: ArrayBuffer[];
  onSettled(): void;
}

/** Sends the numbers of chunks that the thread should release; resolves when it has done so. */
export type ReleaseChunks = (numbers: readonly number[]) => Promise<unknown>;

/** Held messages of one partition in one thread. */
export class HeldMessages {
  readonly #window: ReadingWindow<HeldChunk>;
  readonly #memory: TransferMemoryPool;
  static #lastNumber = 0;

  constructor(budget: Budget, memory: TransferMemoryPool, releaseChunks: ReleaseChunks) {
    this.#memory = memory;
    this.#window = new ReadingWindow<HeldChunk>(budget, (entries) => {
      const release = (): void => {
        for (const { release } of entries) release();
      };
      // A thread that has ended holds nothing.
      releaseChunks(entries.map(({ sent }) => sent.number)).then(release, release);
    });
  }

  /** Tasks of the partition. */
  get readers(): Set<WindowReader> {
    return this.#window.readers;
  }

  /**
   * Returns the ranges in which the thread holds these messages, whose offsets ascend, and the chunks it does not
   * hold yet. These are copied unless their memory can be retained.
   */
  send(records: readonly BusRecord[], retain?: Batch['retain']): MessageTransfer {
    const usedChunks: HeldChunk[] = [];
    const runs: MessageRange[] = [];
    const newChunks: HeldChunk[] = [];
    for (let index = 0; index < records.length; ) {
      const existing = this.#findHeld((records[index] as BusRecord).offset);
      const end = existing === undefined ? this.#findEndOfMissingRun(records, index) : index;
      const chunk = existing?.chunk ?? this.#addChunk(records.slice(index, end), retain);
      if (existing === undefined) newChunks.push(chunk);
      const { number, records: heldRecords } = chunk.sent;
      const firstIndex = existing?.index ?? 0;
      let endIndex = firstIndex;
      for (; index < records.length && heldRecords.offsets[endIndex] === records[index]?.offset; index++) endIndex++;
      this.#window.retain(chunk);
      usedChunks.push(chunk);
      runs.push({ chunk: number, from: firstIndex, to: endIndex });
    }
    return {
      runs,
      chunks: newChunks.map(({ sent }) => sent),
      transferred: transferableBuffers(newChunks.flatMap(({ copies }) => copies)),
      onSettled: () => {
        for (const chunk of usedChunks) this.#window.stopUsing(chunk);
        this.clean();
      },
    };
  }

  /** Releases chunks that no reader needs, and those beyond the memory limit. */
  clean(): void {
    this.#window.releaseUnneeded();
  }

  /** Discards everything after the thread died. */
  discardAll(): void {
    this.#window.releaseAll();
  }

  #findHeld(offset: number): { readonly chunk: HeldChunk; readonly index: number } | undefined {
    const chunk = this.#window.find(offset);
    if (chunk === undefined) return undefined;
    const { offsets } = chunk.sent.records;
    const index = findFirstIndex(offsets.length, (position) => (offsets[position] as number) >= offset);
    return offsets[index] === offset ? { chunk, index } : undefined;
  }

  /** Returns the index after the run of missing records that starts at this one. */
  #findEndOfMissingRun(records: readonly BusRecord[], from: number): number {
    let recordIndex = from + 1;
    while (recordIndex < records.length && this.#window.find((records[recordIndex] as BusRecord).offset) === undefined)
      recordIndex++;
    return recordIndex;
  }

  #addChunk(messages: readonly BusRecord[], retain: Batch['retain']): HeldChunk {
    const { records, copies, isInPlace } = packRecords(messages, this.#memory, retain !== undefined);
    const releaseRetained = isInPlace ? retain?.() : undefined;
    const release = (): void => {
      for (const buffer of copies) this.#memory.reuse(buffer);
      releaseRetained?.();
    };
    let bytes = 0;
    for (const message of messages) bytes += getDecompressedBytes(message);
    const first = records.offsets[0] ?? 0;
    const next = (records.offsets.at(-1) ?? 0) + 1;
    const chunk = { sent: { number: ++HeldMessages.#lastNumber, records }, copies, release, first, next, bytes };
    this.#window.add(chunk);
    return chunk;
  }
}
