/** Proofs of RFC 9162, section 2.1: that a leaf is in a tree, and that a tree is a prefix of a larger one. */
import { GrowingTree, hashParent } from './merkle.ts';

/** Leaves from `start` (inclusive) to `end` (exclusive); the subtree of these leaves is a node of the proof. */
export interface LeafRange {
  readonly start: number;
  readonly end: number;
}

/** The largest power of two below `size` */
const findLargestPowerBelow = (size: number): number => {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
};

/**
 * Returns the subtrees whose roots prove that leaf `index` (from 0) is in a tree of `size` leaves, the nearest first.
 */
export const computeInclusionRanges = (index: number, size: number): LeafRange[] => {
  const ranges: LeafRange[] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + findLargestPowerBelow(end - start);
    if (index < middle) {
      ranges.push({ start: middle, end });
      end = middle;
    } else {
      ranges.push({ start, end: middle });
      start = middle;
    }
  }
  return ranges.reverse();
};

/**
 * Returns the subtrees whose roots prove that the tree of `older` leaves (at least 1) is a prefix of the tree of
 * `newer` leaves.
 */
export const computeConsistencyRanges = (olderSize: number, newerSize: number): LeafRange[] => {
  const ranges: LeafRange[] = [];
  let start = 0;
  let end = newerSize;
  while (end > olderSize) {
    const middle = start + findLargestPowerBelow(end - start);
    if (olderSize <= middle) {
      ranges.push({ start: middle, end });
      end = middle;
    } else {
      ranges.push({ start, end: middle });
      start = middle;
    }
  }
  // If the older tree is itself a node of the newer tree, the verifier already has its root.
  if (start > 0) ranges.push({ start, end });
  return ranges.reverse();
};

/** Computes the root of the subtree of each range from all leaves in order. Memory use grows only with the depth of the tree. */
export const computeRoots = async (ranges: readonly LeafRange[], leaves: AsyncIterable<Buffer>): Promise<Buffer[]> => {
  const trees = new Map(ranges.map((range) => [range, new GrowingTree()]));
  const pendingRanges = ranges.toSorted((left, right) => left.start - right.start);
  let index = 0;
  for await (const leaf of leaves) {
    while (pendingRanges[0] !== undefined && pendingRanges[0].end <= index) pendingRanges.shift();
    const [next] = pendingRanges;
    if (next === undefined) break;
    if (index >= next.start) trees.get(next)?.append(leaf);
    index++;
  }
  return ranges.map((range) => {
    const tree = trees.get(range);
    if (tree?.size !== range.end - range.start) throw new RangeError(`there are too few leaves for ${range.end}`);
    return tree.root();
  });
};

/** Index of a node in its row, and of the last node of the row. */
interface NodePosition {
  readonly index: number;
  readonly last: number;
}

const isOdd = (value: number): boolean => value % 2 === 1;
const getPositionAbove = ({ index, last }: NodePosition): NodePosition => ({
  index: Math.floor(index / 2),
  last: Math.floor(last / 2),
});
const isRight = ({ index, last }: NodePosition): boolean => isOdd(index) || index === last;

/** The position of the parent. A last node without a sibling moves up until it has a sibling on its left. */
const getParentPosition = (position: NodePosition): NodePosition => {
  let from = position;
  if (isRight(position)) while (!isOdd(from.index) && from.index !== 0) from = getPositionAbove(from);
  return getPositionAbove(from);
};

/** Returns the root that follows from a leaf's inclusion proof; `undefined` if the proof has the wrong length. */
export const computeInclusionRoot = (
  { index, size }: { readonly index: number; readonly size: number },
  leaf: Buffer,
  proof: readonly Buffer[],
): Buffer | undefined => {
  if (index < 0 || index >= size) return undefined;
  let position: NodePosition = { index, last: size - 1 };
  let root = leaf;
  for (const node of proof) {
    if (position.last === 0) return undefined;
    root = isRight(position) ? hashParent(node, root) : hashParent(root, node);
    position = getParentPosition(position);
  }
  return position.last === 0 ? root : undefined;
};

interface SizedRoot {
  readonly size: number;
  readonly root: Buffer;
}

/** Whether the proof shows that the tree of `older.root` is a prefix of the tree of `newer.root`. */
export const isConsistent = (older: SizedRoot, newer: SizedRoot, proof: readonly Buffer[]): boolean => {
  if (older.size === newer.size) return proof.length === 0 && older.root.equals(newer.root);
  if (older.size < 1 || older.size > newer.size) return false;
  let position: NodePosition = { index: older.size - 1, last: newer.size - 1 };
  while (isOdd(position.index)) position = getPositionAbove(position);
  const [first, ...rest] = position.index === 0 ? [older.root, ...proof] : proof;
  if (first === undefined) return false;
  let oldRoot = first;
  let newRoot = first;
  for (const node of rest) {
    if (position.last === 0) return false;
    if (isRight(position)) oldRoot = hashParent(node, oldRoot);
    newRoot = isRight(position) ? hashParent(node, newRoot) : hashParent(newRoot, node);
    position = getParentPosition(position);
  }
  return position.last === 0 && oldRoot.equals(older.root) && newRoot.equals(newer.root);
};
