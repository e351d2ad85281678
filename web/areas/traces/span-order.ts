/** Spans of a trace as a waterfall shows them: each below its parent, with how deep it stands. */
import { parseTime } from '../../../queries/time.ts';
import type { Span } from './calls.ts';

export interface PlacedSpan {
  readonly span: Span;
  readonly depth: number;
  /** Nanoseconds from the begin of the trace, by the clock of its callers. */
  readonly offsetNs: number;
}

/** A time in nanoseconds since the epoch. */
export const nanosecondsOf = (time: string): bigint => parseTime(time, 0) ?? 0n;

/** Spans whose parent is not among them, and those in a circle, stand at the edge. `spans` come by start. */
export const inOrder = (spans: readonly Span[], begin: string): PlacedSpan[] => {
  const beginNs = nanosecondsOf(begin);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const children = Map.groupBy(spans, ({ parentSpanId, warnings }) =>
    parentSpanId !== null && ids.has(parentSpanId) && !warnings.includes('cycle') ? parentSpanId : '',
  );
  const placed: PlacedSpan[] = [];
  const done = new Set<Span>();
  // No recursion: a chain of calls may be as deep as the trace is long.
  const open = (children.get('') ?? []).map((span) => ({ span, depth: 0 })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { span, depth } = next;
    if (done.has(span)) continue;
    done.add(span);
    const offsetNs = Number(nanosecondsOf(span.startTime) - beginNs) + Number(span.clockShiftNs ?? 0);
    placed.push({ span, depth, offsetNs });
    for (const child of (children.get(span.spanId) ?? []).toReversed()) open.push({ span: child, depth: depth + 1 });
  }
  return placed;
};
