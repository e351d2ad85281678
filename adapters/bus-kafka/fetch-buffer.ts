/** Reads answers from a socket, their large parts directly into their final memory. */

/** The next read of a parser: a number of bytes, at most `maxReadBytes`, or a buffer to fill. */
type ReadRequest = number | Buffer;

/**
 * Parses one answer: yields each read request, and is resumed with the data. Bytes that it requested by number must be
 * read before it yields again.
 */
export type Parser<Answer> = Generator<ReadRequest, Answer, Buffer>;

export const maxReadBytes = 1024;
const scratchBytes = 64 * 1024;

/**
 * Runs parsers, one after the other. The owner of the socket writes received bytes to `room` and then calls `received`.
 * While a parser waits for a buffer to be filled, `room` is that buffer: nothing is copied, and one read fills it with
 * all bytes that have arrived.
 */
export class FetchBuffer {
  readonly #parsers: () => Parser<void> | undefined;
  readonly #scratch = Buffer.allocUnsafeSlow(scratchBytes);
  /** The part of the scratch memory that no parser has read yet. */
  #from = 0;
  #to = 0;
  #parser: Parser<void> | undefined;
  #pendingRead: ReadRequest = 0;
  #filled = 0;

  /** `parsers` returns the parser of the next answer, or `undefined` when no answer is expected. */
  constructor(parsers: () => Parser<void> | undefined) {
    this.#parsers = parsers;
  }

  /** The buffer for the next bytes; never empty. */
  get room(): Buffer {
    if (typeof this.#pendingRead === 'object') return this.#pendingRead.subarray(this.#filled);
    return this.#scratch.subarray(this.#to);
  }

  /**
   * Call it after writing this many bytes to `room`. Throws errors of the parser, and an error when no answer was
   * expected; the rest of the stream is then unreadable.
   */
  received(bytes: number): void {
    if (typeof this.#pendingRead === 'object') this.#filled += bytes;
    else this.#to += bytes;
    for (let given = this.#next(); given !== undefined; given = this.#next()) this.#step(given);
  }

  /** Like `received`, for bytes in another buffer. */
  append(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(this.room, 0, at);
      at += copied;
      this.received(copied);
    }
  }

  /** The data that the parser needs, once all of it has arrived. */
  #next(): Buffer | undefined {
    const pendingRead = this.#pendingRead;
    if (typeof pendingRead === 'object') {
      const copied = this.#scratch.copy(pendingRead, this.#filled, this.#from, this.#to);
      this.#from += copied;
      this.#filled += copied;
      this.#rewind();
      return this.#filled === pendingRead.length ? pendingRead : undefined;
    }
    // The first step of an answer waits for its first byte.
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
    if (this.#parser === undefined) throw new Error('Kafka sent data that was not requested');
    this.#filled = 0;
    const { done, value } = this.#parser.next(given);
    if (done === true) this.#parser = undefined;
    this.#pendingRead = done === true ? 0 : value;
  }
}
