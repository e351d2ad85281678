/**
 * Messages held by a thread, as the main thread sees them. Each is sent once, for all tasks that read its partition.
 */
import { type Memory, transferableBuffers } from '../../runtime/memory.ts';
import { packedRecords } from '../../runtime/packed-records.ts';
import { type Budget, ReadingWindow, type WindowPiece, type WindowReader } from '../../runtime/reading-window.ts';
import { firstIndex } from '../../schemas/first-index.ts';
import { type Batch, type BusRecord, bytesIn } from '../../schemas/ports/bus.ts';
import type { Piece, Run } from './task-messages.ts';

interface Held extends WindowPiece {
  readonly sent: Piece;
  /** Its own memory, transferred with the call. */
  readonly copies: readonly ArrayBufferLike[];
  /** Marks the messages as no longer read. */
  release(): void;
}

/** Content of a call, and the action after its reply. */
export interface Sent {
  readonly runs: readonly Run[];
  readonly pieces: readonly Piece[];
  readonly moved: ArrayBuffer[];
  settled(): void;
}

/** Sends numbers of pieces that the thread should forget; resolves when it has done so. */
export type Forget = (numbers: readonly number[]) => Promise<unknown>;

/** Held messages of one partition in one thread. */
export class HeldMessages {
  readonly #window: ReadingWindow<Held>;
  readonly #memory: Memory;
  static #lastNumber = 0;

  constructor(budget: Budget, memory: Memory, forget: Forget) {
    this.#memory = memory;
    this.#window = new ReadingWindow<Held>(budget, (entries) => {
      const give = (): void => {
        for (const { release } of entries) release();
      };
      // A dead thread holds nothing.
      forget(entries.map(({ sent }) => sent.number)).then(give, give);
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
  send(records: readonly BusRecord[], retain?: Batch['retain']): Sent {
    const used: Held[] = [];
    const runs: Run[] = [];
    const brought: Held[] = [];
    for (let at = 0; at < records.length; ) {
      const known = this.#find((records[at] as BusRecord).offset);
      const end = known === undefined ? this.#missingUntil(records, at) : at;
      const held = known?.held ?? this.#hold(records.slice(at, end), retain);
      if (known === undefined) brought.push(held);
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
      pieces: brought.map(({ sent }) => sent),
      moved: transferableBuffers(brought.flatMap(({ copies }) => copies)),
      settled: () => {
        for (const held of used) this.#window.leave(held);
        this.clean();
      },
    };
  }

  /** Forgets pieces that no reader needs, and those beyond the memory limit. */
  clean(): void {
    this.#window.clean();
  }

  /** Discards everything after the thread died. */
  lost(): void {
    this.#window.giveBackAll();
  }

  #find(offset: number): { readonly held: Held; readonly index: number } | undefined {
    const held = this.#window.find(offset);
    if (held === undefined) return undefined;
    const { offsets } = held.sent.records;
    const index = firstIndex(offsets.length, (at) => (offsets[at] as number) >= offset);
    return offsets[index] === offset ? { held, index } : undefined;
  }

  /** Returns the index after the run of missing records that starts at this one. */
  #missingUntil(records: readonly BusRecord[], from: number): number {
    let at = from + 1;
    while (at < records.length && this.#window.find((records[at] as BusRecord).offset) === undefined) at++;
    return at;
  }

  #hold(messages: readonly BusRecord[], retain: Batch['retain']): Held {
    const { records, copies, isInPlace } = packedRecords(messages, this.#memory, retain !== undefined);
    const letGo = isInPlace ? retain?.() : undefined;
    const release = (): void => {
      for (const piece of copies) this.#memory.give(piece);
      letGo?.();
    };
    let bytes = 0;
    for (const message of messages) bytes += bytesIn(message);
    const first = records.offsets[0] ?? 0;
    const next = (records.offsets.at(-1) ?? 0) + 1;
    const held = { sent: { number: ++HeldMessages.#lastNumber, records }, copies, release, first, next, bytes };
    this.#window.add(held);
    return held;
  }
}
