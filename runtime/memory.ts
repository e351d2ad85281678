import { isMarkedAsUntransferable } from 'node:worker_threads';
import { type Reused, releaseWhenIdle } from './idle-memory.ts';

const { copy } = Buffer.prototype;

/** Copies a run with one native call, as fast into and out of shared memory, where `set` goes byte by byte. */
export const copyRun = (source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): void => {
  copy.call(source as Buffer, target, at, start, end);
};

/** Whether threads share what lies there. */
export const isShared = ({ buffer }: Uint8Array): boolean => buffer instanceof SharedArrayBuffer;

const smallest = 65_536;
const largestShared = 64 * 1024 * 1024;
const maxSharedPieces = 8;

/**
 * Memory that threads pass to each other and reuse: a fresh page costs more than the copy into it. Pieces are shared
 * memory: V8 counts a buffer that moves to a thread as newly allocated, and collected all garbage for every batch. It
 * does not count shared memory at all, so there are few such pieces, which stay until their thread is idle; buffers beyond them are moved.
 */
export class Memory implements Reused {
  readonly #free: SharedArrayBuffer[] = [];
  #shared = 0;

  constructor() {
    releaseWhenIdle(this);
  }

  /** At least `bytes`; contents are whatever was there. */
  allocate(bytes: number): ArrayBufferLike {
    if (bytes > largestShared) return new ArrayBuffer(bytes);
    const found = this.#free.findIndex(({ byteLength }) => byteLength >= bytes);
    if (found >= 0) return this.#free.splice(found, 1)[0] as SharedArrayBuffer;
    // One that is too small makes way.
    if (this.#shared < maxSharedPieces) this.#shared++;
    else if (this.#free.shift() === undefined) return new ArrayBuffer(bytes);
    let size = smallest;
    while (size < bytes) size *= 2;
    return new SharedArrayBuffer(size);
  }

  /** Takes a piece back; one that was moved is left to the collector. */
  give(memory: ArrayBufferLike): void {
    if (!(memory instanceof SharedArrayBuffer)) return;
    this.#free.push(memory);
    this.#free.sort((left, right) => left.byteLength - right.byteLength);
  }

  /** Lets go of what nobody has. */
  release(): void {
    this.#shared -= this.#free.length;
    this.#free.length = 0;
  }
}

/** Those that a message between threads must move rather than share, each once. What lies in the pool of small buffers is copied: the pool stays. */
export const movable = (pieces: readonly ArrayBufferLike[]): ArrayBuffer[] => [
  ...new Set(
    pieces.filter((piece): piece is ArrayBuffer => piece instanceof ArrayBuffer && !isMarkedAsUntransferable(piece)),
  ),
];
