/** What several readers of one partition read is held once, for those that have not come so far yet. */
import { firstIndex } from '../schemas/first-index.ts';

/** A reader; what lies before `next` is of no use to it any longer. */
export interface WindowReader {
  readonly next: number;
}

/** A piece of a partition: offsets from `first` on, before `next`. */
export interface WindowPiece {
  readonly first: number;
  readonly next: number;
  readonly bytes: number;
}

/** Bytes that all windows of a process hold together. They hold more only while that much is in use. */
export class Budget {
  held = 0;
  readonly most: number;

  constructor(most: number) {
    this.most = most;
  }
}

interface Held<Piece> {
  readonly piece: Piece;
  users: number;
}

/**
 * Pieces of one partition. One that no reader needs is given back. Where the budget is used up, the oldest make way: a reader that has
 * not come so far leaves the shared reading, reads for itself, and joins again where it has caught up.
 */
export class ReadingWindow<Piece extends WindowPiece> {
  readonly readers = new Set<WindowReader>();
  readonly #budget: Budget;
  readonly #giveBack: (pieces: readonly Piece[]) => void;
  /** By offset; no two have an offset in common. */
  #held: Held<Piece>[] = [];
  /** Nothing before it is held for others than the reader that brought it. */
  #floor = 0;

  /** `giveBack` takes pieces that are held no longer. */
  constructor(budget: Budget, giveBack: (pieces: readonly Piece[]) => void) {
    this.#budget = budget;
    this.#giveBack = giveBack;
  }

  /** Where the last piece ends; `undefined` without one. */
  get next(): number | undefined {
    return this.#held.at(-1)?.piece.next;
  }

  /** The piece that has an offset. */
  find(offset: number): Piece | undefined {
    const held = this.#held[this.#at(offset)];
    return held !== undefined && offset < held.piece.next ? held.piece : undefined;
  }

  add(piece: Piece): void {
    this.#budget.held += piece.bytes;
    this.#held.splice(this.#at(piece.first) + 1, 0, { piece, users: 0 });
  }

  /** Holds a piece, whatever readers need, until `leave`. */
  use({ first }: Piece): void {
    const held = this.#held[this.#at(first)];
    if (held !== undefined) held.users++;
  }

  leave({ first }: Piece): void {
    const held = this.#held[this.#at(first)];
    if (held !== undefined) held.users--;
  }

  /** Gives back what no reader needs, and what the budget has no room for. */
  clean(): void {
    let needed = Number.POSITIVE_INFINITY;
    for (const { next } of this.readers) if (next >= this.#floor) needed = Math.min(needed, next);
    const gone: Piece[] = [];
    const rest: Held<Piece>[] = [];
    for (const held of this.#held) {
      const { next, bytes } = held.piece;
      const makesWay = held.users === 0 && (next <= needed || this.#budget.held > this.#budget.most);
      if (!makesWay) {
        rest.push(held);
        continue;
      }
      gone.push(held.piece);
      this.#floor = Math.max(this.#floor, next);
      this.#budget.held -= bytes;
    }
    this.#held = rest;
    if (gone.length > 0) this.#giveBack(gone);
  }

  /** All pieces are gone, those in use as well. They are not given back. */
  lost(): void {
    for (const { piece } of this.#held) this.#budget.held -= piece.bytes;
    this.#held = [];
  }

  /** Index of the last piece that begins at the offset or before it; -1 without one. */
  #at(offset: number): number {
    return firstIndex(this.#held.length, (index) => (this.#held[index] as Held<Piece>).piece.first > offset) - 1;
  }
}
