/** Flow control, RFC 9113 section 5.2. */
import { createFlowControlError } from './errors.ts';
import { defaultWindowBytes, maxWindowBytes } from './frames.ts';

/** A peer may send one WINDOW_UPDATE for this many response bytes. */
const bytesPerUpdate = 1024;

/** The peer's window for all responses. */
export class SendWindow {
  remaining = defaultWindowBytes;
  #sent = 0;
  #updateCredit = 0;

  consume(bytes: number): void {
    this.remaining -= bytes;
    this.#sent += bytes;
  }

  grow(bytes: number): void {
    this.remaining += bytes;
    if (this.remaining > maxWindowBytes) throw createFlowControlError('the connection’s window is too large');
  }

  /** Returns whether responses permit another WINDOW_UPDATE: the limit grows with the bytes that the peer has read. */
  allowsUpdate(): boolean {
    if (this.#sent - this.#updateCredit < bytesPerUpdate) return false;
    this.#updateCredit += bytesPerUpdate;
    return true;
  }
}

/**
 * Returns by how much to enlarge a receive window of `full` bytes with `left` bytes remaining: 0 until half of it is used.
 */
export const computeWindowIncrement = (remainingBytes: number, windowBytes: number): number =>
  remainingBytes > windowBytes / 2 ? 0 : windowBytes - remainingBytes;
