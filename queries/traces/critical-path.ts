/**
 * Critical path of a trace: the chain of spans without which it would have been shorter. It is computed from the end,
 * as in CRISP (Zhang et al., "CRISP: Critical Path Analysis of Large-Scale Microservice Architectures", USENIX ATC
 * 2022) and in Jaeger. A span waited for the child that finished last. Before that child began, it waited for the child
 * that had finished last by then, and so on.
 */
import type { SpanTree } from './span-tree.ts';

/** A time range in which the trace waited only for this span. */
export interface PathSegment {
  /** Index of the span. */
  readonly span: number;
  readonly start: number;
  readonly end: number;
}

/** A span during traversal: its children by end, last first. */
interface TraversedSpan {
  readonly span: number;
  readonly from: number;
  coveredUntil: number;
  readonly children: readonly PathSegment[];
  nextChild: number;
}

/**
 * Returns the critical path of a root, in the order of time. Its segments are consecutive, and together as long as the
 * root. Among children with equal ends, the longest is chosen; among those with equal lengths, the first.
 */
export const computeCriticalPath = (tree: SpanTree, root: number): PathSegment[] => {
  const { starts, ends, isAwaited } = tree;
  const segments: PathSegment[] = [];
  const addSegment = (span: number, start: number, end: number): void => {
    if (end > start) segments.push({ span, start, end });
  };
  // Traversed spans, each with the time up to which it is covered. An explicit stack, because a trace may be deeper
  // than the call stack.
  const traversedSpans: TraversedSpan[] = [];
  const pushSpan = (span: number, from: number, to: number): void => {
    const childSegments = (tree.children[span] as readonly number[]).flatMap((child) => {
      const [start, end] = [Math.max(starts[child] as number, from), Math.min(ends[child] as number, to)];
      return isAwaited[child] === 1 && start < end ? [{ span: child, start, end }] : [];
    });
    childSegments.sort((one, other) => other.end - one.end || one.start - other.start || one.span - other.span);
    traversedSpans.push({ span, from, coveredUntil: to, children: childSegments, nextChild: 0 });
  };
  pushSpan(root, starts[root] as number, ends[root] as number);
  for (let current = traversedSpans.at(-1); current !== undefined; current = traversedSpans.at(-1)) {
    const child = current.children[current.nextChild++];
    if (child === undefined) {
      addSegment(current.span, current.from, current.coveredUntil);
      traversedSpans.pop();
      continue;
    }
    // The child ran concurrently with one that finished later, for which the span waited anyway. A child that ends when
    // the next one begins precedes it.
    if (child.end > current.coveredUntil) continue;
    addSegment(current.span, child.end, current.coveredUntil);
    current.coveredUntil = child.start;
    pushSpan(child.span, child.start, child.end);
  }
  return segments.reverse();
};

/** Returns how long each span ran while none of its children did, in nanoseconds. */
export const computeSelfTimes = ({ size, children, starts, ends }: SpanTree): Float64Array => {
  const selfTimesNs = new Float64Array(size);
  for (let span = 0; span < size; span++) {
    const [from, to] = [starts[span] as number, ends[span] as number];
    const sortedChildren = (children[span] as readonly number[]).toSorted(
      (one, other) => (starts[one] as number) - (starts[other] as number),
    );
    let coveredNs = 0;
    let until = from;
    for (const child of sortedChildren) {
      const end = Math.min(ends[child] as number, to);
      coveredNs += Math.max(0, end - Math.max(starts[child] as number, until));
      until = Math.max(until, end);
    }
    selfTimesNs[span] = to - from - coveredNs;
  }
  return selfTimesNs;
};
