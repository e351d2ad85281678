/** Open and past streams of a connection, RFC 9113 section 5.1. */
import { ConnectionError, createProtocolError, errorCode } from './errors.ts';
import type { Stream } from './stream.ts';

/** Maximum number of stored ids of streams that this side has reset; their frames may still be in transit. */
const maxRememberedResets = 512;

export class Streams {
  readonly #openStreams = new Map<number, Stream>();
  readonly #resetIds = new Set<number>();
  /** Highest number used by the peer. */
  highestId = 0;

  get size(): number {
    return this.#openStreams.size;
  }

  get(id: number): Stream | undefined {
    return this.#openStreams.get(id);
  }

  /** Returns a copy of the list, so that a caller may close streams during iteration. */
  all(): readonly Stream[] {
    return [...this.#openStreams.values()];
  }

  add(stream: Stream): void {
    this.#openStreams.set(stream.id, stream);
  }

  delete({ id }: Stream): void {
    this.#openStreams.delete(id);
  }

  /** Records that this side has reset a stream. */
  recordReset(id: number): void {
    this.#resetIds.add(id);
    if (this.#resetIds.size > maxRememberedResets)
      for (const oldest of this.#resetIds) return void this.#resetIds.delete(oldest);
  }

  /** Checks frames of streams that are not open. Frames of streams that this side has reset are ignored. */
  requireKnownStream(id: number, frameName: string): void {
    this.requireBegun(id, frameName);
    if (!this.#resetIds.has(id))
      throw new ConnectionError(errorCode.streamClosed, `${frameName} for a stream that is closed`);
  }

  requireBegun(id: number, frameName: string): void {
    if (id > this.highestId || id % 2 === 0) throw createProtocolError(`${frameName} for a stream that has not begun`);
  }
}
