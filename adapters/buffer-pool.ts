/** Reusable memory for records that are read from a bus. */
import { type Reused, releaseWhenIdle } from '../runtime/idle-memory.ts';
import { isShared } from '../runtime/memory.ts';

/** The memory of a piece. Do not read it after `release`. */
export interface PooledBuffer {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Most bytes of a partition in one fetch, unless its first record batch is larger. A broker cuts the last batch off at this
 * size, and it is fetched again: with record batches of a megabyte, 2 MiB fetch 1.65 times the used bytes, 8 MiB 1.04 times.
 */
export const pooledBufferBytes = 8 * 1024 * 1024;
const minPooledBytes = 1024 * 1024;
/** Bytes that are kept to be used again: readers that fall behind take many times as much for a while. */
const maxFreeBytes = 24 * 1024 * 1024;

/**
 * Bytes that threads share, of those that give them to threads. V8 does not count such memory, so that what is dropped of it would stay for minutes: it is
 * kept, and beyond it memory is the thread's own.
 */
const maxSharedBytes = 48 * 1024 * 1024;

/**
 * Values live until their batch has landed, longer than V8's young generation: without slabs they cost a full garbage
 * collection every hundred megabytes. A slab that is never released is collected as any other object.
 */
export class BufferPool implements Reused {
  /** Those that were given back last come last. Their sizes are powers of two. */
  readonly #free: Buffer[] = [];
  #freeBytes = 0;
  #shareableBytes: number;

  /** `areShared`: threads may read pieces where they are, as long as there is room for it. Which they are is told by their memory. */
  constructor({ areShared = false } = {}) {
    this.#shareableBytes = areShared ? maxSharedBytes : 0;
    releaseWhenIdle(this);
  }

  release(): void {
    for (const buffer of this.#free.splice(0)) if (isShared(buffer)) this.#shareableBytes += buffer.length;
    this.#freeBytes = 0;
  }

  /** Exactly `bytes`, whatever was there before. Small pieces get memory of their own: a slab would hold more than they do. */
  acquire(bytes: number): PooledBuffer {
    if (bytes < minPooledBytes || bytes > pooledBufferBytes)
      return { bytes: Buffer.allocUnsafeSlow(bytes), release: nothing };
    const size = 2 ** Math.ceil(Math.log2(bytes));
    let buffer = this.#reused(size) ?? this.#made(size);
    return {
      bytes: buffer.subarray(0, bytes),
      release: () => {
        this.#returnToPool(buffer);
        buffer = empty;
      },
    };
  }

  #reused(size: number): Buffer | undefined {
    const fits = this.#free.findLastIndex(({ length }) => length === size);
    // Where no more can be shared, a larger one that is does as well.
    const found =
      fits < 0 && size > this.#shareableBytes
        ? this.#free.findLastIndex((buffer) => buffer.length > size && isShared(buffer))
        : fits;
    const [buffer] = found < 0 ? [] : this.#free.splice(found, 1);
    this.#freeBytes -= buffer?.length ?? 0;
    return buffer;
  }

  #made(size: number): Buffer {
    if (size > this.#shareableBytes) return Buffer.allocUnsafeSlow(size);
    this.#shareableBytes -= size;
    return Buffer.from(new SharedArrayBuffer(size));
  }

  #returnToPool(buffer: Buffer): void {
    if (buffer.length === 0) return;
    this.#free.push(buffer);
    this.#freeBytes += buffer.length;
    // What was not used for longest makes way.
    while (this.#freeBytes > maxFreeBytes) {
      const found = this.#free.findIndex((each) => !isShared(each));
      if (found < 0) return;
      this.#freeBytes -= this.#free.splice(found, 1)[0]?.length ?? 0;
    }
  }
}

const empty = Buffer.alloc(0);
const nothing = (): void => undefined;
