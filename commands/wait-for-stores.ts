/** A start while a store is unavailable: it waits, like a running process. */
import type { Jobs } from '../runtime/jobs.ts';
import { throttleFailures } from '../runtime/log-throttle.ts';
import { retryUntilAvailable, waitForAll } from '../runtime/retry.ts';
import { rejectOnAbort } from '../runtime/timeout.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import type { Log } from '../schemas/ports/log.ts';

interface Store {
  check(): Promise<void>;
}

/** The steps of a start, each repeated while a store that it needs does not answer. */
export interface PatientStart {
  /** Why the start waits; undefined while it does not wait. */
  reason(): string | undefined;
  /** Checks the stores before each attempt: a stop then need not wait for their answer, unlike for the work. */
  step<Result>(stores: readonly Store[], work: () => Promise<Result>): Promise<Result>;
}

export const createPatientStart = (log: Log, stopping: AbortSignal): PatientStart => {
  let reason: string | undefined;
  const logThrottled = throttleFailures((error) => {
    // The store may have become available in the meantime.
    if (reason !== undefined) log.warn({ error }, 'waiting for a store before the start');
  });
  return {
    reason: () => reason,
    async step(stores, work) {
      const result = await retryUntilAvailable(
        async () => {
          await rejectOnAbort(waitForAll(stores.map((store) => store.check())), stopping);
          return work();
        },
        {
          signal: stopping,
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
export const closingOnFailure = async <Result>(
  { documents, jobs }: Openers,
  work: (openers: Openers) => Promise<Result>,
): Promise<Result> => {
  const closeCallbacks: (() => Promise<void>)[] = [];
  let failed = false;
  const follow: Documents['follow'] = async (definition, onChange) => {
    const feed = await documents.follow(definition, onChange);
    // Several feeds are opened concurrently, and some of them after another has failed.
    if (failed) void feed.close().catch(() => undefined);
    closeCallbacks.push(() => feed.close());
    return feed;
  };
  const start: Jobs['start'] = (job, ports) => {
    const running = jobs.start(job, ports);
    closeCallbacks.push(() => running.stop());
    return running;
  };
  const openers: Openers = {
    documents: {
      forTenant: (tenantId) => documents.forTenant(tenantId),
      ensureCollections: (definitions) => documents.ensureCollections(definitions),
      findInAllTenants: (definition, filter) => documents.findInAllTenants(definition, filter),
      transaction: (transacted) => documents.transaction(transacted),
      check: () => documents.check(),
      close: () => documents.close(),
      follow,
    },
    jobs: { start, stop: () => jobs.stop() },
  };
  try {
    return await work(openers);
  } catch (error) {
    failed = true;
    await Promise.allSettled(closeCallbacks.map((end) => end()));
    throw error;
  }
};
