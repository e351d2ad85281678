/**
 * Tree of a trace's spans: parents, and times on the clock of the parent. The README of the folder describes the rules.
 */

/** Span properties for the tree. Times are nanoseconds from a point that all spans of the trace share. */
export interface TreeSpan {
  readonly spanId: string;
  /** Empty for none. */
  readonly parentSpanId: string;
  readonly start: number;
  readonly duration: number;
  /** OTLP's number. */
  readonly kind: number;
  /** Spans of one resource share a clock. */
  readonly resourceId: string;
}

/** Anomalies of a span's position in its trace. */
export const spanWarnings = [
  'missing-parent',
  'cycle',
  'duplicate-id',
  'clock-skew',
  'clipped',
  'outlives-parent',
  'outside-parent',
] as const;
export type SpanWarning = (typeof spanWarnings)[number];

/** Times of each span, by its index. */
interface SpanTimes {
  /** On the clock of its parent. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** Nanoseconds that were added to a span's own times. */
  readonly shifts: Float64Array;
  /** Whether its parent may have waited for it; only the part within its parent then counts. */
  readonly isAwaited: Uint8Array;
}

/** Spans by their index in the input list. */
export interface SpanTree extends SpanTimes {
  readonly size: number;
  /** -1 for roots. */
  readonly parents: Int32Array;
  readonly children: readonly (readonly number[])[];
  /**
   * Roots without a parent first, then those whose parent is missing; each by start. The first one is the trace's root.
   */
  readonly roots: readonly number[];
  readonly warnings: readonly (readonly SpanWarning[])[];
}

const noId = /^0*$/;
const [server, client, producer, consumer] = [2, 3, 4, 5];
/**
 * Share of its duration by which an awaited span may end after its parent, because the parent's end was recorded first.
 */
const maxOverrun = 0.01;

const isCaller = ({ kind }: TreeSpan): boolean => kind === client || kind === producer;
const isCallee = ({ kind }: TreeSpan): boolean => kind === server || kind === consumer;

/** Returns the first start and the last end of a trace's spans, on the clocks of their parents. */
export const findTraceInterval = ({ starts, ends }: Pick<SpanTimes, 'starts' | 'ends'>): Interval => {
  let start = starts[0] ?? 0;
  let end = ends[0] ?? 0;
  for (const each of starts) start = Math.min(start, each);
  for (const each of ends) end = Math.max(end, each);
  return { start, end };
};

class SpanTreeBuilder {
  readonly #spans: readonly TreeSpan[];
  readonly #byId = new Map<string, number[]>();
  readonly #warnings: SpanWarning[][];
  readonly #parents: Int32Array;

  constructor(spans: readonly TreeSpan[]) {
    this.#spans = spans;
    this.#warnings = spans.map(() => []);
    this.#parents = new Int32Array(spans.length).fill(-1);
  }

