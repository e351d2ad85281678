import type { Selection } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import type {
  Call,
  DurationPart,
  Expression,
  MatrixSelector,
  Shift,
  Subquery,
  VectorSelector,
} from '../syntax/tree.ts';
import { walk } from '../syntax/tree.ts';
import { infoMatchers, sharedReference } from './added-labels.ts';

/** Times of a query. An instant query starts and ends at the same time, with step 0. */
export interface QueryWindow {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

/** An expression with resolved times. Its selections are numbered in the order of `selections`. */
export interface Plan {
  readonly expression: Expression;
  readonly selections: readonly Selection[];
  /** Selection numbers by selector or call of `info`. */
  readonly numbers: ReadonlyMap<Expression, number>;
  /** Selectors of which only counts and sums of histograms are needed. */
  readonly countsOnly: ReadonlySet<Expression>;
}

const ofCounts = new Set(['histogram_count', 'histogram_sum', 'histogram_avg']);
const ofBuckets = new Set(
  'histogram_quantile histogram_quantiles histogram_fraction histogram_stddev histogram_stdvar'.split(' '),
);

/** Returns whether the use of a selector needs no buckets: from the inside out, the last relevant function decides. */
const needsCountsOnly = (path: readonly Expression[]): boolean => {
  let counts = false;
  for (const node of path.toReversed()) {
    if (node.kind === 'subquery') return false;
    if (node.kind === 'binary' && (node.operator === '</' || node.operator === '>/')) return false;
    if (node.kind !== 'call') continue;
    if (ofBuckets.has(node.signature.name)) return false;
    counts ||= ofCounts.has(node.signature.name);
  }
  return counts;
};

/** Functions whose result depends on the time of the step, unlike their arguments. */
const timeDependent = new Set(
  'days_in_month day_of_month day_of_week day_of_year end hour minute month year predict_linear range start step time timestamp'.split(
    ' ',
  ),
);

const number = (place: { start: number; end: number }, value: number): Expression => ({
  kind: 'number',
  value,
  duration: false,
  start: place.start,
  end: place.end,
});

/** Whether a part is equal at every step, and whether evaluating it once pays off. */
interface Prepared {
  readonly node: Expression;
  readonly same: boolean;
  readonly once: boolean;
}

const once = ({ node, once: worth }: Prepared): Expression =>
  worth ? { kind: 'once', inner: node, start: node.start, end: node.end } : node;

const withoutParentheses = (node: Expression): Expression =>
  node.kind === 'parentheses' ? withoutParentheses(node.inner) : node;

/** Resolves durations, `@` and functions of the query's times, and finds parts that are equal at every step. */
class Preparation {
  readonly #window: QueryWindow;

  constructor(window: QueryWindow) {
    this.#window = window;
  }

  of(node: Expression): Prepared {
    switch (node.kind) {
      case 'selector': {
        const selector: VectorSelector = { ...node, ...this.#shift(node) };
        return { node: selector, same: selector.at !== undefined, once: selector.at !== undefined };
      }
      case 'range':
        return this.#range(node);
      case 'subquery':
        return this.#subquery(node);
      case 'call':
        return this.#call(node);
      case 'aggregation':
        return this.#aggregation(node);
      case 'binary':
        return this.#binary(node);
      case 'unary':
      case 'parentheses': {
        const { node: inner, same, once: worth } = this.of(node.inner);
        return { node: { ...node, inner }, same, once: worth };
      }
      default:
        return { node, same: true, once: false };
    }
  }

  #shift(node: VectorSelector | Subquery): Shift {
    const { startMs, endMs } = this.#window;
    const edges = { start: startMs, end: endMs };
    const at = typeof node.at === 'string' ? edges[node.at] : node.at;
    const offsetMs = node.offsetExpression === undefined ? node.offsetMs : this.#duration(node.offsetExpression, true);
    return { offsetMs, offsetExpression: undefined, at };
  }

  #range(node: MatrixSelector): Prepared {
    const { node: selector, same } = this.of(node.selector);
    const rangeMs = node.rangeExpression === undefined ? node.rangeMs : this.#duration(node.rangeExpression, false);
    return { node: { ...node, selector, rangeMs }, same, once: false };
  }

