/** Answers off a socket, their large parts straight into the memory in which they stay. */

/** What a parser needs next: a number of bytes, at most `mostAtOnce`, or a buffer to be filled. */
type Wanted = number | Buffer;

/**
 * Reads one answer: yields what it needs, and is resumed with it. Bytes that it asked for by number must be read before
 * it yields again.
 */
export type Parser<Answer> = Generator<Wanted, Answer, Buffer>;

export const mostAtOnce = 1024;
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
  #wanted: Wanted = 0;
  #filled = 0;

  /** `parsers` gives the parser of the next answer; none when no answer is expected. */
  constructor(parsers: () => Parser<void> | undefined) {
    this.#parsers = parsers;
  }

  /** Where the next bytes go; never empty. */
  get room(): Buffer {
    if (typeof this.#wanted === 'object') return this.#wanted.subarray(this.#filled);
    return this.#scratch.subarray(this.#to);
  }

  /** Call it after this many bytes of `room` were written. Throws what a parser throws, and when no answer was expected: the rest cannot be read then. */
  received(bytes: number): void {
    if (typeof this.#wanted === 'object') this.#filled += bytes;
    else this.#to += bytes;
    for (let given = this.#next(); given !== undefined; given = this.#next()) this.#step(given);
  }

  /** As `received`, for bytes in another buffer. */
  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(this.room, 0, at);
      at += copied;
      this.received(copied);
    }
  }

  /** What the parser needs, once all of it is there. */
  #next(): Buffer | undefined {
    const wanted = this.#wanted;
    if (typeof wanted === 'object') {
      const copied = this.#scratch.copy(wanted, this.#filled, this.#from, this.#to);
      this.#from += copied;
      this.#filled += copied;
      this.#rewind();
      return this.#filled === wanted.length ? wanted : undefined;
    }
    // An answer's first step waits for its first byte.
    const least = Math.max(1, wanted);
    if (this.#to - this.#from >= least) {
      this.#from += wanted;
      return this.#scratch.subarray(this.#from - wanted, this.#from);
    }
    this.#rewind();
    if (this.#from + mostAtOnce > scratchBytes) {
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
    this.#wanted = done === true ? 0 : value;
  }
}
