/** Counts pending requests, and the memory of their bodies. */
import { createErrorResponse, type ErrorResponse } from './error-responses.ts';

const mebibyte = 1024 * 1024;
/** Maximum bytes of bodies that are being read or wait for the bus; further requests receive 503. */
const maxBufferedBytes = 256 * mebibyte;
/** Part of these bytes for browsers, so that a flood through a public key leaves memory for servers. */
const maxBrowserBytes = 96 * mebibyte;
/** Part of these bytes for one visitor: two bodies of the maximum size. */
const maxVisitorBytes = 10 * mebibyte;

const tooManyBodies = createErrorResponse('unavailable', 'too many bodies are being read', 1);
const tooManyOfVisitor = createErrorResponse('rate-limited', 'too many bodies of this browser are being read', 1);

export class InFlight {
  #requests = 0;
  #bufferedBytes = 0;
  #browserBytes = 0;
  readonly #visitorBytes = new Map<string, number>();
  #idleCallbacks: (() => void)[] = [];
  /** If set, new requests are rejected, and connections are closed with their next response. */
  isDraining = false;

  enter(): void {
    this.#requests++;
  }

  leave(): void {
    this.#requests--;
    if (this.#requests === 0) for (const resolve of this.#idleCallbacks.splice(0)) resolve();
  }

  /**
   * Reserves memory. Returns a rejection if there is not enough. `visitor` is the address of a browser; undefined for
   * servers.
   */
  reserveBytes(bytes: number, visitor?: string): ErrorResponse | undefined {
    if (this.#bufferedBytes + bytes > maxBufferedBytes) return tooManyBodies;
    if (visitor !== undefined) {
      const visitorBytes = (this.#visitorBytes.get(visitor) ?? 0) + bytes;
      if (visitorBytes > maxVisitorBytes) return tooManyOfVisitor;
      if (this.#browserBytes + bytes > maxBrowserBytes) return tooManyBodies;
      this.#visitorBytes.set(visitor, visitorBytes);
      this.#browserBytes += bytes;
    }
    this.#bufferedBytes += bytes;
    return undefined;
  }

  release(bytes: number, visitor?: string): void {
    this.#bufferedBytes -= bytes;
    if (visitor === undefined) return;
    this.#browserBytes -= bytes;
    const visitorBytes = (this.#visitorBytes.get(visitor) ?? 0) - bytes;
    if (visitorBytes > 0) this.#visitorBytes.set(visitor, visitorBytes);
    else this.#visitorBytes.delete(visitor);
  }

  /** Resolves when every request has its response. */
  async waitUntilIdle(): Promise<void> {
    if (this.#requests > 0) await new Promise<void>((resolve) => this.#idleCallbacks.push(resolve));
  }
}
