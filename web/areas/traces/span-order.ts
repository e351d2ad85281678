/** Spans of a trace in waterfall order: each below its parent, with its depth */
import { parseTime } from '../../../queries/time.ts';
import type { Span } from './calls.ts';

export interface PlacedSpan {
  readonly span: Span;
  readonly depth: number;
  /** Nanoseconds from the start of the trace, by the clock of its callers */
  readonly offsetNs: number;
  /** Number of descendants, which follow the span */
  below: number;
}

/** Returns a time in nanoseconds since the epoch. */
export const nanosecondsOf = (time: string): bigint => parseTime(time, 0) ?? 0n;

/** Spans are loaded page by page and ordered again for each page, so parsed times are cached. */
const starts = new WeakMap<Span, bigint>();
const startOf = (span: Span): bigint => {
  const known = starts.get(span);
  if (known !== undefined) return known;
  const start = nanosecondsOf(span.startTime);
  starts.set(span, start);
  return start;
};

/**
 * Returns spans in waterfall order. Spans without a loaded parent, and those in a cycle, are roots. `spans` must be
 * ordered by start.
 */
export const inOrder = (spans: readonly Span[], begin: string): PlacedSpan[] => {
  const beginNs = nanosecondsOf(begin);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const children = Map.groupBy(spans, ({ parentSpanId, warnings }) =>
    parentSpanId !== null && ids.has(parentSpanId) && !warnings.includes('cycle') ? parentSpanId : '',
  );
  const placed: PlacedSpan[] = [];
  const done = new Set<Span>();
  // No recursion, because a call chain may be as deep as the trace is long.
  const open = (children.get('') ?? []).map((span) => ({ span, depth: 0 })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { span, depth } = next;
    if (done.has(span)) continue;
    done.add(span);
    const offsetNs = Number(startOf(span) - beginNs) + Number(span.clockShiftNs ?? 0);
    placed.push({ span, depth, offsetNs, below: 0 });
    for (const child of (children.get(span.spanId) ?? []).toReversed()) open.push({ span: child, depth: depth + 1 });
  }
  countBelow(placed);
  return placed;
};

const countBelow = (placed: readonly PlacedSpan[]): void => {
  const above: { readonly placed: PlacedSpan; readonly at: number }[] = [];
  const close = (depth: number, at: number): void => {
    for (let last = above.at(-1); last !== undefined && last.placed.depth >= depth; last = above.at(-1)) {
      last.placed.below = at - last.at - 1;
      above.pop();
    }
  };
  for (const [at, each] of placed.entries()) {
    close(each.depth, at);
    above.push({ placed: each, at });
  }
  close(0, placed.length);
};

/** Returns spans without the descendants of folded ones. */
export const unfolded = (placed: readonly PlacedSpan[], folded: ReadonlySet<string>): readonly PlacedSpan[] => {
  if (folded.size === 0) return placed;
  const shown: PlacedSpan[] = [];
  for (let at = 0; at < placed.length; at++) {
    const each = placed[at] as PlacedSpan;
    shown.push(each);
    if (folded.has(each.span.spanId)) at += each.below;
  }
  return shown;
};

/** Returns whether the name, service, id, message or text attributes of a span contain a text. */
export const holds = ({ span }: PlacedSpan, lowered: string): boolean => {
  const { name, service, spanId, statusMessage } = span;
  if (`${name}\n${service}\n${spanId}\n${statusMessage}`.toLowerCase().includes(lowered)) return true;
  return Object.values(span.attributes).some(
    (value) => typeof value === 'string' && value.toLowerCase().includes(lowered),
  );
};
