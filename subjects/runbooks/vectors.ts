/** In-memory vectors of passages with one byte per number, because only directions are compared */
import { hash } from 'node:crypto';

export type Vector = Int8Array;

/**
 * Maximum size of all organizations: about 40,000 vectors of 1,536 numbers. The least recently used organizations are
 * evicted.
 */
const defaultMaxBytes = 64 * 1024 * 1024;

/** Returns numbers as shares of the largest; `undefined` if they have no direction. */
export const quantize = (numbers: readonly number[]): Vector | undefined => {
  const largest = numbers.reduce((max, number) => Math.max(max, Math.abs(number)), 0);
  if (!(largest > 0 && Number.isFinite(largest))) return undefined;
  return Int8Array.from(numbers, (number) => Math.round((number / largest) * 127));
};

/**
 * Returns the cosine from -1 to 1; `undefined` if a vector is missing, has no direction, or has a different dimension.
 */
export const cosine = (one: Vector, other: Vector | undefined): number | undefined => {
  if (other?.length !== one.length) return undefined;
  let dot = 0;
  let ones = 0;
  let others = 0;
  for (let at = 0; at < one.length; at++) {
    const [a = 0, b = 0] = [one[at], other[at]];
    dot += a * b;
    ones += a * a;
    others += b * b;
  }
  return ones * others === 0 ? undefined : dot / Math.sqrt(ones * others);
};

/** Returns the key of a text's vector in the cache and the store. */
export const vectorKey = (text: string): string => hash('sha256', text, 'base64url');

export class Vectors {
  readonly #vectorsByTenant = new Map<string, Map<string, Vector>>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  get(tenantId: string, key: string): Vector | undefined {
    return this.#tenantVectors(tenantId).get(key);
  }

  set(tenantId: string, key: string, vector: Vector): void {
    const held = this.#tenantVectors(tenantId);
    this.#bytes += vector.byteLength - (held.get(key)?.byteLength ?? 0);
    held.set(key, vector);
    for (const [other, otherVectors] of this.#vectorsByTenant) {
      if (this.#bytes <= this.#maxBytes) return;
      // If one organization alone exceeds the limit, its oldest vectors are evicted.
      for (const [oldest, { byteLength }] of otherVectors) {
        if (this.#bytes <= this.#maxBytes) break;
        otherVectors.delete(oldest);
        this.#bytes -= byteLength;
      }
      if (otherVectors.size === 0 && other !== tenantId) this.#vectorsByTenant.delete(other);
    }
  }

  /** Marks the organization as the most recently used. */
  #tenantVectors(tenantId: string): Map<string, Vector> {
    const held = this.#vectorsByTenant.get(tenantId) ?? new Map<string, Vector>();
    this.#vectorsByTenant.delete(tenantId);
    this.#vectorsByTenant.set(tenantId, held);
    return held;
  }
}
