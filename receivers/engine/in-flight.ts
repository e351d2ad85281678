/** Counts pending requests, and the memory of their bodies. */

/** Maximum bytes of bodies that are being read or wait for the bus; further requests receive 503. */
const maxBufferedBytes = 256 * 1024 * 1024;

export class InFlight {
  #requests = 0;
  #bufferedBytes = 0;
  #idleCallbacks: (() => void)[] = [];
  /** Set once: new requests are rejected, and connections are closed with their next response. */
  isDraining = false;

  enter(): void {
    this.#requests++;
  }

  leave(): void {
    this.#requests--;
    if (this.#requests === 0) for (const resolve of this.#idleCallbacks.splice(0)) resolve();
  }

  /** Reserves memory; returns false if there is not enough. */
  reserveBytes(bytes: number): boolean {
    if (this.#bufferedBytes + bytes > maxBufferedBytes) return false;
    this.#bufferedBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bufferedBytes -= bytes;
  }

  /** Resolves when every request has its response. */
  async waitUntilIdle(): Promise<void> {
    if (this.#requests > 0) await new Promise<void>((resolve) => this.#idleCallbacks.push(resolve));
  }
}
