/** Reusable memory for records that are read from a bus. */
import { type Reused, releaseWhenIdle } from '../runtime/idle-memory.ts';
import { isShared } from '../runtime/memory.ts';

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
/** Bytes that are kept to be used again: readers that fall behind take many times as much for a while. */
const mostKeptBytes = 24 * 1024 * 1024;

/**
 * Bytes that threads share, of those that give them to threads. V8 does not count such memory, so that what is dropped of it would stay for minutes: it is
 * kept, and beyond it memory is the thread's own.
 */
const mostSharedBytes = 48 * 1024 * 1024;

/**
 * Values live until their batch has landed, longer than V8's young generation: without slabs they cost a full garbage
 * collection every hundred megabytes. A slab that is never released is collected as any other object.
 */
export class Slabs implements Reused {
  /** Those that were given back last come last. Their sizes are powers of two. */
  readonly #free: Buffer[] = [];
  #freeBytes = 0;
  #shareableBytes: number;

  /** `areShared`: threads may read pieces where they are, as long as there is room for it. Which they are is told by their memory. */
  constructor({ areShared = false } = {}) {
    this.#shareableBytes = areShared ? mostSharedBytes : 0;
    releaseWhenIdle(this);
  }

  release(): void {
    for (const slab of this.#free.splice(0)) if (isShared(slab)) this.#shareableBytes += slab.length;
    this.#freeBytes = 0;
  }

  /** Exactly `bytes`, whatever was there before. Small pieces get memory of their own: a slab would hold more than they do. */
  take(bytes: number): Slab {
    if (bytes < smallestSlab || bytes > slabBytes) return { bytes: Buffer.allocUnsafeSlow(bytes), release: nothing };
    const size = 2 ** Math.ceil(Math.log2(bytes));
    let slab = this.#reused(size) ?? this.#made(size);
    return {
      bytes: slab.subarray(0, bytes),
      release: () => {
        this.#keep(slab);
        slab = empty;
      },
    };
  }

  #reused(size: number): Buffer | undefined {
    const fits = this.#free.findLastIndex(({ length }) => length === size);
    // Where no more can be shared, a larger one that is does as well.
    const found =
      fits < 0 && size > this.#shareableBytes
        ? this.#free.findLastIndex((slab) => slab.length > size && isShared(slab))
        : fits;
    const [slab] = found < 0 ? [] : this.#free.splice(found, 1);
    this.#freeBytes -= slab?.length ?? 0;
    return slab;
  }

  #made(size: number): Buffer {
    if (size > this.#shareableBytes) return Buffer.allocUnsafeSlow(size);
    this.#shareableBytes -= size;
    return Buffer.from(new SharedArrayBuffer(size));
  }

  #keep(slab: Buffer): void {
    if (slab.length === 0) return;
    this.#free.push(slab);
    this.#freeBytes += slab.length;
    // What was not used for longest makes way.
    while (this.#freeBytes > mostKeptBytes) {
      const found = this.#free.findIndex((each) => !isShared(each));
      if (found < 0) return;
      this.#freeBytes -= this.#free.splice(found, 1)[0]?.length ?? 0;
    }
  }
}

const empty = Buffer.alloc(0);
const nothing = (): void => undefined;
