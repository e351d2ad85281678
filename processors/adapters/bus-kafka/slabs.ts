/** Memory for what is fetched, used again. */

/** A piece's memory. After `release` nothing of it is to be read. */
export interface Slab {
  readonly bytes: Buffer;
  release(): void;
}

/** What a fetch brings of a partition at most, but for a first record batch that is larger. */
export const slabBytes = 2 * 1024 * 1024;
const mostKept = 32;

/**
 * Values live until their batch has landed, longer than V8's young generation: as garbage they cost a full collection
 * every hundred megabytes. A slab that is never released is collected like anything else.
 */
export class Slabs {
  readonly #free: Buffer[] = [];

  /** Exactly `bytes`, whatever was there before. Small pieces get memory of their own: a slab would hold more than they do. */
  take(bytes: number): Slab {
    if (bytes < slabBytes / 2 || bytes > slabBytes) return { bytes: Buffer.allocUnsafeSlow(bytes), release: nothing };
    let slab = this.#free.pop() ?? Buffer.allocUnsafeSlow(slabBytes);
    return {
      bytes: slab.subarray(0, bytes),
      release: () => {
        if (slab.length > 0 && this.#free.length < mostKept) this.#free.push(slab);
        slab = empty;
      },
    };
  }
}

const empty = Buffer.alloc(0);
const nothing = (): void => undefined;
