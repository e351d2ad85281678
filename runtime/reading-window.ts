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

/** A window, as its budget sees it. */
interface Holder {
  /** Bytes until some reader needs the piece that is needed last of those that are not in use; -1 without one. */
  readonly farthest: number;
  giveFarthest(): void;
}

/** Bytes that all windows of a process hold together. They hold more only while that much is in use. */
export class Budget {
  held = 0;
  readonly maxBytes: number;
  readonly holders = new Set<Holder>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Where there is too much, what is needed last makes way, whichever window has it. */
  evict(): void {
    while (this.held > this.maxBytes) {
      let found: Holder | undefined;
      let farthest = -1;
      for (const holder of this.holders) {
        const own = holder.farthest;
        if (own > farthest) [found, farthest] = [holder, own];
      }
      if (found === undefined) return;
      found.giveFarthest();
    }
  }
}

interface Held<Piece> {
  readonly piece: Piece;
  users: number;
}

/** Offsets that may lie between two pieces without a message: markers of transactions. */
const maxGap = 16;

/**
 * Pieces of one partition. One that no reader comes to, piece by piece, is given back: a reader that is far behind reads for itself, those
 * that are as far behind share what it reads, and it joins the others where it has caught up. Where the budget is used up, what is needed
 * last makes way.
 */
export class ReadingWindow<Piece extends WindowPiece> {
  readonly readers = new Set<WindowReader>();
  readonly #budget: Budget;
  readonly #giveBack: (pieces: readonly Piece[]) => void;
  /** By offset; no two have an offset in common. */
  #held: Held<Piece>[] = [];

  /** `giveBack` takes pieces that are held no longer. */
  constructor(budget: Budget, giveBack: (pieces: readonly Piece[]) => void) {
    this.#budget = budget;
    this.#giveBack = giveBack;
  }

  /** The piece that has an offset. */
  find(offset: number): Piece | undefined {
    const held = this.#held[this.#at(offset)];
    return held !== undefined && offset < held.piece.next ? held.piece : undefined;
  }

  /** Where the next piece behind an offset begins; `Infinity` without one. */
  nextFrom(offset: number): number {
    return this.#held[this.#at(offset) + 1]?.piece.first ?? Number.POSITIVE_INFINITY;
  }

  add(piece: Piece): void {
    this.#budget.held += piece.bytes;
    this.#budget.holders.add(this);
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

  /** Gives back what no reader needs, and has what there is no room for given back. */
  clean(): void {
    const distances = this.#distances();
    this.#give((index) => distances[index] === Number.POSITIVE_INFINITY);
    this.#budget.evict();
  }

  get farthest(): number {
    return this.#distances().reduce(
      (farthest, distance, index) => (this.#isIdle(index) ? Math.max(farthest, distance) : farthest),
      -1,
    );
  }

  giveFarthest(): void {
    const { farthest } = this;
    const last = this.#distances().findLastIndex((distance, index) => distance === farthest && this.#isIdle(index));
    this.#give((index) => index === last);
  }

  /** Gives all pieces back, those in use as well. */
  lost(): void {
    const released = this.#held.splice(0).map(({ piece }) => piece);
    for (const { bytes } of released) this.#budget.held -= bytes;
    this.#budget.holders.delete(this);
    if (released.length > 0) this.#giveBack(released);
  }

  #isIdle(index: number): boolean {
    return this.#held[index]?.users === 0;
  }

  /** Of each piece the bytes that lie before it, back to the nearest reader; infinite where none comes to it by what is held. */
  #distances(): number[] {
    const positions = Array.from(this.readers, ({ next }) => next).sort((one, other) => one - other);
    let at = 0;
    let end = Number.NEGATIVE_INFINITY;
    let distance = Number.POSITIVE_INFINITY;
    return this.#held.map(({ piece: { first, next, bytes } }) => {
      if (first - end > maxGap) distance = Number.POSITIVE_INFINITY;
      for (; at < positions.length && (positions[at] as number) < next; at++)
        if ((positions[at] as number) >= first - maxGap) distance = 0;
      const own = distance;
      distance += bytes;
      end = next;
      return own;
    });
  }

  /** Gives back those that are not in use and of which this says so. */
  #give(isGiven: (index: number) => boolean): void {
    const released: Piece[] = [];
    this.#held = this.#held.filter(({ piece, users }, index) => {
      if (users > 0 || !isGiven(index)) return true;
      released.push(piece);
      this.#budget.held -= piece.bytes;
      return false;
    });
    if (this.#held.length === 0) this.#budget.holders.delete(this);
    if (released.length > 0) this.#giveBack(released);
  }

  /** Index of the last piece that begins at the offset or before it; -1 without one. */
  #at(offset: number): number {
    return firstIndex(this.#held.length, (index) => (this.#held[index] as Held<Piece>).piece.first > offset) - 1;
  }
}
