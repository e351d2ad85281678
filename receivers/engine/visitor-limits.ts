/**
 * Limits of one visitor of a page: requests and bytes of a browser key from one address or of one session, in this
 * instance. A flood through a public key must not use up the limits of the key for all visitors.
 */
import type { Clock } from '../../schemas/ports/clock.ts';
import { createErrorResponse, type ErrorResponse } from './error-responses.ts';

const requestsPerMinute = 600;
const requestsBurst = 120;
const bytesPerMinute = 20 * 1024 * 1024;
const maxVisitors = 50_000;
const minuteMs = 60_000;

const tooManyRequests = createErrorResponse('rate-limited', 'too many requests a minute from this browser', 10);
const tooManyBytes = createErrorResponse('rate-limited', 'too many bytes a minute from this browser', 60);

interface Visitor {
  requests: number;
  bytes: number;
  atMs: number;
}

export class VisitorLimits {
  readonly #clock: Clock;
  readonly #visitors = new Map<string, Visitor>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a request. Returns undefined within the limit. */
  countRequest(keyId: string, visitorId: string): ErrorResponse | undefined {
    const visitor = this.#refill(keyId, visitorId);
    if (visitor.bytes <= 0) return tooManyBytes;
    if (visitor.requests < 1) return tooManyRequests;
    visitor.requests--;
    return undefined;
  }

  /** Counts the bytes of a request that was accepted. They may exceed the limit once, and delay the next requests. */
  countBytes(keyId: string, visitorId: string, bytes: number): void {
    this.#refill(keyId, visitorId).bytes -= bytes;
  }

  #refill(keyId: string, visitorId: string): Visitor {
    const nowMs = this.#clock.now();
    const id = `${keyId} ${visitorId}`;
    let visitor = this.#visitors.get(id);
    if (visitor === undefined) {
      if (this.#visitors.size >= maxVisitors) this.#forgetIdle(nowMs);
      visitor = { requests: requestsBurst, bytes: bytesPerMinute, atMs: nowMs };
      this.#visitors.set(id, visitor);
      return visitor;
    }
    const elapsed = Math.max(0, nowMs - visitor.atMs) / minuteMs;
    visitor.requests = Math.min(requestsBurst, visitor.requests + elapsed * requestsPerMinute);
    visitor.bytes = Math.min(bytesPerMinute, visitor.bytes + elapsed * bytesPerMinute);
    visitor.atMs = nowMs;
    return visitor;
  }

  /** Removes visitors without a request for a minute; removes all if too many remain. */
  #forgetIdle(nowMs: number): void {
    for (const [id, { atMs }] of this.#visitors) if (nowMs - atMs > minuteMs) this.#visitors.delete(id);
    if (this.#visitors.size >= maxVisitors) this.#visitors.clear();
  }
}
