/** Reusable memory for records that are read from a bus. */
import { type ReusableMemory, releaseWhenIdle } from '../runtime/idle-memory.ts';
import { isShared } from '../runtime/memory.ts';

/** A buffer from the pool. Do not read it after `release`. */
export interface PooledBuffer {
  readonly bytes: Buffer;
  release(): void;
}

/**
 * Maximum bytes of a partition in one fetch, unless its first record batch is larger. A broker cuts the last batch off
 * at this size, and the next fetch reads that batch again. With record batches of one megabyte, a limit of 2 MiB
 * fetches 1.65 times the used bytes; 8 MiB fetches 1.04 times.
 */
export const pooledBufferBytes = 8 * 1024 * 1024;
const minPooledBytes = 1024 * 1024;
/** Free bytes that the pool retains for reuse. Readers that fall behind need many times as much for a while. */
const maxFreeBytes = 24 * 1024 * 1024;

/**
 * Maximum bytes of memory shared between threads, for pools that pass records to workers. V8 does not count shared
 * memory, so dropped buffers would stay for minutes. The pool therefore retains shared buffers, and allocates beyond
 * this limit from the thread's own memory.
 */
const maxSharedBytes = 48 * 1024 * 1024;

/**
 * Record values live until their batch is stored, longer than V8's young generation. Without reused buffers, they cost
 * a full garbage collection every hundred megabytes. A slab that is never released is collected like any other object.
 */
export class BufferPool implements ReusableMemory {
  /** Free buffers, the most recently released ones last. Their sizes are powers of two. */
  readonly #freeBuffers: Buffer[] = [];
  #freeBytes = 0;
  #shareableBytes: number;

  /**
   * With `areShared`, buffers use shared memory, which other threads can read, up to a limit. The type of a buffer's
   * memory shows whether it is shared.
   */
  constructor({ areShared: usesSharedMemory = false } = {}) {
    this.#shareableBytes = usesSharedMemory ? maxSharedBytes : 0;
    releaseWhenIdle(this);
  }

  release(): void {
    for (const buffer of this.#freeBuffers.splice(0)) if (isShared(buffer)) this.#shareableBytes += buffer.length;
    this.#freeBytes = 0;
  }

  /**
   * Returns exactly `bytes` bytes with undefined content. Small buffers get their own memory, because a slab would hold
   * more bytes than they need.
   */
  acquire(bytes: number): PooledBuffer {
    if (bytes < minPooledBytes || bytes > pooledBufferBytes)
      return { bytes: Buffer.allocUnsafeSlow(bytes), release: noop };
    const size = 2 ** Math.ceil(Math.log2(bytes));
    let buffer = this.#popFreeBuffer(size) ?? this.#allocate(size);
    return {
      bytes: buffer.subarray(0, bytes),
      release: () => {
        this.#returnToPool(buffer);
        buffer = emptyBuffer;
      },
    };
  }

  #popFreeBuffer(size: number): Buffer | undefined {
    const exactSizeIndex = this.#freeBuffers.findLastIndex(({ length }) => length === size);
    // When no more shared memory may be allocated, reuse a larger shared buffer.
    const freeIndex =
      exactSizeIndex < 0 && size > this.#shareableBytes
        ? this.#freeBuffers.findLastIndex((buffer) => buffer.length > size && isShared(buffer))
        : exactSizeIndex;
    const [buffer] = freeIndex < 0 ? [] : this.#freeBuffers.splice(freeIndex, 1);
    this.#freeBytes -= buffer?.length ?? 0;
    return buffer;
  }

  #allocate(size: number): Buffer {
    if (size > this.#shareableBytes) return Buffer.allocUnsafeSlow(size);
    this.#shareableBytes -= size;
    return Buffer.from(new SharedArrayBuffer(size));
  }

  #returnToPool(buffer: Buffer): void {
    if (buffer.length === 0) return;
    this.#freeBuffers.push(buffer);
    this.#freeBytes += buffer.length;
    // Evict the least recently used buffers.
    while (this.#freeBytes > maxFreeBytes) {
      const evictedIndex = this.#freeBuffers.findIndex((freeBuffer) => !isShared(freeBuffer));
      if (evictedIndex < 0) return;
      this.#freeBytes -= this.#freeBuffers.splice(evictedIndex, 1)[0]?.length ?? 0;
    }
  }
}

const emptyBuffer = Buffer.alloc(0);
const noop = (): void => undefined;
