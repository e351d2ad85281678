/**
 * Merkle tree hashes of RFC 9162, section 2.1 (those of RFC 6962): SHA-256, with a first byte that distinguishes leaves
 * from inner nodes.
 */
import { createHash } from 'node:crypto';

const leafPrefix = Buffer.of(0);
const nodePrefix = Buffer.of(1);

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

export const hashLeaf = (data: Uint8Array): Buffer => sha256(leafPrefix, data);
export const hashParent = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodePrefix, left, right);

/**
 * An append-only tree, stored as the roots of its complete subtrees, the largest first: one for each 1 in the binary
 * form of `size`. They determine the root, and also the root of every larger tree.
 */
export class GrowingTree {
  #size: number;
  readonly #subtrees: Buffer[];

  constructor(size = 0, subtrees: readonly Buffer[] = []) {
    this.#size = size;
    this.#subtrees = [...subtrees];
  }

  get size(): number {
    return this.#size;
  }

  get subtrees(): readonly Buffer[] {
    return this.#subtrees;
  }

  append(leaf: Buffer): void {
    let node = leaf;
    for (let remainingSize = this.#size; remainingSize % 2 === 1; remainingSize = (remainingSize - 1) / 2) {
      const left = this.#subtrees.pop();
      if (left === undefined) throw new Error(`a tree of ${this.#size} leaves has too few subtrees`);
      node = hashParent(left, node);
    }
    this.#subtrees.push(node);
    this.#size++;
  }

  root(): Buffer {
    let computeRoot: Buffer | undefined;
    for (const subtree of this.#subtrees.toReversed())
      computeRoot = computeRoot === undefined ? subtree : hashParent(subtree, computeRoot);
    return computeRoot ?? sha256();
  }

  copy(): GrowingTree {
    return new GrowingTree(this.#size, this.#subtrees);
  }
}
