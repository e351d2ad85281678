/** Messages that a thread holds, as the main thread sees them: each goes there once, for all tasks that read its partition. */
import { type Memory, movable } from '../../runtime/memory.ts';
import { type PackedRecords, packedRecords } from '../../runtime/packed-records.ts';
import { type BusRecord, bytesIn } from '../../schemas/ports/bus.ts';
import type { Piece, Run } from './task-messages.ts';

/** A task of a partition: messages before `nextOffset` are of no use to it any longer. */
export interface Reader {
  readonly nextOffset: number;
}

interface Held {
  readonly piece: Piece;
  readonly offsets: readonly number[];
  readonly last: number;
  readonly bytes: number;
  /** Calls under way that name it. */
  users: number;
}

/** What a call is to say, and what is to be done once it was answered. */
export interface Sent {
  readonly runs: readonly Run[];
  readonly pieces: readonly Piece[];
  readonly moved: ArrayBuffer[];
  settled(): void;
}

/** Sends numbers of pieces that the thread is to forget; resolves when it has. */
export type Forget = (numbers: readonly number[]) => Promise<unknown>;

/** Bytes of messages that all threads hold, decompressed (`bytesIn`), for readers that have not come so far. */
export class Budget {
  held = 0;
  readonly most: number;

  constructor(most: number) {
    this.most = most;
  }
}

/** The least index of which the offset is not below. */
const indexOf = (offsets: readonly number[], offset: number): number => {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * Of one partition in one thread. What no reader needs is forgotten. Where the budget is used up, the oldest make way: a reader that
 * has not come so far leaves the common reading, brings its messages for itself, and joins again where it has caught up.
 */
export class HeldMessages {
  readonly readers = new Set<Reader>();
  readonly #budget: Budget;
  readonly #memory: Memory;
  readonly #forget: Forget;
  /** By offset; pieces have no message in common. */
  #held: Held[] = [];
  /** Nothing before it is held for others than the one that brought it. */
  #floor = 0;
  static #lastNumber = 0;

  constructor(budget: Budget, memory: Memory, forget: Forget) {
    this.#budget = budget;
    this.#memory = memory;
    this.#forget = forget;
  }

  /** Says where the thread has these messages, which ascend, and brings those that it lacks. */
  send(records: readonly BusRecord[]): Sent {
    const used: Held[] = [];
    const runs: Run[] = [];
    const pieces: Piece[] = [];
    for (let at = 0; at < records.length; ) {
      const known = this.#find((records[at] as BusRecord).offset);
      const end = known === undefined ? this.#lacking(records, at) : at;
      const held = known?.held ?? this.#hold(records.slice(at, end));
      if (known === undefined) pieces.push(held.piece);
      const from = known?.index ?? 0;
      let to = from;
      for (; at < records.length && held.offsets[to] === records[at]?.offset; at++) to++;
      held.users++;
      used.push(held);
      runs.push({ piece: held.piece.number, from, to });
    }
    return {
      runs,
      pieces,
      moved: movable(pieces.map((piece) => piece.records.values)),
      settled: () => {
        for (const held of used) held.users--;
        this.clean();
      },
    };
  }

  /** Forgets what no reader needs, and what the budget has no room for. */
  clean(): void {
    let needed = Number.POSITIVE_INFINITY;
    for (const { nextOffset } of this.readers) if (nextOffset >= this.#floor) needed = Math.min(needed, nextOffset);
    const gone: Held[] = [];
    const rest: Held[] = [];
    for (const held of this.#held) {
      const makesWay = held.users === 0 && (held.last < needed || this.#budget.held > this.#budget.most);
      if (!makesWay) {
        rest.push(held);
        continue;
      }
      gone.push(held);
      this.#floor = Math.max(this.#floor, held.last + 1);
      this.#budget.held -= held.bytes;
    }
    if (gone.length === 0) return;
    this.#held = rest;
    const give = (): void => {
      for (const { piece } of gone) this.#memory.give(piece.records.values);
    };
    // A thread that died has nothing any longer.
    this.#forget(gone.map(({ piece }) => piece.number)).then(give, give);
  }

  /** The thread is gone, and all that it held. */
  lost(): void {
    for (const { bytes } of this.#held) this.#budget.held -= bytes;
    this.#held = [];
  }

  #find(offset: number): { readonly held: Held; readonly index: number } | undefined {
    const held = this.#held[this.#at(offset)];
    if (held === undefined) return undefined;
    const index = indexOf(held.offsets, offset);
    return held.offsets[index] === offset ? { held, index } : undefined;
  }

  /** Index behind the records from this one on that are not held. */
  #lacking(records: readonly BusRecord[], from: number): number {
    let at = from + 1;
    while (at < records.length && this.#find((records[at] as BusRecord).offset) === undefined) at++;
    return at;
  }

  /** Index of the last piece that begins at the offset or before it; -1 without one. */
  #at(offset: number): number {
    let low = 0;
    let high = this.#held.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (((this.#held[middle] as Held).offsets[0] as number) <= offset) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #hold(messages: readonly BusRecord[]): Held {
    const records: PackedRecords = packedRecords(messages, this.#memory);
    const { offsets } = records;
    let bytes = 0;
    for (const message of messages) bytes += bytesIn(message);
    const last = offsets.at(-1) ?? 0;
    const held = { piece: { number: ++HeldMessages.#lastNumber, records }, offsets, last, bytes, users: 0 };
    this.#budget.held += bytes;
    this.#held.splice(this.#at(offsets[0] as number) + 1, 0, held);
    return held;
  }
}
