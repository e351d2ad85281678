/** Starts while a store is unavailable: the start waits, like a running process. */
import type { Jobs } from '../runtime/jobs.ts';
import { throttleFailures } from '../runtime/log-throttle.ts';
import { retryUntilAvailable, waitForAll } from '../runtime/retry.ts';
import { rejectOnAbort } from '../runtime/timeout.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import type { Log } from '../schemas/ports/log.ts';

interface Store {
  check(): Promise<void>;
}

/** Runs the steps of a start, and repeats each step while a store that it needs does not respond. */
export interface RetryingStart {
  /** Why the start waits; undefined while it does not wait. */
  getReason(): string | undefined;
  /** Checks the stores before each attempt: then a stop need not wait for their response, unlike for the work. */
  runStep<Result>(stores: readonly Store[], work: () => Promise<Result>): Promise<Result>;
}

export const createRetryingStart = (log: Log, stopSignal: AbortSignal): RetryingStart => {
  let reason: string | undefined;
  const logThrottled = throttleFailures((error) => {
    // The store may have become available in the meantime.
    if (reason !== undefined) log.warn({ error }, 'waiting for a store before the start');
  });
  return {
    getReason: () => reason,
    async runStep(stores, work) {
      const result = await retryUntilAvailable(
        async () => {
          await rejectOnAbort(waitForAll(stores.map((store) => store.check())), stopSignal);
          return work();
        },
        {
          signal: stopSignal,
          onUnavailable(error) {
            reason = error.message;
            logThrottled('start', error);
          },
        },
      );
      reason = undefined;
      return result;
    },
  };
};

interface Openers {
  readonly documents: Documents;
  readonly jobs: Jobs;
}

/** Runs the work. If it fails, closes the change feeds and jobs that it opened, because the work may be retried. */
export const runAndCloseOnFailure = async <Result>(
  { documents, jobs }: Openers,
  work: (openers: Openers) => Promise<Result>,
): Promise<Result> => {
  const closeCallbacks: (() => Promise<void>)[] = [];
  let hasFailed = false;
  const follow: Documents['follow'] = async (definition, onChange) => {
    const feed = await documents.follow(definition, onChange);
    // Several feeds are opened concurrently, and some of them after another has failed.
    if (hasFailed) void feed.close().catch(() => undefined);
    closeCallbacks.push(() => feed.close());
    return feed;
  };
  const start: Jobs['start'] = (job, ports) => {
    const runningJob = jobs.start(job, ports);
    closeCallbacks.push(() => runningJob.stop());
    return runningJob;
  };
  const openers: Openers = {
    documents: {
      forTenant: (tenantId) => documents.forTenant(tenantId),
      ensureCollections: (definitions) => documents.ensureCollections(definitions),
      findInAllTenants: (definition, filter) => documents.findInAllTenants(definition, filter),
      transaction: (work) => documents.transaction(work),
      check: () => documents.check(),
      close: () => documents.close(),
      follow,
    },
    jobs: { start, stop: () => jobs.stop() },
  };
  try {
    return await work(openers);
  } catch (error) {
    hasFailed = true;
    await Promise.allSettled(closeCallbacks.map((close) => close()));
    throw error;
  }
};
