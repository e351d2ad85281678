/**
 * Bodies of browsers in the queue, by visitor and key. A flood from one address, or through one key, leaves
 * room in the queue for others.
 */
import { createErrorResponse, type ErrorResponse } from './error-responses.ts';

/** Half of the capacity of the queue. */
const maxOfKey = 32;
const maxOfVisitor = 8;

const tooMany = createErrorResponse('rate-limited', 'too many bodies of this browser or key wait to be checked', 1);

export class PendingBodies {
  readonly #counts = new Map<string, number>();

  /**
   * Adds a body. Returns the reason if the queue has no room for it. Otherwise returns undefined, and `leave` must be
   * called.
   */
  enter(keyId: string, visitor: string): ErrorResponse | undefined {
    const [ofKey, ofVisitor] = [this.#count(keyId), this.#count(`${keyId} ${visitor}`)];
    if (ofKey >= maxOfKey || ofVisitor >= maxOfVisitor) return tooMany;
    this.#counts.set(keyId, ofKey + 1);
    this.#counts.set(`${keyId} ${visitor}`, ofVisitor + 1);
    return undefined;
  }

  leave(keyId: string, visitor: string): void {
    for (const id of [keyId, `${keyId} ${visitor}`]) {
      const count = this.#count(id) - 1;
      if (count > 0) this.#counts.set(id, count);
      else this.#counts.delete(id);
    }
  }

  #count(id: string): number {
    return this.#counts.get(id) ?? 0;
  }
}
