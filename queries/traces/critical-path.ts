/**
 * What a trace waited for: the chain of spans without which it would have been shorter. It is found from the end, as CRISP does (Zhang et al.,
 * "CRISP: Critical Path Analysis of Large-Scale Microservice Architectures", USENIX ATC 2022) and Jaeger after it: a span waited for
 * the child that finished last; before that child began, for the one that had finished last by then; and so on.
 */
import type { SpanTree } from './span-tree.ts';

/** A stretch in which nothing but this span was waited for. */
export interface PathSegment {
  /** Index of the span. */
  readonly span: number;
  readonly start: number;
  readonly end: number;
}

/** A span whose part of the path is being found: its children by their end, the last first. */
interface Walked {
  readonly span: number;
  readonly from: number;
  until: number;
  readonly children: readonly PathSegment[];
  next: number;
}

/**
 * The critical path of a root, in the order of time. Its segments follow one another without a gap and are together as long as the root.
 * Of children that end at once the longest is taken, and of equal ones the first.
 */
export const criticalPath = (tree: SpanTree, root: number): PathSegment[] => {
  const { starts, ends, awaited } = tree;
  const segments: PathSegment[] = [];
  const add = (span: number, start: number, end: number): void => {
    if (end > start) segments.push({ span, start, end });
  };
  // Spans that are walked, each with the time up to which it is explained; a trace may be deeper than the stack of calls.
  const walked: Walked[] = [];
  const enter = (span: number, from: number, to: number): void => {
    const lengths = (tree.children[span] as readonly number[]).flatMap((child) => {
      const [start, end] = [Math.max(starts[child] as number, from), Math.min(ends[child] as number, to)];
      return awaited[child] === 1 && start < end ? [{ span: child, start, end }] : [];
    });
    lengths.sort((one, other) => other.end - one.end || one.start - other.start || one.span - other.span);
    walked.push({ span, from, until: to, children: lengths, next: 0 });
  };
  enter(root, starts[root] as number, ends[root] as number);
  for (let at = walked.at(-1); at !== undefined; at = walked.at(-1)) {
    const child = at.children[at.next++];
    if (child === undefined) {
      add(at.span, at.from, at.until);
      walked.pop();
      continue;
    }
    // It ran beside one that finished later, which was waited for anyway. One that ends as the next begins came before it.
    if (child.end > at.until) continue;
    add(at.span, child.end, at.until);
    at.until = child.start;
    enter(child.span, child.start, child.end);
  }
  return segments.reverse();
};

/** How long each span ran while none of its children did, in nanoseconds. */
export const selfTimes = ({ size, children, starts, ends }: SpanTree): Float64Array => {
  const own = new Float64Array(size);
  for (let span = 0; span < size; span++) {
    const [from, to] = [starts[span] as number, ends[span] as number];
    const below = (children[span] as readonly number[]).toSorted(
      (one, other) => (starts[one] as number) - (starts[other] as number),
    );
    let covered = 0;
    let until = from;
    for (const child of below) {
      const end = Math.min(ends[child] as number, to);
      covered += Math.max(0, end - Math.max(starts[child] as number, until));
      until = Math.max(until, end);
    }
    own[span] = to - from - covered;
  }
  return own;
};
