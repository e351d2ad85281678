/** The interface of a column of a Native block. */
export interface Column {
  /** ClickHouse type in which the block carries the column. */
  readonly type: string;
  /** Complete values appended so far. */
  readonly rows: number;
  /** Remembers the present length. There is one mark; a later one replaces it. */
  mark(): void;
  /** Forgets what was appended since `mark`. */
  rollback(): void;
  /** Empties the column and keeps its memory. */
  reset(): void;
  /** Bytes that a nested dictionary's version takes; it precedes everything else of the column. */
  readonly prefixSize: number;
  writePrefix(target: Uint8Array, at: number): number;
  /** Bytes of the values in the block. */
  size(): number;
  /** Writes exactly `size()` bytes and answers the position after them. */
  write(target: Uint8Array, at: number): number;
}

/** Capacity to grow to: at least `needed`, doubling, so that appending stays linear. */
export const grown = (capacity: number, needed: number): number => {
  let next = capacity;
  while (next < needed) next *= 2;
  return next;
};

/** Base of columns without a dictionary. */
export abstract class PlainColumn implements Column {
  readonly type: string;
  readonly prefixSize: number = 0;

  constructor(type: string) {
    this.type = type;
  }

  abstract readonly rows: number;
  abstract mark(): void;
  abstract rollback(): void;
  abstract reset(): void;
  abstract size(): number;
  abstract write(target: Uint8Array, at: number): number;

  writePrefix(_target: Uint8Array, at: number): number {
    return at;
  }
}
