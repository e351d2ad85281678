import { isMarkedAsUntransferable } from 'node:worker_threads';
import { type ReusableMemory, releaseWhenIdle } from './idle-memory.ts';

const { copy } = Buffer.prototype;

/** Copies a range with one native call. It is as fast with shared memory, for which `set` copies byte by byte. */
export const copyRange = (
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetOffset: number,
): void => {
  copy.call(source as Buffer, target, targetOffset, start, end);
};

/** Returns whether the bytes are in shared memory. */
export const isShared = ({ buffer }: Uint8Array): boolean => buffer instanceof SharedArrayBuffer;

const minBufferBytes = 65_536;
const maxSharedBytes = 64 * 1024 * 1024;
const maxSharedBuffers = 8;

/**
 * Pool of memory that threads pass to each other and reuse: a new page costs more than the copy into it. V8 counts a
 * buffer that moves to a thread as newly allocated, and would run a full garbage collection for every batch.
 * Therefore the pool uses shared memory, which V8 does not count. It contains few shared buffers, which it keeps until its thread is idle. Beyond
 * them, it allocates ordinary buffers, which are moved to the other thread.
 */
export class TransferMemoryPool implements ReusableMemory {
  readonly #free: SharedArrayBuffer[] = [];
  #sharedCount = 0;

  constructor() {
    releaseWhenIdle(this);
  }

  /** Returns a buffer of at least `bytes` bytes. Its contents are undefined. */
  allocate(bytes: number): ArrayBufferLike {
    if (bytes > maxSharedBytes) return new ArrayBuffer(bytes);
    const freeIndex = this.#free.findIndex(({ byteLength }) => byteLength >= bytes);
    if (freeIndex >= 0) return this.#free.splice(freeIndex, 1)[0] as SharedArrayBuffer;
    // Replaces a buffer that is too small.
    if (this.#sharedCount < maxSharedBuffers) this.#sharedCount++;
    else if (this.#free.shift() === undefined) return new ArrayBuffer(bytes);
    let size = minBufferBytes;
    while (size < bytes) size *= 2;
    return new SharedArrayBuffer(size);
  }

  /** Returns a buffer to the pool. A moved buffer is left to the garbage collector. */
  reuse(memory: ArrayBufferLike): void {
    if (!(memory instanceof SharedArrayBuffer)) return;
    this.#free.push(memory);
    this.#free.sort((left, right) => left.byteLength - right.byteLength);
  }

  /** Releases the buffers that are not in use. */
  release(): void {
    this.#sharedCount -= this.#free.length;
    this.#free.length = 0;
  }
}

/**
 * Returns the buffers that a message between threads must move rather than share, each once. Bytes in the pool of small
 * buffers are copied, because the pool cannot move.
 */
export const transferableBuffers = (buffers: readonly ArrayBufferLike[]): ArrayBuffer[] => [
  ...new Set(
    buffers.filter(
      (buffer): buffer is ArrayBuffer => buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer),
    ),
  ),
];
