/**
 * Quotas of bytes per tenant, day and month, in shared counters. Counts that the counters have lost (by a restart, if
 * they are in memory) are restored from the ledger before the first byte is granted. They are restored again once a minute,
 * because the ledger lags by the requests in flight.
 */

import { waitUpTo } from '../../runtime/timeout.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { getQuotaWindow, type QuotaWindow } from '../../schemas/resources/quota.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';
import { createErrorResponse, type ErrorResponse } from './error-responses.ts';
import type { ByteThreshold, Caller, KeyScope } from './keyring.ts';
import { type GrantTokens, TokenLease } from './token-lease.ts';
import type { ReadUsedBytes } from './used-bytes.ts';

const dayMs = 86_400_000;
const maxLeaseBytes = 1024 * 1024;
const maxLeases = 10_000;
const idleMs = 60_000;
/** Interval at which all instances in total read the ledger once. */
const seedEveryMs = 60_000;
/** Maximum wait of the first request for the ledger. */
const seedWaitMs = 2_000;

const isKeyScope = (scope: ByteThreshold['scope']): scope is KeyScope => scope.startsWith('key/');

interface QuotaLease {
  readonly limit: number;
  readonly endMs: number;
  readonly tokens: TokenLease;
}

/**
 * Returns the window length for the counters. Their windows are aligned to the epoch, so a window of the epoch's age at
 * the month's end ends with the month.
 */
const getWindowLengthMs = (window: QuotaWindow, endMs: number): number => (window === 'day' ? dayMs : endMs);
const getCounterKey = (tenantId: string, { window, scope }: ByteThreshold): string =>
  `ingest/bytes/${tenantId}${scope === 'total' ? '' : `/${scope}`}${window === 'day' ? '' : '/month'}`;

const createQuotaRejection = (
  { window, scope, bytes, isPlan: isPlanLimit }: ByteThreshold,
  endMs: number,
  nowMs: number,
): ErrorResponse => {
  const resetNote = `it resets at ${new Date(endMs).toISOString().slice(0, 16)}Z`;
  if (isKeyScope(scope)) return createKeyRejection(endMs, nowMs);
  const message = isPlanLimit
    ? 'the daily ingest volume of the plan is used up; it resets at 00:00 UTC'
    : `the quota of ${bytes} bytes a ${window}${scope === 'total' ? '' : ` of ${scope}`} is used up; ${resetNote}`;
  return { ...createErrorResponse('rate-limited', message, Math.ceil((endMs - nowMs) / 1000)), reason: 'quota' };
};

const createKeyRejection = (endMs: number, nowMs: number): ErrorResponse => ({
  ...createErrorResponse(
    'rate-limited',
    'the daily volume of this browser key is used up; it resets at 00:00 UTC',
    Math.ceil((endMs - nowMs) / 1000),
  ),
  reason: 'quota',
});

export interface QuotasOptions {
  readonly counters: Counters;
  readonly clock: Clock;
  readonly log: Log;
  /** Without it, counts that the counters have lost are granted again. */
  readonly readUsedBytes: ReadUsedBytes | undefined;
}

