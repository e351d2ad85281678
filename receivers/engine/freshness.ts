/** Measures the age of the license keys, plans and limits in memory, and whether they may still admit requests. */
import { runEvery } from '../../runtime/interval.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';

/** Time within which a revocation takes effect, while the configuration store is reachable. */
const maxCurrentAgeMs = 5_000;
const reportEveryMs = 1_000;

type State = 'current' | 'grace' | 'expired';

export interface FreshnessOptions {
  /** Returns the time since all changes were known; infinite if they can never be known again. */
  readonly staleMs: () => number;
  /** Time for which the data in memory stays valid while the store is unreachable. */
  readonly graceMs: number;
  readonly metrics: Pick<Metrics, 'set'>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** Reports once a second: a metric, and one log line for each change of state. */
export class Freshness {
  readonly #options: FreshnessOptions;
  readonly #stopReporting: () => void;
  #reportedState: State = 'current';

  constructor(options: FreshnessOptions) {
    this.#options = options;
    this.#stopReporting = runEvery(reportEveryMs, () => this.report());
    this.report();
  }

  /** Throws `UnavailableError` after the grace period. */
  check(): void {
    if (this.#computeState() === 'expired')
      throw new UnavailableError('license keys cannot be checked now: the configuration store does not answer');
  }

  /** Returns a description of degraded operation while requests are still admitted. */
  describeDegradation(): string | undefined {
    if (this.#computeState() !== 'grace') return undefined;
    const { staleMs, graceMs } = this.#options;
    const remainingSeconds = Math.max(0, Math.ceil((graceMs - staleMs()) / 1000));
    return `the configuration store does not answer; license keys, plans and limits in memory are valid for ${remainingSeconds} more seconds`;
  }

  report(): void {
    const { staleMs, graceMs, metrics, log } = this.#options;
    const stalenessMs = staleMs();
    if (Number.isFinite(stalenessMs)) metrics.set('oiq_license_keys_stale_seconds', stalenessMs / 1000, {});
    const state = this.#computeState();
    if (state === this.#reportedState) return;
    this.#reportedState = state;
    if (state === 'current')
      log.info({}, 'the configuration store answers again: license keys, plans and limits are current');
    else if (state === 'grace')
      log.warn(
        { graceSeconds: graceMs / 1000 },
        'the configuration store does not answer: requests are admitted by the license keys, plans and limits in memory',
      );
    else
      log.error(
        { graceSeconds: graceMs / 1000 },
        'the configuration store does not answer: all ingest requests are answered 503',
      );
  }

  close(): void {
    this.#stopReporting();
  }

  #computeState(): State {
    const stalenessMs = this.#options.staleMs();
    if (stalenessMs <= maxCurrentAgeMs) return 'current';
    return stalenessMs <= this.#options.graceMs ? 'grace' : 'expired';
  }
}
