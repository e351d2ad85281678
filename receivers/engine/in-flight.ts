/** Counts requests that are not answered, and the memory that their bodies take. */

/** Bytes that bodies may take while they are read or wait for the bus; a request above it is answered with 503. */
const maxHeldBytes = 256 * 1024 * 1024;

export class InFlight {
  #requests = 0;
  #heldBytes = 0;
  #waiting: (() => void)[] = [];
  /** Set once: no new requests are taken, and connections are closed with their next answer. */
  draining = false;

  enter(): void {
    this.#requests++;
  }

  leave(): void {
    this.#requests--;
    if (this.#requests === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** False when there is no memory for this many more bytes. */
  hold(bytes: number): boolean {
    if (this.#heldBytes + bytes > maxHeldBytes) return false;
    this.#heldBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }

  /** Resolves when every request has been answered. */
  async idle(): Promise<void> {
    if (this.#requests > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
