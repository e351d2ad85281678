/** Reads responses from a socket. Large parts of a response are read directly into their final buffer. */

/** The next read of a parser: a number of bytes, at most `maxReadBytes`, or a buffer to fill. */
type ReadRequest = number | Buffer;

/**
 * Parses one response: yields each read request, and is resumed with the data. Bytes that it requested by number must be
 * read before it yields again.
 */
export type Parser<Answer> = Generator<ReadRequest, Answer, Buffer>;

export const maxReadBytes = 1024;
const scratchBytes = 64 * 1024;

/**
 * Runs parsers, one after the other. The owner of the socket writes received bytes to `writeBuffer` and then calls `advance`.
 * While a parser waits for a buffer to be filled, `writeBuffer` is that buffer: nothing is copied, and one read fills it with
 * all bytes that have arrived.
 */
export class FetchBuffer {
  readonly #createParser: () => Parser<void> | undefined;
  readonly #scratch = Buffer.allocUnsafeSlow(scratchBytes);
  /** The part of the scratch memory that no parser has read yet. */
  #scratchStart = 0;
  #scratchEnd = 0;
  #parser: Parser<void> | undefined;
  #pendingRead: ReadRequest = 0;
  #filledBytes = 0;

  /** `parsers` returns the parser of the next response, or `undefined` when no response is expected. */
  constructor(createParser: () => Parser<void> | undefined) {
    this.#createParser = createParser;
  }

  /** The buffer for the next bytes; never empty. */
  get writeBuffer(): Buffer {
    if (typeof this.#pendingRead === 'object') return this.#pendingRead.subarray(this.#filledBytes);
    return this.#scratch.subarray(this.#scratchEnd);
  }

  /**
   * Must be called after `bytes` bytes are written to `writeBuffer`. Throws errors of the parser, and an error when no
   * response was expected; the rest of the stream is then unreadable.
   */
  advance(bytes: number): void {
    if (typeof this.#pendingRead === 'object') this.#filledBytes += bytes;
    else this.#scratchEnd += bytes;
    for (let data = this.#completeRead(); data !== undefined; data = this.#completeRead()) this.#resumeParser(data);
  }

  /** Like `advance`, for bytes in another buffer. */
  append(chunk: Buffer): void {
    for (let position = 0; position < chunk.length; ) {
      const copied = chunk.copy(this.writeBuffer, 0, position);
      position += copied;
      this.advance(copied);
    }
  }

  /** The data that the parser needs, once all of it has arrived. */
  #completeRead(): Buffer | undefined {
    const pendingRead = this.#pendingRead;
    if (typeof pendingRead === 'object') {
      const copied = this.#scratch.copy(pendingRead, this.#filledBytes, this.#scratchStart, this.#scratchEnd);
      this.#scratchStart += copied;
      this.#filledBytes += copied;
      this.#rewind();
      return this.#filledBytes === pendingRead.length ? pendingRead : undefined;
    }
    // The first step of a response waits for its first byte.
    const minBytes = Math.max(1, pendingRead);
    if (this.#scratchEnd - this.#scratchStart >= minBytes) {
      this.#scratchStart += pendingRead;
      return this.#scratch.subarray(this.#scratchStart - pendingRead, this.#scratchStart);
    }
    this.#rewind();
    if (this.#scratchStart + maxReadBytes > scratchBytes) {
      this.#scratch.copyWithin(0, this.#scratchStart, this.#scratchEnd);
      this.#scratchEnd -= this.#scratchStart;
      this.#scratchStart = 0;
    }
    return undefined;
  }

  #rewind(): void {
    if (this.#scratchStart < this.#scratchEnd) return;
    this.#scratchStart = 0;
    this.#scratchEnd = 0;
  }

  #resumeParser(data: Buffer): void {
    this.#parser ??= this.#createParser();
    if (this.#parser === undefined) throw new Error('Kafka sent data that was not requested');
    this.#filledBytes = 0;
    const { done, value } = this.#parser.next(data);
    if (done === true) this.#parser = undefined;
    this.#pendingRead = done === true ? 0 : value;
  }
}
