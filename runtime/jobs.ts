import { hostname } from 'node:os';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import type { Log } from '../schemas/ports/log.ts';
import type { Metrics } from '../schemas/ports/metrics.ts';
import { trackWork } from './current-work.ts';
import { acquireLease } from './leases.ts';
import { waitUpTo } from './timeout.ts';

/**
 * Scheduled work, declared once. A run must be idempotent and interruptible: the next run finishes the work of an
 * interrupted one.
 */
export interface Job<Ports> {
  /** Name of the lease, the metrics and the log lines. Unique. */
  readonly name: string;
  readonly summary: string;
  readonly everyMs: number;
  /**
   * Delay of the first run after a start. The default is a minute, or `everyMs` if that is less, because a start is
   * already busy.
   */
  readonly firstMs?: number;
  /**
   * `installation`: one process at a time runs the job, by a lease, once per `everyMs`. `process`: each process runs
   * the job itself.
   */
  readonly scope: 'installation' | 'process';
  /**
   * Runs the job. Rejections are logged and counted, and the job runs again at its next time. `signal` aborts when the
   * work should end.
   */
  run(ports: Ports, signal: AbortSignal): Promise<void>;
}

export const defineJob = <Ports = void>(job: Job<Ports>): Job<Ports> => job;

export interface RunningJob {
  /** Moves the next run forward to that time, or to now without one. Requests another run if one is in progress. */
  wake(atMs?: number): void;
  /** Waits for the run in progress, and starts no more. */
  stop(): Promise<void>;
}

export interface Jobs {
  start<Ports>(job: Job<Ports>, ports: Ports): RunningJob;
  /** Aborts the runs in progress and waits for them, at most ten seconds. */
  stop(): Promise<void>;
}

export interface JobsOptions {
  readonly documents: Pick<Documents, 'forTenant'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How long the leases of a crashed process remain valid. */
  readonly leaseMs?: number;
}

const stopTimeoutMs = 10_000;
const defaultFirstMs = 60_000;
/** Maximum clock difference between processes. */
const clockSkewMs = 1000;

/** Fires once, at the earliest of the times that were set since it last fired. */
interface Alarm {
  set(atMs: number): void;
  start(): void;
  stop(): void;
}

/** A timer is limited to 24.8 days, and the clock may be set forward, so the time is checked again after an hour. */
const maxTimerMs = 3_600_000;

const createAlarm = (clock: Clock, onDue: () => void): Alarm => {
  let timer: NodeJS.Timeout | undefined;
  let dueMs = Number.POSITIVE_INFINITY;
  const start = (): void => {
    clearTimeout(timer);
    const remainingMs = Math.max(0, dueMs - clock.now());
    timer = setTimeout(
      () => {
        // Fires once the complete delay has passed, even if the clock was set back in the meantime.
        if (remainingMs > maxTimerMs && dueMs > clock.now()) return start();
        dueMs = Number.POSITIVE_INFINITY;
        onDue();
      },
      Math.min(remainingMs, maxTimerMs),
    );
    timer.unref();
  };
  return {
    set(atMs) {
      dueMs = Math.min(dueMs, atMs);
    },
    start,
    stop: () => clearTimeout(timer),
  };
};

/** Runs jobs until `stop`. Every run is counted in `oiq_job_*`, and failures are logged with the job's name. */
export const openJobs = ({ leaseMs, ...runtime }: JobsOptions): Jobs => {
  const { clock, log, metrics } = runtime;
  const stopController = new AbortController();
  const runningJobs: RunningJob[] = [];
  const lease = {
    ...runtime,
    holder: `${hostname()}:${process.pid}`,
    ...(leaseMs !== undefined && { durationMs: leaseMs }),
  };

  /** Runs the job, and returns whether it succeeded. */
  const runJob = async <Ports>({ name, run }: Job<Ports>, ports: Ports, signal: AbortSignal): Promise<boolean> => {
    const startedMs = clock.now();
    let hasSucceeded = true;
    try {
      await trackWork(`job ${name}`, () => run(ports, signal));
      metrics.set('oiq_job_last_success_timestamp_seconds', clock.now() / 1_000, { job: name });
    } catch (error) {
      hasSucceeded = false;
      if (!stopController.signal.aborted) log.error({ error, job: name }, 'a job failed; it is tried again');
    }
    metrics.add('oiq_job_runs_total', 1, { job: name, outcome: hasSucceeded ? 'success' : 'failure' });
    metrics.observe('oiq_job_duration_seconds', (clock.now() - startedMs) / 1_000, { job: name });
    return hasSucceeded;
  };

  /** Runs the job if it is due, and returns the time of the next check. */
  const runOnce = async <Ports>(job: Job<Ports>, ports: Ports, isEarlyRun: boolean): Promise<number> => {
    const nextMs = clock.now() + job.everyMs;
    if (job.scope === 'process') {
      await runJob(job, ports, stopController.signal);
      return nextMs;
    }
    const acquiredLease = await acquireLease(job.name, lease, {
      ignoresNotBefore: isEarlyRun,
      everyMs: job.everyMs + clockSkewMs,
    });
    if ('freeAtMs' in acquiredLease) return Math.min(nextMs, acquiredLease.freeAtMs);
    const hasSucceeded = await runJob(job, ports, AbortSignal.any([stopController.signal, acquiredLease.lost]));
    // Another process may immediately continue the work that the stop interrupted.
    await acquiredLease.release(hasSucceeded && !stopController.signal.aborted ? nextMs : 0);
    return nextMs;
  };

  const start = <Ports>(job: Job<Ports>, ports: Ports): RunningJob => {
    let run: Promise<void> | undefined;
    let isNextRunEarly = false;
    let isStopped = false;
    const startAlarm = (): void => {
      if (run === undefined && !isStopped) alarm.start();
    };
    const alarm = createAlarm(clock, () => {
      const isEarly = isNextRunEarly;
      isNextRunEarly = false;
      run = runOnce(job, ports, isEarly)
        .catch((error: unknown) => {
          log.warn({ error, job: job.name }, 'the lease of a job could not be acquired; this is retried');
          return clock.now() + Math.min(job.everyMs, defaultFirstMs);
        })
        .then((nextMs) => {
          run = undefined;
          alarm.set(nextMs);
          startAlarm();
        });
    });
    alarm.set(clock.now() + (job.firstMs ?? Math.min(job.everyMs, defaultFirstMs)));
    alarm.start();
    const runningJob: RunningJob = {
      wake(atMs = clock.now()) {
        isNextRunEarly = true;
        alarm.set(atMs);
        startAlarm();
      },
      async stop() {
        isStopped = true;
        alarm.stop();
        await run;
      },
    };
    runningJobs.push(runningJob);
    return runningJob;
  };

  return {
    start,
    async stop() {
      stopController.abort();
      await waitUpTo(stopTimeoutMs, Promise.all(runningJobs.map((job) => job.stop())));
    },
  };
};
