/** In-memory vectors of passages with one byte per number, because only directions are compared */
import { hash } from 'node:crypto';

export type Vector = Int8Array;

/**
 * Maximum size of all organizations: about 40,000 vectors of 1,536 numbers. The least recently used organizations are
 * evicted.
 */
const defaultMaxBytes = 64 * 1024 * 1024;

/** Scales numbers to bytes relative to the largest absolute value; `undefined` for a vector without a direction. */
export const quantize = (numbers: readonly number[]): Vector | undefined => {
  const maxAbsolute = numbers.reduce((max, number) => Math.max(max, Math.abs(number)), 0);
  if (!(maxAbsolute > 0 && Number.isFinite(maxAbsolute))) return undefined;
  return Int8Array.from(numbers, (number) => Math.round((number / maxAbsolute) * 127));
};

/**
 * Returns the cosine from -1 to 1; `undefined` if a vector is missing, has no direction, or has a different dimension.
 */
export const computeCosine = (left: Vector, right: Vector | undefined): number | undefined => {
  if (right?.length !== left.length) return undefined;
  let dot = 0;
  let oneSquares = 0;
  let otherSquares = 0;
  for (let index = 0; index < left.length; index++) {
    const [a = 0, b = 0] = [left[index], right[index]];
    dot += a * b;
    oneSquares += a * a;
    otherSquares += b * b;
  }
  return oneSquares * otherSquares === 0 ? undefined : dot / Math.sqrt(oneSquares * otherSquares);
};

/** Returns the key of a text's vector in the cache and the store. */
export const toVectorKey = (text: string): string => hash('sha256', text, 'base64url');

export class VectorCache {
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
    const tenantVectors = this.#tenantVectors(tenantId);
    this.#bytes += vector.byteLength - (tenantVectors.get(key)?.byteLength ?? 0);
    tenantVectors.set(key, vector);
    for (const [otherTenantId, otherVectors] of this.#vectorsByTenant) {
      if (this.#bytes <= this.#maxBytes) return;
      // If one organization alone exceeds the limit, its oldest vectors are evicted.
      for (const [oldestKey, { byteLength }] of otherVectors) {
        if (this.#bytes <= this.#maxBytes) break;
        otherVectors.delete(oldestKey);
        this.#bytes -= byteLength;
      }
      if (otherVectors.size === 0 && otherTenantId !== tenantId) this.#vectorsByTenant.delete(otherTenantId);
    }
  }

  /** Marks the organization as the most recently used. */
  #tenantVectors(tenantId: string): Map<string, Vector> {
    const tenantVectors = this.#vectorsByTenant.get(tenantId) ?? new Map<string, Vector>();
    this.#vectorsByTenant.delete(tenantId);
    this.#vectorsByTenant.set(tenantId, tenantVectors);
    return tenantVectors;
  }
}
