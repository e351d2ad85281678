/** Flow control, RFC 9113 section 5.2. */
import { flowControlError } from './errors.ts';
import { defaultWindowBytes, largestWindow } from './frames.ts';

/** A peer may send one WINDOW_UPDATE for this many response bytes. */
const bytesPerUpdate = 1024;

/** The peer's window for all responses. */
export class SendWindow {
  left = defaultWindowBytes;
  #sent = 0;
  #paidFor = 0;

  spend(bytes: number): void {
    this.left -= bytes;
    this.#sent += bytes;
  }

  grow(bytes: number): void {
    this.left += bytes;
    if (this.left > largestWindow) throw flowControlError('the connection’s window is too large');
  }

  /** Returns whether responses permit another WINDOW_UPDATE: a peer that reads much may send many, within reason. */
  canSendUpdate(): boolean {
    if (this.#sent - this.#paidFor < bytesPerUpdate) return false;
    this.#paidFor += bytesPerUpdate;
    return true;
  }
}

/** Returns how much of a window of `full` bytes to return when `left` remain: 0 until half is used. */
export const owed = (left: number, full: number): number => (left > full / 2 ? 0 : full - left);
