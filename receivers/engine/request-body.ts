/** A body during reception. */

/** Smaller parts are copied into one buffer: a separate `Buffer` for each would take many times their bytes. */
const minSeparateBytes = 1024;
const smallBufferBytes = 16 * 1024;
/** A shorter first part waits for more, so that a frame's header is within one part. */
const minFirstBytes = 16;
/**
 * Parts are joined on arrival to blocks of about this size, because copying a large body at once would block the event
 * loop. With one more part, a block still fits one chunk of a dead letter.
 */
const blockBytes = 832 * 1024;

export class RequestBody {
  #blocks: Buffer[] = [];
  /** Parts after the blocks. */
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  /** Free space after the last chunk, for small parts. */
  #smallBuffer: Buffer | undefined;
  #usedSmallBytes = 0;
  size = 0;

  /** Adds bytes, which must not change afterwards. */
  add(chunk: Buffer): void {
    this.size += chunk.length;
    this.#chunkBytes += chunk.length;
    if (chunk.length >= minSeparateBytes || (this.size === chunk.length && chunk.length >= minFirstBytes)) {
      this.#chunks.push(chunk);
      this.#smallBuffer = undefined;
    } else this.#addSmall(chunk);
    if (this.#chunkBytes >= blockBytes) this.#joinChunks();
  }

  #addSmall(chunk: Buffer): void {
    const buffer = this.#smallBuffer;
    if (buffer === undefined || this.#usedSmallBytes + chunk.length > buffer.length) {
      this.#smallBuffer = Buffer.allocUnsafeSlow(smallBufferBytes);
      this.#usedSmallBytes = chunk.copy(this.#smallBuffer);
      this.#chunks.push(this.#smallBuffer.subarray(0, this.#usedSmallBytes));
      return;
    }
    this.#usedSmallBytes += chunk.copy(buffer, this.#usedSmallBytes);
    this.#chunks[this.#chunks.length - 1] = buffer.subarray(0, this.#usedSmallBytes);
  }

  #joinChunks(): void {
    this.#blocks.push(joinParts(this.#chunks));
    this.#chunks = [];
    this.#chunkBytes = 0;
    this.#smallBuffer = undefined;
  }

  /** The beginning, at least 16 bytes if there are that many. */
  get first(): Buffer | undefined {
    return this.#blocks[0] ?? this.#chunks[0];
  }

  /** Returns the entire body, as at least one part. A body in one part is not copied. */
  parts(): readonly Buffer[] {
    if (this.#chunks.length > 0 || this.#blocks.length === 0) this.#joinChunks();
    return this.#blocks;
  }

  clear(): void {
    this.#blocks = [];
    this.#chunks = [];
    this.#chunkBytes = 0;
    this.#smallBuffer = undefined;
    this.size = 0;
  }
}

export const countBytes = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

/** Joins parts to one `Buffer`; a single part is not copied. */
export const joinParts = (parts: readonly Uint8Array[]): Buffer => {
  const [onlyPart] = parts;
  return parts.length === 1 && onlyPart !== undefined
    ? Buffer.from(onlyPart.buffer, onlyPart.byteOffset, onlyPart.byteLength)
    : Buffer.concat(parts);
};

/** Returns at most this many bytes of the beginning. */
export const truncateParts = (parts: readonly Buffer[], bytes: number): Buffer[] => {
  const chunks: Buffer[] = [];
  let remaining = bytes;
  for (const part of parts) {
    if (remaining <= 0) break;
    chunks.push(part.length > remaining ? part.subarray(0, remaining) : part);
    remaining -= part.length;
  }
  return chunks;
};
