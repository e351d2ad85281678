import type { Clock } from '../schemas/ports/clock.ts';
import { ConflictError, type Documents, defineCollection, platformTenant } from '../schemas/ports/documents.ts';
import { savedDueMs } from './due-time.ts';

/** Which process holds the lease, and when it may be taken again. */
interface LeaseFields {
  readonly holder: string;
  /** ISO-8601. The lease is free from then on. */
  readonly until: string;
  /** ISO-8601. The lease is not given before, except to a caller that asks for it early. */
  readonly notBefore: string;
}

export const leases = defineCollection<LeaseFields>({ name: 'leases' });

/** A lease that is held. It is renewed until it is released. */
export interface Lease {
  /** Aborts when the lease is lost: another took it, or it could not be renewed in time. The work should end. */
  readonly lost: AbortSignal;
  /** Releases the lease; it is not given again before `notBeforeMs`. Never rejects: a lease that cannot be released expires. */
  release(notBeforeMs?: number): Promise<void>;
}

/** Why a lease was not given: how long until it is worth asking again. */
export interface NoLease {
  readonly freeAtMs: number;
}

export interface LeaseOptions {
  readonly documents: Pick<Documents, 'of'>;
  readonly clock: Clock;
  /** Names this process among all. */
  readonly holder: string;
  /** How long a holder that vanished keeps others waiting. Default 30 seconds. */
  readonly forMs?: number;
}

/** How the lease is asked for. */
export interface LeaseRequest {
  /** Also before `notBefore`. */
  readonly early?: boolean;
  /** How far ahead `notBefore` may lie (`savedDueMs`). Default any. */
  readonly everyMs?: number;
}

/**
 * Takes the lease of that name, or says when it may be free. Compare-and-set on the document's version decides between two
 * that ask at once. Clocks of processes may differ, and a paused holder may go on for a moment after it lost the lease, so leased
 * work must bear being done twice.
 */
export const acquireLease = async (
  name: string,
  { documents, clock, holder, forMs = 30_000 }: LeaseOptions,
  { early = false, everyMs = Number.POSITIVE_INFINITY }: LeaseRequest = {},
): Promise<Lease | NoLease> => {
  const stored = documents.of(platformTenant).collection(leases);
  const iso = (ms: number): string => new Date(ms).toISOString();
  const fields = () => ({ holder, until: iso(clock.now() + forMs), notBefore: iso(0) });
  let held: { version: number };
  try {
    const found = await stored.find(name);
    const nowMs = clock.now();
    // Twice as long: another process may have been given a longer one, and clocks differ a little.
    const freeAtMs = found === undefined ? 0 : savedDueMs(found.until, nowMs, 2 * forMs);
    const notBeforeMs = found === undefined || early ? 0 : savedDueMs(found.notBefore, nowMs, everyMs);
    if (Math.max(freeAtMs, notBeforeMs) > nowMs) return { freeAtMs: Math.max(freeAtMs, notBeforeMs) };
    held =
      found === undefined
        ? await stored.insert({ id: name, ...fields() })
        : await stored.update(name, fields(), found.version);
  } catch (error) {
    if (error instanceof ConflictError) return { freeAtMs: clock.now() + forMs };
    throw error;
  }

  const lost = new AbortController();
  let untilMs = clock.now() + forMs;
  let renewing: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    const nextMs = clock.now() + forMs;
    try {
      held = await stored.update(name, fields(), held.version);
      untilMs = nextMs;
    } catch (error) {
      if (error instanceof ConflictError || clock.now() >= untilMs) lost.abort();
    }
    if (lost.signal.aborted) clearInterval(timer);
  };
  const timer = setInterval(() => {
    renewing = renewing.then(renew);
  }, forMs / 3);
  timer.unref();

  return {
    lost: lost.signal,
    async release(notBeforeMs = 0) {
      clearInterval(timer);
      await renewing;
      if (lost.signal.aborted) return;
      await stored
        .update(name, { until: iso(clock.now()), notBefore: iso(notBeforeMs) }, held.version)
        .catch(() => undefined);
    },
  };
};
