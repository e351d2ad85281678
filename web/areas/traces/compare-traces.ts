/**
 * Compares two traces: calls of one name with the same parent calls form one line, with their durations in each trace
 */
import type { PlacedSpan } from './span-order.ts';

/** Spans of a line in one trace */
export interface Side {
  readonly count: number;
  readonly failed: number;
  /** Total duration of the spans, in nanoseconds */
  readonly durationNs: number;
}

export interface PairedCall {
  readonly key: string;
  readonly depth: number;
  readonly service: string;
  readonly name: string;
  /** `undefined` if the trace does not contain the call */
  readonly one: Side | undefined;
  readonly other: Side | undefined;
}

interface Node {
  readonly key: string;
  readonly service: string;
  readonly name: string;
  readonly depth: number;
  readonly children: Map<string, Node>;
  readonly sides: [Side | undefined, Side | undefined];
}

const nodeOf = (key: string, service: string, name: string, depth: number): Node => ({
  key,
  service,
  name,
  depth,
  children: new Map(),
  sides: [undefined, undefined],
});

const addTo = (root: Node, placed: readonly PlacedSpan[], side: 0 | 1): void => {
  const path: Node[] = [];
  for (const { span, depth } of placed) {
    const parent = depth === 0 ? root : (path[depth - 1] ?? root);
    const own = `${span.service}\n${span.name}`;
    const node = parent.children.get(own) ?? nodeOf(`${parent.key}\n\n${own}`, span.service, span.name, depth);
    parent.children.set(own, node);
    path[depth] = node;
    const { count, failed, durationNs } = node.sides[side] ?? { count: 0, failed: 0, durationNs: 0 };
    node.sides[side] = {
      count: count + 1,
      failed: failed + Number(span.status === 'error'),
      durationNs: durationNs + Number(span.durationNs),
    };
  }
};

/** Returns lines in the order of the first trace; calls that only the other trace has follow their siblings. */
export const paired = (one: readonly PlacedSpan[], other: readonly PlacedSpan[]): PairedCall[] => {
  const root = nodeOf('', '', '', -1);
  addTo(root, one, 0);
  addTo(root, other, 1);
  const lines: PairedCall[] = [];
  // No recursion, because call chains may be as long as the trace.
  const open = [...root.children.values()].reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { key, depth, service, name, sides } = next;
    lines.push({ key, depth, service, name, one: sides[0], other: sides[1] });
    open.push(...[...next.children.values()].reverse());
  }
  return lines;
};

/** Returns the additional time of the other trace, in nanoseconds. */
export const moreOf = ({ one, other }: PairedCall): number => (other?.durationNs ?? 0) - (one?.durationNs ?? 0);
