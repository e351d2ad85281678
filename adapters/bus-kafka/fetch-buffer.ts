/** Answers off a socket, their large parts straight into the memory in which they stay. */

/** What a parser needs next: a number of bytes, at most `mostAtOnce`, or a buffer to be filled. */
type ReadRequest = number | Buffer;

/**
 * Reads one answer: yields what it needs, and is resumed with it. Bytes that it asked for by number must be read before
 * it yields again.
 */
export type Parser<Answer> = Generator<ReadRequest, Answer, Buffer>;

export const maxReadBytes = 1024;
const scratchBytes = 64 * 1024;

/**
 * Runs parsers, one after the other. The owner of the socket writes received bytes to `room` and then calls `received`.
 * While a parser waits for a buffer to be filled, `room` is that buffer: nothing is copied, and one read takes all bytes
 * that have arrived.
 */
export class FetchBuffer {
  readonly #parsers: () => Parser<void> | undefined;
  readonly #scratch = Buffer.allocUnsafeSlow(scratchBytes);
  /** The part of the scratch memory that no parser has had yet. */
  #from = 0;
  #to = 0;
  #parser: Parser<void> | undefined;
  #pendingRead: ReadRequest = 0;
  #filled = 0;

  /** `parsers` gives the parser of the next answer; none when no answer is expected. */
  constructor(parsers: () => Parser<void> | undefined) {
    this.#parsers = parsers;
  }

  /** Where the next bytes go; never empty. */
  get room(): Buffer {
    if (typeof this.#pendingRead === 'object') return this.#pendingRead.subarray(this.#filled);
    return this.#scratch.subarray(this.#to);
  }

  /** Call it after this many bytes of `room` were written. Throws what a parser throws, and when no answer was expected: the rest cannot be read then. */
  received(bytes: number): void {
    if (typeof this.#pendingRead === 'object') this.#filled += bytes;
    else this.#to += bytes;
    for (let given = this.#next(); given !== undefined; given = this.#next()) this.#step(given);
  }

  /** As `received`, for bytes in another buffer. */
  append(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(this.room, 0, at);
      at += copied;
      this.received(copied);
    }
  }

  /** What the parser needs, once all of it is there. */
  #next(): Buffer | undefined {
    const pendingRead = this.#pendingRead;
    if (typeof pendingRead === 'object') {
      const copied = this.#scratch.copy(pendingRead, this.#filled, this.#from, this.#to);
      this.#from += copied;
      this.#filled += copied;
      this.#rewind();
      return this.#filled === pendingRead.length ? pendingRead : undefined;
    }
    // An answer's first step waits for its first byte.
    const minBytes = Math.max(1, pendingRead);
    if (this.#to - this.#from >= minBytes) {
      this.#from += pendingRead;
      return this.#scratch.subarray(this.#from - pendingRead, this.#from);
    }
    this.#rewind();
    if (this.#from + maxReadBytes > scratchBytes) {
      this.#scratch.copyWithin(0, this.#from, this.#to);
      this.#to -= this.#from;
      this.#from = 0;
    }
    return undefined;
  }

  #rewind(): void {
    if (this.#from < this.#to) return;
    this.#from = 0;
    this.#to = 0;
  }

  #step(given: Buffer): void {
    this.#parser ??= this.#parsers();
    if (this.#parser === undefined) throw new Error('Kafka sent what it was not asked for');
    this.#filled = 0;
    const { done, value } = this.#parser.next(given);
    if (done === true) this.#parser = undefined;
    this.#pendingRead = done === true ? 0 : value;
  }
}
