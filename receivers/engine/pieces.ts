/** The parts of a body as they come. */

/** Smaller parts are copied together: a `Buffer` of its own for each would take many times their bytes. */
const smallBytes = 1024;
const roomBytes = 16 * 1024;

export class Pieces {
  #chunks: Buffer[] = [];
  /** Room behind the last chunk, for what is small. */
  #room: Buffer | undefined;
  #used = 0;
  size = 0;

  /** The bytes must not change any more. */
  add(chunk: Buffer): void {
    this.size += chunk.length;
    if (chunk.length >= smallBytes || this.#chunks.length === 0) {
      this.#chunks.push(chunk);
      this.#room = undefined;
      return;
    }
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

  /** The first bytes as far as they came in one piece. */
  get first(): Buffer | undefined {
    return this.#chunks[0];
  }

  /** All of it; nothing is copied when it came in one piece. */
  joined(): Buffer {
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.size);
  }

  clear(): void {
    this.#chunks = [];
    this.#room = undefined;
    this.size = 0;
  }
}