  build(): SpanTree {
    for (const [index, { spanId }] of this.#spans.entries()) {
      if (noId.test(spanId)) continue;
      const indexes = this.#byId.get(spanId);
      if (indexes === undefined) this.#byId.set(spanId, [index]);
      else indexes.push(index);
    }
    for (let index = 0; index < this.#spans.length; index++) this.#findParent(index);
    this.#breakCycles();
    const children: number[][] = this.#spans.map(() => []);
    for (const [index, parent] of this.#parents.entries()) if (parent >= 0) (children[parent] as number[]).push(index);
    const roots = this.#findRoots();
    return {
      size: this.#spans.length,
      parents: this.#parents,
      children,
      roots,
      warnings: this.#warnings,
      ...this.#computeTimes(children, roots),
    };
  }

  #findParent(index: number): void {
    const span = this.#spans[index] as TreeSpan;
    const sameIdIndexes = this.#byId.get(span.spanId) ?? [];
    // Zipkin's clients and servers may share a span; the server's is then a child of the client's.
    const caller = isCallee(span) ? sameIdIndexes.find((one) => isCaller(this.#spans[one] as TreeSpan)) : undefined;
    if (caller !== undefined) {
      this.#parents[index] = caller;
      return;
    }
    if (sameIdIndexes.length > 1 && sameIdIndexes[0] !== index) this.#warn(index, 'duplicate-id');
    if (noId.test(span.parentSpanId)) return;
    if (span.parentSpanId === span.spanId) {
      this.#warn(index, 'cycle');
      return;
    }
    const parent = this.#findSpan(span.parentSpanId, span.resourceId);
    if (parent === undefined) this.#warn(index, 'missing-parent');
    else this.#parents[index] = parent;
  }

  /** Returns the span with an id: preferably in the same process, otherwise a server or consumer span, otherwise the first. */
  #findSpan(spanId: string, resourceId: string): number | undefined {
    const candidates = this.#byId.get(spanId);
    if (candidates === undefined || candidates.length === 1) return candidates?.[0];
    const getSpan = (one: number): TreeSpan => this.#spans[one] as TreeSpan;
    return (
      candidates.find((one) => getSpan(one).resourceId === resourceId) ??
      candidates.find((one) => isCallee(getSpan(one))) ??
      candidates[0]
    );
  }

  /** Breaks each cycle of parents: its earliest span becomes a root. */
  #breakCycles(): void {
    const visitedBy = new Int32Array(this.#spans.length);
    for (let first = 0; first < this.#spans.length; first++) {
      let at = first;
      while (at >= 0 && visitedBy[at] === 0) {
        visitedBy[at] = first + 1;
        at = this.#parents[at] as number;
      }
      if (at < 0 || visitedBy[at] !== first + 1) continue;
      let earliest = at;
      for (let next = this.#parents[at] as number; next !== at; next = this.#parents[next] as number)
        earliest = Math.min(earliest, next);
      this.#parents[earliest] = -1;
      this.#warn(earliest, 'cycle');
    }
  }

  #findRoots(): number[] {
    const isDetached = (index: number): number =>
      Number(this.#warnings[index]?.some((each) => each === 'missing-parent' || each === 'cycle'));
    const roots: number[] = [];
    for (const [index, parent] of this.#parents.entries()) if (parent < 0) roots.push(index);
    // Spans are in the order of their starts, and sorting is stable.
    return roots.sort((one, other) => isDetached(one) - isDetached(other));
  }

  #computeTimes(children: readonly (readonly number[])[], roots: readonly number[]): SpanTimes {
    const { length } = this.#spans;
    const times: SpanTimes = {
      starts: new Float64Array(length),
      ends: new Float64Array(length),
      shifts: new Float64Array(length),
      isAwaited: new Uint8Array(length),
    };
    const order = [...roots];
    // The list grows during iteration: parents precede their children.
    for (let at = 0; at < order.length; at++) {
      const index = order[at] as number;
      for (const child of children[index] as readonly number[]) order.push(child);
      this.#setSpanTimes(index, this.#parents[index] as number, times);
    }
    return times;
  }

  #setSpanTimes(index: number, parent: number, { starts, ends, shifts, isAwaited }: SpanTimes): void {
    const { start, duration, resourceId } = this.#spans[index] as TreeSpan;
    starts[index] = start;
    ends[index] = start + duration;
    if (parent < 0) return;
    const parentInterval = { start: starts[parent] as number, end: ends[parent] as number };
    const isSameClock = resourceId === this.#spans[parent]?.resourceId;
    const isCall = !isSameClock && this.#isCall(parent, index);
    const skew = isCall ? computeSkew(start, duration, parentInterval) : 0;
    if (skew !== 0) this.#warn(index, 'clock-skew');
    const shift = isSameClock ? (shifts[parent] as number) : skew;
    shifts[index] = shift;
    starts[index] += shift;
    ends[index] += shift;
    const warning = findTimeWarning(starts[index], ends[index], parentInterval, isCall);
    if (warning !== undefined) this.#warn(index, warning);
    isAwaited[index] = Number(warning === undefined || warning === 'clipped');
  }

  /**
   * Returns whether the child is a request to another process with another clock. Message consumers are excluded,
   * because they may run at any time.
   */
  #isCall(parent: number, child: number): boolean {
    return this.#spans[parent]?.kind !== producer && this.#spans[child]?.kind !== consumer;
  }

  #warn(index: number, warning: SpanWarning): void {
    this.#warnings[index]?.push(warning);
  }
}

export interface Interval {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the clock skew of a called process, as in Jaeger's clock skew adjuster. A span that is not longer than its
 * caller, but not within it, is centered in the caller. A longer span reveals little about clocks, because the caller
 * may have timed out; it is only moved so that it does not begin before its caller.
 */
const computeSkew = (start: number, duration: number, { start: from, end: to }: Interval): number => {
  if (duration > to - from) return Math.max(0, from - start);
  if (start >= from && start + duration <= to) return 0;
  return from + Math.floor((to - from - duration) / 2) - start;
};

const findTimeWarning = (start: number, end: number, parent: Interval, isCall: boolean): SpanWarning | undefined => {
  if (start >= parent.start && end <= parent.end) return undefined;
  if (start >= parent.end || end <= parent.start) return 'outside-parent';
  if (end <= parent.end || isCall || end - parent.end <= (end - start) * maxOverrun) return 'clipped';
  return 'outlives-parent';
};

/**
 * Returns the tree of a trace's spans, which must be in the order of their starts. Every span is in the tree, below
 * exactly one root.
 */
export const buildSpanTree = (spans: readonly TreeSpan[]): SpanTree => new SpanTreeBuilder(spans).build();
