/** Reusable memory for records that are read from a bus. */
import { type Reused, releaseWhenIdle } from '../runtime/idle-memory.ts';

/** The memory of a piece. Do not read it after `release`. */
export interface Slab {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Most bytes of a partition in one fetch, unless its first record batch is larger. A broker cuts the last batch off at this
 * size, and it is fetched again: with record batches of a megabyte, 2 MiB fetch 1.65 times the used bytes, 8 MiB 1.04 times.
 */
export const slabBytes = 8 * 1024 * 1024;
const smallestSlab = 1024 * 1024;
const mostKept = 8;

/**
 * Values live until their batch has landed, longer than V8's young generation: without slabs they cost a full garbage
 * collection every hundred megabytes. A slab that is never released is collected as any other object.
 */
export class Slabs implements Reused {
  /** By size: powers of two. */
  readonly #free = new Map<number, Buffer[]>();

  constructor() {
    releaseWhenIdle(this);
  }

  release(): void {
    for (const free of this.#free.values()) free.length = 0;
  }

  /** Exactly `bytes`, whatever was there before. Small pieces get memory of their own: a slab would hold more than they do. */
  take(bytes: number): Slab {
    if (bytes < smallestSlab || bytes > slabBytes) return { bytes: Buffer.allocUnsafeSlow(bytes), release: nothing };
    const size = 2 ** Math.ceil(Math.log2(bytes));
    const free = this.#free.get(size) ?? [];
    this.#free.set(size, free);
    let slab = free.pop() ?? Buffer.allocUnsafeSlow(size);
    return {
      bytes: slab.subarray(0, bytes),
      release: () => {
        if (slab.length > 0 && free.length < mostKept) free.push(slab);
        slab = empty;
      },
    };
  }
}

const empty = Buffer.alloc(0);
const nothing = (): void => undefined;
