/** The interface of a column of a Native block. */
export interface Column {
  /** ClickHouse type of the column in the block. */
  readonly type: string;
  /** Number of complete values so far. */
  readonly rows: number;
  /** Saves the current length. There is one mark, which a later call replaces. */
  mark(): void;
  /** Removes everything appended since `mark`. */
  rollback(): void;
  /** Empties the column and retains its memory. */
  reset(): void;
  /** Size of the version prefix of a nested dictionary, which precedes everything else in the column. */
  readonly prefixSize: number;
  writePrefix(target: Uint8Array, position: number): number;
  /** Size of the values in the block, in bytes. */
  computeSize(): number;
  /** Writes exactly `size()` bytes and returns the position after them. */
  write(target: Uint8Array, position: number): number;
}

/** Returns the new capacity: at least `needed`, doubled, so that appending is linear. */
export const growCapacity = (capacity: number, minCapacity: number): number => {
  let newCapacity = capacity;
  while (newCapacity < minCapacity) newCapacity *= 2;
  return newCapacity;
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
  abstract computeSize(): number;
  abstract write(target: Uint8Array, at: number): number;

  writePrefix(_target: Uint8Array, at: number): number {
    return at;
  }
}
