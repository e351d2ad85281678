/** Flow control, RFC 9113 section 5.2. */
import { flowControlError } from './errors.ts';
import { defaultWindowBytes, largestWindow } from './frames.ts';

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
    if (this.remaining > largestWindow) throw flowControlError('the connection’s window is too large');
  }

  /** Returns whether responses permit another WINDOW_UPDATE: a peer that reads much may send many, within reason. */
  allowsUpdate(): boolean {
    if (this.#sent - this.#updateCredit < bytesPerUpdate) return false;
    this.#updateCredit += bytesPerUpdate;
    return true;
  }
}

/**
 * Returns by how much to enlarge a receive window of `full` bytes of which `remaining` remain: 0 until half of it is used.
 */
export const windowIncrement = (left: number, full: number): number => (left > full / 2 ? 0 : full - left);
