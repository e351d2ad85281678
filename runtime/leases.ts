import type { Clock } from '../schemas/ports/clock.ts';
import { ConflictError, type Documents, defineCollection, platformTenant } from '../schemas/ports/documents.ts';
import { parseSavedDueMs } from './due-time.ts';

/** Holder of a lease and the time from which it can be acquired again */
interface LeaseFields {
  readonly holder: string;
  /** ISO 8601 time at which the lease expires. */
  readonly until: string;
  /** ISO 8601 time. The lease is not granted before, except to a request with `early`. */
  readonly notBefore: string;
}

export const leases = defineCollection<LeaseFields>({ name: 'leases' });

/** An acquired lease, which is renewed until it is released. */
export interface Lease {
  /** Aborts when the lease is lost because another process acquired it or a renewal failed. The work should end. */
  readonly lost: AbortSignal;
  /**
   * Releases the lease, which is not granted again before `notBeforeMs`. Never rejects: a lease that cannot be released
   * expires.
   */
  release(notBeforeMs?: number): Promise<void>;
}

/** Result if the lease is not available: the time until the next attempt is worthwhile. */
export interface UnavailableLease {
  readonly freeAtMs: number;
}

export interface LeaseOptions {
  readonly documents: Pick<Documents, 'forTenant'>;
  readonly clock: Clock;
  /** Unique name of this process. */
  readonly holder: string;
  /** How long the lease of a crashed holder remains. Default: 30 seconds. */
  readonly durationMs?: number;
}

/** Options of a request for a lease. */
export interface LeaseRequest {
  /** Whether to grant the lease before `notBefore`. */
  readonly ignoresNotBefore?: boolean;
  /** Maximum time from now until `notBefore` (`parseSavedDueMs`). Unlimited by default. */
  readonly everyMs?: number;
}

/**
 * Acquires the lease of that name, or returns when it may be available. Compare-and-set on the document's version
 * decides between concurrent requests. Clocks of processes may differ, and a paused holder may continue briefly after
 * it lost the lease. Therefore leased work must be idempotent.
 */
export const acquireLease = async (
  name: string,
  { documents, clock, holder, durationMs = 30_000 }: LeaseOptions,
  { ignoresNotBefore = false, everyMs = Number.POSITIVE_INFINITY }: LeaseRequest = {},
): Promise<Lease | UnavailableLease> => {
  const collection = documents.forTenant(platformTenant).collection(leases);
  const toIsoTime = (ms: number): string => new Date(ms).toISOString();
  const buildFields = () => ({ holder, until: toIsoTime(clock.now() + durationMs), notBefore: toIsoTime(0) });
  let heldDocument: { version: number };
  try {
    const leaseDocument = await collection.find(name);
    const nowMs = clock.now();
    // Twice the duration: another process may have a longer lease, and clocks differ slightly.
    const freeAtMs = leaseDocument === undefined ? 0 : parseSavedDueMs(leaseDocument.until, nowMs, 2 * durationMs);
    const notBeforeMs =
      leaseDocument === undefined || ignoresNotBefore ? 0 : parseSavedDueMs(leaseDocument.notBefore, nowMs, everyMs);
    if (Math.max(freeAtMs, notBeforeMs) > nowMs) return { freeAtMs: Math.max(freeAtMs, notBeforeMs) };
    heldDocument =
      leaseDocument === undefined
        ? await collection.insert({ id: name, ...buildFields() })
        : await collection.update(name, buildFields(), leaseDocument.version);
  } catch (error) {
    if (error instanceof ConflictError) return { freeAtMs: clock.now() + durationMs };
    throw error;
  }

  const lost = new AbortController();
  let untilMs = clock.now() + durationMs;
  let renewal: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    const nextMs = clock.now() + durationMs;
    try {
      heldDocument = await collection.update(name, buildFields(), heldDocument.version);
      untilMs = nextMs;
    } catch (error) {
      if (error instanceof ConflictError || clock.now() >= untilMs) lost.abort();
    }
    if (lost.signal.aborted) clearInterval(timer);
  };
  const timer = setInterval(() => {
    renewal = renewal.then(renew);
  }, durationMs / 3);
  timer.unref();

  return {
    lost: lost.signal,
    async release(notBeforeMs = 0) {
      clearInterval(timer);
      await renewal;
      if (lost.signal.aborted) return;
      await collection
        .update(name, { until: toIsoTime(clock.now()), notBefore: toIsoTime(notBeforeMs) }, heldDocument.version)
        .catch(() => undefined);
    },
  };
};
