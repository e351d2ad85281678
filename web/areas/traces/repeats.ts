/** Repeated calls of a trace: consecutive siblings with the same service and name, shown as one row until expanded */
import type { OrderedSpan } from './span-order.ts';

/** Minimum number of repetitions that become one row */
const minRepetitions = 5;

export interface RepeatedSpans {
  /** Id of the first span, which identifies the repetition */
  readonly id: string;
  readonly spans: readonly OrderedSpan[];
  /** Number of spans including all descendants, which follow each other in waterfall order */
  readonly length: number;
  readonly durationNs: number;
  readonly errorCount: number;
}

/** A span, or a row for repeated spans */
export type SpanRow = OrderedSpan | RepeatedSpans;

export const isRepeat = (row: SpanRow): row is RepeatedSpans => 'spans' in row;

const isSameCall = ({ span: one }: OrderedSpan, { span: other }: OrderedSpan): boolean =>
  one.name === other.name && one.service === other.service && one.parentSpanId === other.parentSpanId;

/** Returns the repetition that begins at an index; `undefined` if there are too few. */
const findRepeat = (spans: readonly OrderedSpan[], start: number): RepeatedSpans | undefined => {
  const first = spans[start];
  if (first === undefined || first.depth === 0) return undefined;
  const repeated: OrderedSpan[] = [];
  let index = start;
  for (
    let next = spans[index];
    next !== undefined && next.depth === first.depth && isSameCall(first, next);
    next = spans[index]
  ) {
    repeated.push(next);
    index += next.descendantCount + 1;
  }
  if (repeated.length < minRepetitions) return undefined;
  return {
    id: first.span.spanId,
    spans: repeated,
    length: index - start,
    durationNs: repeated.reduce((sum, { span }) => sum + Number(span.durationNs), 0),
    errorCount: repeated.filter(({ span }) => span.status === 'error').length,
  };
};

/**
 * Returns the rows of spans in waterfall order. A repetition is a row before its spans; the spans follow if it is
 * expanded, or if it contains the open span.
 */
export const toSpanRows = (
  spans: readonly OrderedSpan[],
  isExpanded: (id: string) => boolean,
  openId: string,
): readonly SpanRow[] => {
  const rows: SpanRow[] = [];
  // Ends of expanded repetitions, whose other spans begin no repetition of their own.
  const expandedUntil = new Map<number, number>();
  for (let index = 0; index < spans.length; index++) {
    const span = spans[index] as OrderedSpan;
    const repeat = (expandedUntil.get(span.depth) ?? 0) > index ? undefined : findRepeat(spans, index);
    if (repeat === undefined) {
      rows.push(span);
      continue;
    }
    rows.push(repeat);
    const end = index + repeat.length;
    const containsOpen = openId !== '' && spans.slice(index, end).some(({ span: { spanId } }) => spanId === openId);
    if (isExpanded(repeat.id) || containsOpen) {
      expandedUntil.set(span.depth, end);
      rows.push(span);
    } else index = end - 1;
  }
  return rows;
};

/** Returns the number of levels of a trace. */
export const countLevels = (spans: readonly OrderedSpan[]): number =>
  spans.reduce((levels, { depth }) => Math.max(levels, depth + 1), 0);
