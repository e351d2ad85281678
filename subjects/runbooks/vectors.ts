/** Vectors of passages in memory, a byte for each number: their directions alone are compared. */
import { hash } from 'node:crypto';

export type Vector = Int8Array;

/** Of all organizations: some 40,000 vectors of 1,536 numbers. Those of organizations that asked longest ago go. */
const defaultMaxBytes = 64 * 1024 * 1024;

/** Numbers as shares of the largest; undefined where they have no direction. */
export const directionOf = (numbers: readonly number[]): Vector | undefined => {
  const largest = numbers.reduce((max, number) => Math.max(max, Math.abs(number)), 0);
  if (!(largest > 0 && Number.isFinite(largest))) return undefined;
  return Int8Array.from(numbers, (number) => Math.round((number / largest) * 127));
};

/** From -1 to 1; undefined where one is not there, has no direction, or another number of numbers. */
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

/** By which the vector of a text is held and kept. */
export const vectorKey = (text: string): string => hash('sha256', text, 'base64url');

export class Vectors {
  readonly #held = new Map<string, Map<string, Vector>>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  get(tenantId: string, key: string): Vector | undefined {
    return this.#of(tenantId).get(key);
  }

  set(tenantId: string, key: string, vector: Vector): void {
    const held = this.#of(tenantId);
    this.#bytes += vector.byteLength - (held.get(key)?.byteLength ?? 0);
    held.set(key, vector);
    for (const [other, theirs] of this.#held) {
      if (this.#bytes <= this.#maxBytes) return;
      // Where one organization alone has more, its oldest go.
      for (const [oldest, { byteLength }] of theirs) {
        if (this.#bytes <= this.#maxBytes) break;
        theirs.delete(oldest);
        this.#bytes -= byteLength;
      }
      if (theirs.size === 0 && other !== tenantId) this.#held.delete(other);
    }
  }

  /** As that which asked last. */
  #of(tenantId: string): Map<string, Vector> {
    const held = this.#held.get(tenantId) ?? new Map<string, Vector>();
    this.#held.delete(tenantId);
    this.#held.set(tenantId, held);
    return held;
  }
}
