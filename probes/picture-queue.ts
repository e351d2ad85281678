/** Screenshots that wait to be sent. Those of a later run replace unsent ones; screenshots that are unsent at shutdown are lost. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ProbePicture } from '../schemas/synthetic-work.ts';

/** About twenty megabytes of screenshots */
const maxQueued = 100;
const idleMs = 500;
const maxPauseMs = 60_000;

export class PictureQueue {
  readonly #send: (picture: ProbePicture, signal: AbortSignal) => Promise<void>;
  readonly #pictures = new Map<string, ProbePicture>();

  constructor(send: (picture: ProbePicture, signal: AbortSignal) => Promise<void>) {
    this.#send = send;
  }

  add(picture: ProbePicture): void {
    const key = `${picture.checkId} ${picture.outcome === 'failed'}`;
    this.#pictures.delete(key);
    this.#pictures.set(key, picture);
    const [oldestKey] = this.#pictures.keys();
    if (this.#pictures.size > maxQueued && oldestKey !== undefined) this.#pictures.delete(oldestKey);
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
    for (const [key, picture] of [...this.#pictures]) {
      try {
        await this.#send(picture, signal);
      } catch {
        return false;
      }
      // A later one replaced it in the meantime.
      if (this.#pictures.get(key) === picture) this.#pictures.delete(key);
    }
    return true;
  }
}
