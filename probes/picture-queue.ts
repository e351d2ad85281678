/** Pictures that wait to be sent. Those of a later run replace unsent ones; unsent pictures at the end are lost. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ProbePicture } from '../schemas/synthetic-work.ts';

/** Twenty megabytes. */
const maxQueued = 100;
const idleMs = 500;
const maxPauseMs = 60_000;

export class PictureQueue {
  readonly #send: (picture: ProbePicture, signal: AbortSignal) => Promise<void>;
  readonly #waiting = new Map<string, ProbePicture>();

  constructor(send: (picture: ProbePicture, signal: AbortSignal) => Promise<void>) {
    this.#send = send;
  }

  add(picture: ProbePicture): void {
    const key = `${picture.checkId} ${picture.outcome === 'failed'}`;
    this.#waiting.delete(key);
    this.#waiting.set(key, picture);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > maxQueued && oldest !== undefined) this.#waiting.delete(oldest);
  }

  /** Sends until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    let pauseMs = idleMs;
    while (!signal.aborted) {
      const isSent = await this.#sendAll(signal);
      pauseMs = isSent ? idleMs : Math.min(pauseMs * 2, maxPauseMs);
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #sendAll(signal: AbortSignal): Promise<boolean> {
    for (const [key, picture] of [...this.#waiting]) {
      try {
        await this.#send(picture, signal);
      } catch {
        return false;
      }
      // A later one replaced it in the meantime.
      if (this.#waiting.get(key) === picture) this.#waiting.delete(key);
    }
    return true;
  }
}