export class Quotas {
  readonly #options: QuotasOptions;
  readonly #leases = new Map<string, QuotaLease>();

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  /**
   * Counts bytes against every threshold of the telemetry signal, or against none. Returns undefined if they are within
   * all.
   */
  spend(caller: Caller, signal: Signal, bytes: number): ErrorResponse | undefined | Promise<ErrorResponse | undefined> {
    const thresholds = caller.thresholds[signal];
    if (thresholds.length === 0) return undefined;
    const now = this.#options.clock.now();
    const leases = thresholds.map((threshold) => this.#findLease(caller.tenantId, threshold, now));
    const grants = leases.map(({ tokens }) => tokens.acquire(bytes));
    if (grants.every((granted) => granted === true)) return undefined;
    return this.#settle(grants, thresholds, leases, bytes);
  }

  /** Returns the bytes to all other thresholds if one rejects them. */
  async #settle(
    pending: readonly (boolean | Promise<boolean>)[],
    thresholds: readonly ByteThreshold[],
    leases: readonly QuotaLease[],
    bytes: number,
  ): Promise<ErrorResponse | undefined> {
    const grants = await Promise.all(pending);
    const rejectedIndex = grants.indexOf(false);
    const [threshold, refusingLease] = [thresholds[rejectedIndex], leases[rejectedIndex]];
    if (threshold === undefined || refusingLease === undefined) return undefined;
    for (const [index, { tokens }] of leases.entries()) if (grants[index]) tokens.returnTokens(bytes);
    return createQuotaRejection(threshold, refusingLease.endMs, this.#options.clock.now());
  }

  #findLease(tenantId: string, threshold: ByteThreshold, now: number): QuotaLease {
    const { window, scope, bytes: limit } = threshold;
    const name = `${tenantId}/${window}/${scope}`;
    const currentLease = this.#leases.get(name);
    if (currentLease !== undefined && currentLease.limit === limit && now < currentLease.endMs) return currentLease;
    this.#forgetIdle(now);
    const { fromMs, endMs } = getQuotaWindow(window, now);
    const lease = Math.max(1, Math.min(maxLeaseBytes, Math.floor(limit / 100)));
    const grant = this.#createGrant(tenantId, threshold, fromMs, getWindowLengthMs(window, endMs));
    const quotaLease: QuotaLease = { limit, endMs, tokens: new TokenLease(grant, this.#options.clock, lease) };
    this.#leases.set(name, quotaLease);
    return quotaLease;
  }

  #createGrant(tenantId: string, threshold: ByteThreshold, fromMs: number, windowMs: number): GrantTokens {
    const { counters, clock } = this.#options;
    const counter = getCounterKey(tenantId, threshold);
    let seededAt: number | undefined;
    return async (amount) => {
      const now = clock.now();
      if (seededAt === undefined || now - seededAt > seedEveryMs) {
        const isFirst = seededAt === undefined;
        seededAt = now;
        const seeding = this.#seed(tenantId, threshold, fromMs, windowMs);
        if (isFirst) await waitUpTo(seedWaitMs, seeding);
      }
      const { granted, resetMs } = await counters.spend(counter, threshold.bytes, windowMs, amount);
      return { granted, retryAfterMs: resetMs, validMs: resetMs };
    };
  }

  /** Raises the counter to the value of the ledger. Never rejects. */
  async #seed(tenantId: string, threshold: ByteThreshold, fromMs: number, windowMs: number): Promise<void> {
    const { counters, readUsedBytes, log } = this.#options;
    const { scope } = threshold;
    // The ledger has no volume of single keys.
    if (readUsedBytes === undefined || isKeyScope(scope)) return;
    const counter = getCounterKey(tenantId, threshold);
    try {
      const { granted } = await counters.consume(`${counter}/seed`, { rate: 1000 / seedEveryMs, burst: 1 }, 1);
      if (granted === 0) return;
      const ledgerBytes = await readUsedBytes(tenantId, scope, fromMs);
      const { used: counterBytes } = await counters.spend(counter, Number.MAX_SAFE_INTEGER, windowMs, 0);
      if (ledgerBytes > counterBytes)
        await counters.spend(counter, Number.MAX_SAFE_INTEGER, windowMs, ledgerBytes - counterBytes);
    } catch (error) {
      log.warn({ tenantId, error }, 'the usage of a quota could not be read from the ledger');
    }
  }

  #forgetIdle(now: number): void {
    if (this.#leases.size < maxLeases) return;
    for (const [name, { tokens }] of this.#leases) if (tokens.usedAt < now - idleMs) this.#leases.delete(name);
    if (this.#leases.size >= maxLeases) this.#leases.clear();
  }
}
