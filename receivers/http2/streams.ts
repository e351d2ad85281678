/** Open and past streams of a connection, RFC 9113 section 5.1. */
import { ConnectionError, errorCode, protocolError } from './errors.ts';
import type { Stream } from './stream.ts';

/** Maximum number of remembered streams that were reset here: their frames may still be in transit. */
const maxRememberedResets = 512;

export class Streams {
  readonly #open = new Map<number, Stream>();
  readonly #resetIds = new Set<number>();
  /** Highest number used by the peer. */
  highestId = 0;

  get size(): number {
    return this.#open.size;
  }

  get(id: number): Stream | undefined {
    return this.#open.get(id);
  }

  /** Returns a copy of the list, so that a caller may close streams during iteration. */
  all(): readonly Stream[] {
    return [...this.#open.values()];
  }

  add(stream: Stream): void {
    this.#open.set(stream.id, stream);
  }

  delete({ id }: Stream): void {
    this.#open.delete(id);
  }

  /** Records that a stream was reset here. */
  recordReset(id: number): void {
    this.#resetIds.add(id);
    if (this.#resetIds.size > maxRememberedResets)
      for (const oldest of this.#resetIds) return void this.#resetIds.delete(oldest);
  }

  /** Checks frames of streams that are not open: frames of streams reset here are ignored. */
  requireKnownStream(id: number, frameName: string): void {
    this.requireBegun(id, frameName);
    if (!this.#resetIds.has(id))
      throw new ConnectionError(errorCode.streamClosed, `${frameName} for a stream that is closed`);
  }

  requireBegun(id: number, what: string): void {
    if (id > this.highestId || id % 2 === 0) throw protocolError(`${what} for a stream that has not begun`);
  }
}
