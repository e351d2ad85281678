/** Reports bodies that wait for a worker: those of browsers, large ones, and those whose secrets are replaced. */
import { runEvery } from '../../runtime/interval.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { Offload } from './offload.ts';

const reportEveryMs = 1_000;
/** Threshold of the waiting time. Preparing a body takes a few seconds at most. */
const maxWaitMs = 15_000;

/** The queue of a worker, as `Offload` has it. */
export type WatchedOffload = Pick<Offload, 'pending' | 'getOldestMs'>;

export interface OffloadWatchOptions {
  /** Queues by the name of their bodies, for metrics and messages */
  readonly offloads: Readonly<Record<string, WatchedOffload>>;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Reports once a second: metrics, and a log line when bodies begin to wait too long, and when that ends. */
export class OffloadWatch {
  readonly #options: OffloadWatchOptions;
  readonly #stopReporting: () => void;
  #hasReported = false;

  constructor(options: OffloadWatchOptions) {
    this.#options = options;
    this.#stopReporting = runEvery(reportEveryMs, () => this.report());
    this.report();
  }

  /** Returns the names of the bodies that have been waiting too long; undefined if there are none. */
  describeDegradation(): string | undefined {
    const stalled = Object.entries(this.#options.offloads).filter(([, offload]) => offload.getOldestMs() > maxWaitMs);
    if (stalled.length === 0) return undefined;
    return stalled
      .map(
        ([bodies, offload]) =>
          `${offload.pending} ${bodies} bodies wait to be checked, the oldest for ${Math.round(offload.getOldestMs() / 1000)} seconds; their senders have no response`,
      )
      .join('; ');
  }

  report(): void {
    const { offloads, metrics, log } = this.#options;
    for (const [bodies, offload] of Object.entries(offloads)) {
      metrics.set('oiq_ingest_waiting_bodies', offload.pending, { bodies });
      metrics.set('oiq_ingest_waiting_oldest_seconds', offload.getOldestMs() / 1000, { bodies });
    }
    const degradation = this.describeDegradation();
    if ((degradation !== undefined) === this.#hasReported) return;
    this.#hasReported = degradation !== undefined;
    if (degradation === undefined) log.info({}, 'bodies are checked again');
    else log.warn({}, degradation);
  }

  close(): void {
    this.#stopReporting();
  }
}
