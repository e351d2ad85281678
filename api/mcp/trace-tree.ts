/** One trace as a tree of lines, which needs a tenth of the tokens of its spans. */

interface TreeSpan {
  readonly spanId: string;
  readonly parentSpanId?: string | null;
  readonly name: string;
  readonly service: string;
  readonly startTime: string;
  readonly durationNs: number | string;
  readonly status?: string;
  readonly statusMessage?: string | null;
}

/** A line of the tree: one span, or several equal ones without children */
interface Branch {
  readonly span: TreeSpan;
  readonly depth: number;
  readonly text: string;
  readonly count: number;
  readonly totalMs: number;
}

const maxMessageLength = 200;
const maxIndent = 20;

const toMs = (nanoseconds: number | string): number => Number(nanoseconds) / 1_000_000;

const formatSpan = ({ name, service, status, statusMessage }: TreeSpan): string => {
  const message = statusMessage ? `: ${statusMessage.slice(0, maxMessageLength)}` : '';
  return `${service}: ${name}${status === 'error' ? ` [error${message}]` : ''}`;
};

const formatBranch = ({ depth, text, count, totalMs }: Branch): string => {
  const repeats = count === 1 ? '' : ` ×${count}, together`;
  return `${'  '.repeat(Math.min(depth, maxIndent))}${text}${repeats} ${Math.round(totalMs * 1000) / 1000} ms`;
};

/** Returns the branches of sibling spans in the order of time, with equal neighbours without children as one. */
const buildBranches = (
  siblings: readonly TreeSpan[],
  depth: number,
  hasChildren: (span: TreeSpan) => boolean,
): readonly Branch[] => {
  const branches: Branch[] = [];
  for (const span of siblings.toSorted((left, right) => (left.startTime < right.startTime ? -1 : 1))) {
    const text = formatSpan(span);
    const previous = branches.at(-1);
    const durationMs = toMs(span.durationNs);
    if (previous?.text === text && !hasChildren(span) && !hasChildren(previous.span))
      branches[branches.length - 1] = {
        ...previous,
        count: previous.count + 1,
        totalMs: previous.totalMs + durationMs,
      };
    else branches.push({ span, depth, text, count: 1, totalMs: durationMs });
  }
  return branches;
};

/**
 * Returns a line for each span, indented below its parent: `checkout: POST /orders 120.4 ms`. Equal spans without
 * children that follow one another are one line with their number and their total duration. Spans of a cycle of parents
 * are at the top.
 */
export const buildTraceTree = (spans: readonly TreeSpan[]): readonly string[] => {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const children = Map.groupBy(spans, ({ parentSpanId }) =>
    typeof parentSpanId === 'string' && ids.has(parentSpanId) ? parentSpanId : '',
  );
  const hasChildren = ({ spanId }: TreeSpan): boolean => children.has(spanId);
  const lines: string[] = [];
  const visited = new Set<string>();
  // A stack, because a trace may be deeper than calls can nest.
  const stack = buildBranches(children.get('') ?? [], 0, hasChildren).toReversed();
  const visitAll = (): void => {
    for (let branch = stack.pop(); branch !== undefined; branch = stack.pop()) {
      const { spanId } = branch.span;
      if (visited.has(spanId)) continue;
      visited.add(spanId);
      lines.push(formatBranch(branch));
      stack.push(...buildBranches(children.get(spanId) ?? [], branch.depth + 1, hasChildren).toReversed());
    }
  };
  visitAll();
  const unreached = spans.filter((span) => hasChildren(span) && !visited.has(span.spanId));
  for (const span of unreached) {
    stack.push(...buildBranches([span], 0, hasChildren));
    visitAll();
  }
  return lines;
};
