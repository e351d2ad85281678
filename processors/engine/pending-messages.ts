/**
 * Messages held by a thread, as the main thread sees them. Each is sent once, for all tasks that read its partition.
 */
import { type TransferMemoryPool, transferableBuffers } from '../../runtime/memory.ts';
import { packRecords } from '../../runtime/packed-records.ts';
import { type Budget, ReadingWindow, type WindowBatch, type WindowReader } from '../../runtime/reading-window.ts';
import { findFirstIndex } from '../../schemas/first-index.ts';
import { type Batch, type BusRecord, getDecompressedBytes } from '../../schemas/ports/bus.ts';
import type { MessageChunk, MessageRange } from './task-messages.ts';

interface HeldPiece extends WindowBatch {
  readonly sent: MessageChunk;
  /** Its own memory, transferred with the call. */
  readonly copies: readonly ArrayBufferLike[];
  /** Marks the messages as no longer read. */
  release(): void;
}

/** Content of a call, and the action after its reply. */
export interface MessageTransfer {
  readonly runs: readonly MessageRange[];
  readonly pieces: readonly MessageChunk[];
  readonly transferred: ArrayBuffer[];
  onSettled(): void;
}

/** Sends numbers of pieces that the thread should forget; resolves when it has done so. */
export type Forget = (numbers: readonly number[]) => Promise<unknown>;

/** Held messages of one partition in one thread. */
export class HeldMessages {
  readonly #window: ReadingWindow<HeldPiece>;
  readonly #memory: TransferMemoryPool;
  static #lastNumber = 0;

  constructor(budget: Budget, memory: TransferMemoryPool, forget: Forget) {
    this.#memory = memory;
    this.#window = new ReadingWindow<HeldPiece>(budget, (entries) => {
      const release = (): void => {
        for (const { release } of entries) release();
      };
      // A dead thread holds nothing.
      forget(entries.map(({ sent }) => sent.number)).then(release, release);
    });
  }

  /** Tasks of the partition. */
  get readers(): Set<WindowReader> {
    return this.#window.readers;
  }

  /**
   * Returns where the thread has these messages, which ascend, with those it lacks. They are copied unless their memory
   * can be retained.
   */
  send(records: readonly BusRecord[], retain?: Batch['retain']): MessageTransfer {
    const used: HeldPiece[] = [];
    const runs: MessageRange[] = [];
    const newPieces: HeldPiece[] = [];
    for (let at = 0; at < records.length; ) {
      const known = this.#find((records[at] as BusRecord).offset);
      const end = known === undefined ? this.#endOfMissingRun(records, at) : at;
      const held = known?.held ?? this.#hold(records.slice(at, end), retain);
      if (known === undefined) newPieces.push(held);
      const { number, records: packed } = held.sent;
      const from = known?.index ?? 0;
      let to = from;
      for (; at < records.length && packed.offsets[to] === records[at]?.offset; at++) to++;
      this.#window.use(held);
      used.push(held);
      runs.push({ piece: number, from, to });
    }
    return {
      runs,
      pieces: newPieces.map(({ sent }) => sent),
      transferred: transferableBuffers(newPieces.flatMap(({ copies }) => copies)),
      onSettled: () => {
        for (const held of used) this.#window.leave(held);
        this.clean();
      },
    };
  }

  /** Forgets pieces that no reader needs, and those beyond the memory limit. */
  clean(): void {
    this.#window.releaseUnneeded();
  }

  /** Discards everything after the thread died. */
  discardAll(): void {
    this.#window.releaseAll();
  }

  #find(offset: number): { readonly held: HeldPiece; readonly index: number } | undefined {
    const held = this.#window.find(offset);
    if (held === undefined) return undefined;
    const { offsets } = held.sent.records;
    const index = findFirstIndex(offsets.length, (at) => (offsets[at] as number) >= offset);
    return offsets[index] === offset ? { held, index } : undefined;
  }

  /** Returns the index after the run of missing records that starts at this one. */
  #endOfMissingRun(records: readonly BusRecord[], from: number): number {
    let at = from + 1;
    while (at < records.length && this.#window.find((records[at] as BusRecord).offset) === undefined) at++;
    return at;
  }

  #hold(messages: readonly BusRecord[], retain: Batch['retain']): HeldPiece {
    const { records, copies, isInPlace } = packRecords(messages, this.#memory, retain !== undefined);
    const releaseRetained = isInPlace ? retain?.() : undefined;
    const release = (): void => {
      for (const piece of copies) this.#memory.reuse(piece);
      releaseRetained?.();
    };
    let bytes = 0;
    for (const message of messages) bytes += getDecompressedBytes(message);
    const first = records.offsets[0] ?? 0;
    const next = (records.offsets.at(-1) ?? 0) + 1;
    const held = { sent: { number: ++HeldMessages.#lastNumber, records }, copies, release, first, next, bytes };
    this.#window.add(held);
    return held;
  }
}
