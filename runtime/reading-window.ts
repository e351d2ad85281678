/** Shares the data that several readers of one partition read, until the last reader has passed it. */
import { findFirstIndex } from '../schemas/first-index.ts';

/** A reader, which no longer needs offsets before `next`. */
export interface WindowReader {
  readonly next: number;
}

/** A batch of a partition's records: offsets from `first` to before `next`. */
export interface WindowBatch {
  readonly first: number;
  readonly next: number;
  readonly bytes: number;
}

/** The part of a window that its budget uses. */
interface BudgetedWindow {
  /** Distance in bytes from a reader to the piece that is needed last, among those not in use; -1 without a piece. */
  readonly farthestDistanceBytes: number;
  releaseFarthest(): void;
}

/** Maximum total bytes of all windows of a process. They exceed it only while more bytes are in use. */
export class Budget {
  heldBytes = 0;
  readonly maxBytes: number;
  readonly holders = new Set<BudgetedWindow>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Evicts the pieces that are needed last, from any window, until the budget is met. */
  evict(): void {
    while (this.heldBytes > this.maxBytes) {
      let farthestWindow: BudgetedWindow | undefined;
      let farthest = -1;
      for (const holder of this.holders) {
        const distanceBytes = holder.farthestDistanceBytes;
        if (distanceBytes > farthest) [farthestWindow, farthest] = [holder, distanceBytes];
      }
      if (farthestWindow === undefined) return;
      farthestWindow.releaseFarthest();
    }
  }
}

interface StoredBatch<Piece> {
  readonly piece: Piece;
  users: number;
}

/** Maximum gap between two pieces in offsets without a message: transaction markers. */
const maxGap = 16;

/**
 * Fetched records of one partition, as batches that several readers share. A batch is released when no reader can reach
 * it through consecutive held batches. A reader far behind the others reads separately and joins them when it has
 * caught up; readers at its position share its batches. Above the budget, the batches that are needed last are evicted.
 */
export class ReadingWindow<Piece extends WindowBatch> {
  readonly readers = new Set<WindowReader>();
  readonly #budget: Budget;
  readonly #onReleased: (pieces: readonly Piece[]) => void;
  /** Sorted by offset, without overlaps */
  #storedBatches: StoredBatch<Piece>[] = [];

  /** `onReleased` receives the pieces that the window no longer contains. */
  constructor(budget: Budget, onReleased: (pieces: readonly Piece[]) => void) {
    this.#budget = budget;
    this.#onReleased = onReleased;
  }

  /** Returns the piece that contains an offset. */
  find(offset: number): Piece | undefined {
    const held = this.#storedBatches[this.#findIndex(offset)];
    return held !== undefined && offset < held.piece.next ? held.piece : undefined;
  }

  /** Returns the first offset of the next piece after an offset; `Infinity` if there is none. */
  findNextOffset(offset: number): number {
    return this.#storedBatches[this.#findIndex(offset) + 1]?.piece.first ?? Number.POSITIVE_INFINITY;
  }

  add(piece: Piece): void {
    this.#budget.heldBytes += piece.bytes;
    this.#budget.holders.add(this);
    this.#storedBatches.splice(this.#findIndex(piece.first) + 1, 0, { piece, users: 0 });
  }

  /** Retains a piece until `leave`, whatever readers need. */
  retain({ first }: Piece): void {
    const held = this.#storedBatches[this.#findIndex(first)];
    if (held !== undefined) held.users++;
  }

  stopUsing({ first }: Piece): void {
    const held = this.#storedBatches[this.#findIndex(first)];
    if (held !== undefined) held.users--;
  }

  /** Releases the pieces that no reader needs, and enforces the budget. */
  releaseUnneeded(): void {
    const distances = this.#computeDistances();
    this.#releaseWhere((index) => distances[index] === Number.POSITIVE_INFINITY);
    this.#budget.evict();
  }

  get farthestDistanceBytes(): number {
    return this.#computeDistances().reduce(
      (farthest, distance, index) => (this.#isIdle(index) ? Math.max(farthest, distance) : farthest),
      -1,
    );
  }

  releaseFarthest(): void {
    const { farthestDistanceBytes } = this;
    const last = this.#computeDistances().findLastIndex(
      (distance, index) => distance === farthestDistanceBytes && this.#isIdle(index),
    );
    this.#releaseWhere((index) => index === last);
  }

  /** Releases all pieces, including those in use. */
  releaseAll(): void {
    const released = this.#storedBatches.splice(0).map(({ piece }) => piece);
    for (const { bytes } of released) this.#budget.heldBytes -= bytes;
    this.#budget.holders.delete(this);
    if (released.length > 0) this.#onReleased(released);
  }

  #isIdle(index: number): boolean {
    return this.#storedBatches[index]?.users === 0;
  }

  /**
   * Distance in bytes of each piece from the nearest reader before it. Infinite if no reader can reach it through held
   * pieces.
   */
  #computeDistances(): number[] {
    const positions = Array.from(this.readers, ({ next }) => next).sort((left, right) => left - right);
    let readerIndex = 0;
    let end = Number.NEGATIVE_INFINITY;
    let distance = Number.POSITIVE_INFINITY;
    return this.#storedBatches.map(({ piece: { first, next, bytes } }) => {
      if (first - end > maxGap) distance = Number.POSITIVE_INFINITY;
      for (; readerIndex < positions.length && (positions[readerIndex] as number) < next; readerIndex++)
        if ((positions[readerIndex] as number) >= first - maxGap) distance = 0;
      const pieceDistance = distance;
      distance += bytes;
      end = next;
      return pieceDistance;
    });
  }

  /** Releases the unused pieces for which `shouldRelease` returns `true`. */
  #releaseWhere(shouldRelease: (index: number) => boolean): void {
    const released: Piece[] = [];
    this.#storedBatches = this.#storedBatches.filter(({ piece, users }, index) => {
      if (users > 0 || !shouldRelease(index)) return true;
      released.push(piece);
      this.#budget.heldBytes -= piece.bytes;
      return false;
    });
    if (this.#storedBatches.length === 0) this.#budget.holders.delete(this);
    if (released.length > 0) this.#onReleased(released);
  }

  /** Returns the index of the last piece that begins at or before the offset; -1 if there is none. */
  #findIndex(offset: number): number {
    return (
      findFirstIndex(
        this.#storedBatches.length,
        (index) => (this.#storedBatches[index] as StoredBatch<Piece>).piece.first > offset,
      ) - 1
    );
  }
}
