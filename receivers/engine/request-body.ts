/** A body as it comes. */

/** Smaller parts are copied together: a `Buffer` of its own for each would take many times their bytes. */
const smallBytes = 1024;
const roomBytes = 16 * 1024;
/** A first part of less than that waits for more: a frame's head lies in one part. */
const headBytes = 16;
/**
 * Parts are joined to blocks of about this size as they come: one copy of a large body at its end would stop the loop.
 * With one more part, a block still is one chunk of a dead letter.
 */
const blockBytes = 832 * 1024;

export class RequestBody {
  #blocks: Buffer[] = [];
  /** Behind the blocks. */
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  /** Room behind the last chunk, for what is small. */
  #room: Buffer | undefined;
  #used = 0;
  size = 0;

  /** The bytes must not change any more. */
  add(chunk: Buffer): void {
    this.size += chunk.length;
    this.#chunkBytes += chunk.length;
    if (chunk.length >= smallBytes || (this.size === chunk.length && chunk.length >= headBytes)) {
      this.#chunks.push(chunk);
      this.#room = undefined;
    } else this.#addSmall(chunk);
    if (this.#chunkBytes >= blockBytes) this.#join();
  }

  #addSmall(chunk: Buffer): void {
    const room = this.#room;
    if (room === undefined || this.#used + chunk.length > room.length) {
      this.#room = Buffer.allocUnsafeSlow(roomBytes);
      this.#used = chunk.copy(this.#room);
      this.#chunks.push(this.#room.subarray(0, this.#used));
      return;
    }
    this.#used += chunk.copy(room, this.#used);
    this.#chunks[this.#chunks.length - 1] = room.subarray(0, this.#used);
  }

  #join(): void {
    this.#blocks.push(joined(this.#chunks));
    this.#chunks = [];
    this.#chunkBytes = 0;
    this.#room = undefined;
  }

  /** The beginning, of 16 bytes at least when there are as many. */
  get first(): Buffer | undefined {
    return this.#blocks[0] ?? this.#chunks[0];
  }

  /** All of it, one part at least. Nothing is copied when it came in one. */
  parts(): readonly Buffer[] {
    if (this.#chunks.length > 0 || this.#blocks.length === 0) this.#join();
    return this.#blocks;
  }

  clear(): void {
    this.#blocks = [];
    this.#chunks = [];
    this.#chunkBytes = 0;
    this.#room = undefined;
    this.size = 0;
  }
}

export const bytesOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

/** In one `Buffer`; nothing is copied when it is in one already. */
export const joined = (parts: readonly Uint8Array[]): Buffer => {
  const [only] = parts;
  return parts.length === 1 && only !== undefined
    ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
    : Buffer.concat(parts);
};

/** At most this many bytes of the beginning. */
export const cutTo = (parts: readonly Buffer[], bytes: number): Buffer[] => {
  const chunks: Buffer[] = [];
  let left = bytes;
  for (const part of parts) {
    if (left <= 0) break;
    chunks.push(part.length > left ? part.subarray(0, left) : part);
    left -= part.length;
  }
  return chunks;
};