  #subquery(node: Subquery): Prepared {
    const prepared = this.of(node.inner);
    const stepMs = node.stepExpression === undefined ? node.stepMs : this.#duration(node.stepExpression, false);
    const rangeMs = node.rangeExpression === undefined ? node.rangeMs : this.#duration(node.rangeExpression, false);
    const shift = this.#shift(node);
    const inner = prepared.same ? once({ ...prepared, once: true }) : prepared.node;
    return { node: { ...node, ...shift, inner, stepMs, rangeMs }, same: shift.at !== undefined, once: false };
  }

  #call(node: Call): Prepared {
    const { name } = node.signature;
    const { startMs, endMs, stepMs } = this.#window;
    if (name === 'start') return { node: number(node, startMs / 1000), same: true, once: false };
    if (name === 'end') return { node: number(node, endMs / 1000), same: true, once: false };
    if (name === 'range') return { node: number(node, (endMs - startMs) / 1000), same: true, once: false };
    if (name === 'step') return { node: number(node, startMs === endMs ? 0 : stepMs / 1000), same: true, once: false };
    const args = node.args.map((argument) => this.of(withoutParentheses(argument)));
    const read = name === 'info' ? args.slice(0, 1) : args;
    const selectors = args.every((argument) => argument.same && argument.node.kind === 'selector');
    const shared = name !== 'info' || sharedReference(args[0]?.node as Expression) !== undefined;
    const same =
      (!timeDependent.has(name) && read.every((argument) => argument.same) && shared) ||
      (name === 'timestamp' && selectors);
    const labels = name === 'info' ? args.slice(1).map((argument) => argument.node) : [];
    if (same) return { node: { ...node, args: args.map((argument) => argument.node) }, same, once: true };
    return { node: { ...node, args: [...read.map(once), ...labels] }, same, once: false };
  }

  #aggregation(node: Expression & { kind: 'aggregation' }): Prepared {
    const { node: inner, same, once: worth } = this.of(withoutParentheses(node.inner));
    const parameter = node.parameter && this.of(withoutParentheses(node.parameter)).node;
    return { node: { ...node, inner, parameter }, same, once: worth };
  }

  #binary(node: Expression & { kind: 'binary' }): Prepared {
    const left = this.of(node.left);
    const right = this.of(node.right);
    if (left.same && right.same)
      return { node: { ...node, left: left.node, right: right.node }, same: true, once: true };
    return { node: { ...node, left: once(left), right: once(right) }, same: false, once: false };
  }

  #duration(part: DurationPart, negative: boolean): number {
    const seconds = this.#seconds(part);
    const fail = (problem: string): never => {
      throw new PromqlExecutionError(`${part.start}:${part.end}: ${problem}`);
    };
    if (!Number.isFinite(seconds)) fail('duration is NaN or infinite');
    if (seconds <= 0 && !negative) fail('duration must be greater than 0');
    if (Math.abs(seconds) > 2 ** 63 / 1e9) fail('duration is out of range');
    return Math.trunc(seconds * 1000);
  }

  #seconds(part: DurationPart): number {
    if (part.kind === 'number') return part.value;
    const { startMs, endMs, stepMs } = this.#window;
    const left = part.left === undefined ? 0 : this.#seconds(part.left);
    const right = part.right === undefined ? 0 : this.#seconds(part.right);
    if ((part.operator === '/' || part.operator === '%') && right === 0)
      throw new PromqlExecutionError(
        `${part.start}:${part.end}: ${part.operator === '/' ? 'division' : 'modulo'} by zero`,
      );
    const results = {
      step: stepMs / 1000,
      range: (endMs - startMs) / 1000,
      min_of: Math.min(left, right),
      max_of: Math.max(left, right),
      '+': left + right,
      '-': left - right,
      '*': left * right,
      '/': left / right,
      '%': left % right,
      '^': left ** right,
    };
    return results[part.operator];
  }
}

/** Returns the offsets and ranges of the enclosing subqueries, and the time that the `@` of one of them fixes. */
const subqueriesAround = (
  path: readonly Expression[],
): { offsetMs: number; rangeMs: number; at: number | undefined } => {
  const around = { offsetMs: 0, rangeMs: 0, at: undefined as number | undefined };
  for (const node of path) {
    if (node.kind !== 'subquery') continue;
    if (typeof node.at === 'number') Object.assign(around, { offsetMs: 0, rangeMs: 0, at: node.at });
    around.offsetMs += node.offsetMs;
    around.rangeMs += node.rangeMs;
  }
  return around;
};

interface Reads {
  readonly at: number | undefined;
  readonly offsetMs: number;
  readonly beforeMs: number;
  readonly behindMs: number;
}

const timesOf = (window: QueryWindow, path: readonly Expression[], reads: Reads): { fromMs: number; toMs: number } => {
  const around = subqueriesAround(path);
  const start = around.at ?? window.startMs;
  const end = around.at ?? window.endMs;
  const fromMs = reads.at ?? start - around.offsetMs - around.rangeMs;
  const toMs = reads.at ?? end - around.offsetMs;
  return { fromMs: fromMs - reads.offsetMs - reads.beforeMs, toMs: toMs - reads.offsetMs + reads.behindMs };
};

const selectorReads = (node: VectorSelector, path: readonly Expression[], lookbackMs: number): Reads => {
  const outer = path.at(-1);
  const range = outer?.kind === 'range' ? outer.rangeMs : undefined;
  const extended = node.anchored || node.smoothed ? lookbackMs : 0;
  return {
    at: typeof node.at === 'number' ? node.at : undefined,
    offsetMs: node.offsetMs,
    beforeMs: range === undefined ? lookbackMs : range + extended,
    behindMs: node.smoothed ? lookbackMs : 0,
  };
};

const selectionOf = (
  node: Expression,
  path: readonly Expression[],
  window: QueryWindow,
  lookbackMs: number,
): Selection | undefined => {
  if (node.kind === 'selector') {
    if (node.labelsOnly) return undefined;
    return { matchers: node.matchers, ...timesOf(window, path, selectorReads(node, path, lookbackMs)) };
  }
  if (node.kind !== 'call' || node.signature.name !== 'info') return undefined;
  const { at, offsetMs } = sharedReference(node.args[0] as Expression) ?? { at: undefined, offsetMs: 0 };
  const reads = { at, offsetMs, beforeMs: lookbackMs, behindMs: 0 };
  return { matchers: infoMatchers(node), ...timesOf(window, path, reads) };
};

/** Plans the reads of an expression and their times. */
export const planOf = (parsed: Expression, window: QueryWindow, lookbackMs: number): Plan => {
  const expression = once(new Preparation(window).of(parsed));
  const selections: Selection[] = [];
  const numbers = new Map<Expression, number>();
  const countsOnly = new Set<Expression>();
  walk(expression, (node, path) => {
    const selection = selectionOf(node, path, window, lookbackMs);
    if (selection === undefined) return;
    numbers.set(node, selections.length);
    selections.push(selection);
    if (node.kind === 'selector' && needsCountsOnly(path)) countsOnly.add(node);
  });
  return { expression, selections, numbers, countsOnly };
};
