/** Which streams of a connection there are, and which there have been, RFC 9113 section 5.1. */
import { ConnectionError, errorCode, protocolError } from './errors.ts';
import type { Stream } from './stream.ts';

/** Numbers of streams that were reset here, so far back: frames of theirs may still be under way. */
const maxRememberedResets = 512;

export class Streams {
  readonly #open = new Map<number, Stream>();
  readonly #reset = new Set<number>();
  /** The highest number that a peer has used. */
  last = 0;

  get size(): number {
    return this.#open.size;
  }

  get(id: number): Stream | undefined {
    return this.#open.get(id);
  }

  /** A copy of the list: a caller may close streams while it iterates. */
  all(): readonly Stream[] {
    return [...this.#open.values()];
  }

  add(stream: Stream): void {
    this.#open.set(stream.id, stream);
  }

  delete({ id }: Stream): void {
    this.#open.delete(id);
  }

  /** It was reset here. */
  noteReset(id: number): void {
    this.#reset.add(id);
    if (this.#reset.size > maxRememberedResets)
      for (const oldest of this.#reset) return void this.#reset.delete(oldest);
  }

  /** For frames of streams that are not open: of those that were reset here they are let pass. */
  mustHaveBeen(id: number, what: string): void {
    this.mustHaveBegun(id, what);
    if (!this.#reset.has(id)) throw new ConnectionError(errorCode.streamClosed, `${what} for a stream that is over`);
  }

  mustHaveBegun(id: number, what: string): void {
    if (id > this.last || id % 2 === 0) throw protocolError(`${what} for a stream that has not begun`);
  }
}
