/** Compares two traces: calls with the same name and the same parent calls form one line with the durations in each. */
import type { OrderedSpan } from './span-order.ts';

/** Statistics of a line's spans in one trace */
export interface CallStats {
  readonly count: number;
  readonly failedCount: number;
  /** Total duration of the spans, in nanoseconds */
  readonly durationNs: number;
}

export interface CallComparison {
  readonly key: string;
  readonly depth: number;
  readonly service: string;
  readonly name: string;
  /** `undefined` if the trace does not contain the call */
  readonly firstStats: CallStats | undefined;
  readonly secondStats: CallStats | undefined;
}

interface CallNode {
  readonly key: string;
  readonly service: string;
  readonly name: string;
  readonly depth: number;
  readonly children: Map<string, CallNode>;
  readonly sides: [CallStats | undefined, CallStats | undefined];
}

const createNode = (key: string, service: string, name: string, depth: number): CallNode => ({
  key,
  service,
  name,
  depth,
  children: new Map(),
  sides: [undefined, undefined],
});

const addSpans = (root: CallNode, spans: readonly OrderedSpan[], side: 0 | 1): void => {
  const path: CallNode[] = [];
  for (const { span, depth } of spans) {
    const parent = depth === 0 ? root : (path[depth - 1] ?? root);
    const callKey = `${span.service}\n${span.name}`;
    const node =
      parent.children.get(callKey) ?? createNode(`${parent.key}\n\n${callKey}`, span.service, span.name, depth);
    parent.children.set(callKey, node);
    path[depth] = node;
    const { count, failedCount, durationNs } = node.sides[side] ?? { count: 0, failedCount: 0, durationNs: 0 };
    node.sides[side] = {
      count: count + 1,
      failedCount: failedCount + Number(span.status === 'error'),
      durationNs: durationNs + Number(span.durationNs),
    };
  }
};

/** Returns lines in the order of the first trace. Calls that only the second trace has follow their siblings. */
export const compareCalls = (
  firstSpans: readonly OrderedSpan[],
  secondSpans: readonly OrderedSpan[],
): CallComparison[] => {
  const root = createNode('', '', '', -1);
  addSpans(root, firstSpans, 0);
  addSpans(root, secondSpans, 1);
  const lines: CallComparison[] = [];
  // A loop, not recursion: a call chain can be as long as the trace.
  const stack = [...root.children.values()].reverse();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const { key, depth, service, name, sides } = node;
    lines.push({ key, depth, service, name, firstStats: sides[0], secondStats: sides[1] });
    stack.push(...[...node.children.values()].reverse());
  }
  return lines;
};

/** Returns how much longer the call takes in the second trace, in nanoseconds. */
export const toDurationDifference = ({ firstStats, secondStats }: CallComparison): number =>
  (secondStats?.durationNs ?? 0) - (firstStats?.durationNs ?? 0);
