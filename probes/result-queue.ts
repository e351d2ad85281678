/** Results that wait to be sent: at most those of an hour, the oldest first. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../schemas/ports/log.ts';
import type { ProbeResult } from '../schemas/synthetic-work.ts';

/** Maximum results per request */
const maxPerRequest = 100;
const retentionMs = 3_600_000;
/**
 * A thousand checks that run every ten seconds would produce ten times as many results in an hour: then the oldest are
 * discarded, and the loss is reported.
 */
const maxQueued = 36_000;
const idleMs = 100;
const maxPauseMs = 15_000;

export class ResultQueue {
  readonly #send: (results: readonly ProbeResult[], signal: AbortSignal) => Promise<void>;
  readonly #log: Log;
  #results: ProbeResult[] = [];

  constructor(send: (results: readonly ProbeResult[], signal: AbortSignal) => Promise<void>, log: Log) {
    this.#send = send;
    this.#log = log;
  }

  get size(): number {
    return this.#results.length;
  }

  add(result: ProbeResult): void {
    this.#results.push(result);
    const oldestMs = result.startedAtMs - retentionMs;
    const remaining = this.#results.filter(({ startedAtMs }) => startedAtMs >= oldestMs).slice(-maxQueued);
    const lostCount = this.#results.length - remaining.length;
    if (lostCount > 0) this.#log.warn({ lost: lostCount }, 'results could not be sent for an hour and were discarded');
    this.#results = remaining;
  }

  /** Sends until the signal aborts, and then sends the rest until an attempt fails. */
  async run(signal: AbortSignal): Promise<void> {
    let pauseMs = idleMs;
    while (!signal.aborted) {
      const isSent = await this.#sendBatch(signal);
      pauseMs = isSent ? idleMs : Math.min(pauseMs * 2, maxPauseMs);
      if (isSent && this.#results.length > 0) continue;
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    while (this.#results.length > 0 && (await this.#sendBatch(AbortSignal.timeout(5000))));
  }

  async #sendBatch(signal: AbortSignal): Promise<boolean> {
    const results = this.#results.slice(0, maxPerRequest);
    if (results.length === 0) return true;
    try {
      await this.#send(results, signal);
      const sentResults = new Set(results);
      this.#results = this.#results.filter((result) => !sentResults.has(result));
      return true;
    } catch {
      // The platform accepts repeated results only once.
      return false;
    }
  }
}
