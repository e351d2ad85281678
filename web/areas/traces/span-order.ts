/** Spans of a trace in waterfall order: each below its parent, with its depth */
import { parseTime } from '../../../queries/time.ts';
import type { Span } from './calls.ts';

export interface OrderedSpan {
  readonly span: Span;
  readonly depth: number;
  /** Nanoseconds since the start of the trace, corrected by the clock shift of the span */
  readonly offsetNs: number;
  /** Number of descendants, which follow the span */
  descendantCount: number;
}

/** Returns a time in nanoseconds since the epoch. */
export const toNanoseconds = (time: string): bigint => parseTime(time, 0) ?? 0n;

/** Parsed start times. All spans are ordered again after each loaded page, so the times are cached. */
const startNsBySpan = new WeakMap<Span, bigint>();
const getStartNs = (span: Span): bigint => {
  const cachedNs = startNsBySpan.get(span);
  if (cachedNs !== undefined) return cachedNs;
  const start = toNanoseconds(span.startTime);
  startNsBySpan.set(span, start);
  return start;
};

/**
 * Returns spans in waterfall order. Spans without a loaded parent and spans in a cycle are roots. `spans` must be
 * ordered by start time.
 */
export const toWaterfallOrder = (spans: readonly Span[], traceStart: string): OrderedSpan[] => {
  const beginNs = toNanoseconds(traceStart);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const children = Map.groupBy(spans, ({ parentSpanId, warnings }) =>
    parentSpanId !== null && ids.has(parentSpanId) && !warnings.includes('cycle') ? parentSpanId : '',
  );
  const orderedSpans: OrderedSpan[] = [];
  const visitedSpans = new Set<Span>();
  // A loop, not recursion: a call chain can be as long as the trace.
  const stack = (children.get('') ?? []).map((span) => ({ span, depth: 0 })).reverse();
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { span, depth } = entry;
    if (visitedSpans.has(span)) continue;
    visitedSpans.add(span);
    const offsetNs = Number(getStartNs(span) - beginNs) + Number(span.clockShiftNs ?? 0);
    orderedSpans.push({ span, depth, offsetNs, descendantCount: 0 });
    for (const child of (children.get(span.spanId) ?? []).toReversed()) stack.push({ span: child, depth: depth + 1 });
  }
  countDescendants(orderedSpans);
  return orderedSpans;
};

const countDescendants = (placed: readonly OrderedSpan[]): void => {
  const ancestors: { readonly placed: OrderedSpan; readonly at: number }[] = [];
  const close = (depth: number, at: number): void => {
    for (let last = ancestors.at(-1); last !== undefined && last.placed.depth >= depth; last = ancestors.at(-1)) {
      last.placed.descendantCount = at - last.at - 1;
      ancestors.pop();
    }
  };
  for (const [at, currentSpan] of placed.entries()) {
    close(currentSpan.depth, at);
    ancestors.push({ placed: currentSpan, at });
  }
  close(0, placed.length);
};

/** Returns the spans without the descendants of folded spans. */
export const removeFoldedSpans = (
  placed: readonly OrderedSpan[],
  foldedIds: ReadonlySet<string>,
): readonly OrderedSpan[] => {
  if (foldedIds.size === 0) return placed;
  const visibleSpans: OrderedSpan[] = [];
  for (let at = 0; at < placed.length; at++) {
    const each = placed[at] as OrderedSpan;
    visibleSpans.push(each);
    if (foldedIds.has(each.span.spanId)) at += each.descendantCount;
  }
  return visibleSpans;
};

/** Returns whether the name, service, id, status message or a string attribute of a span contains a text. */
export const matchesText = ({ span }: OrderedSpan, lowerCaseText: string): boolean => {
  const { name, service, spanId, statusMessage } = span;
  if (`${name}\n${service}\n${spanId}\n${statusMessage}`.toLowerCase().includes(lowerCaseText)) return true;
  return Object.values(span.attributes).some(
    (value) => typeof value === 'string' && value.toLowerCase().includes(lowerCaseText),
  );
};
