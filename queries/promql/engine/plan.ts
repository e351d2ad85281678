import type { Selection } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import type {
  Call,
  DurationPart,
  Expression,
  MatrixSelector,
  Subquery,
  TimeShift,
  VectorSelector,
} from '../syntax/tree.ts';
import { visitExpressions } from '../syntax/tree.ts';
import { findSharedReference, getInfoMatchers } from './added-labels.ts';

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
  readonly selectionNumbers: ReadonlyMap<Expression, number>;
  /** Selectors of which only counts and sums of histograms are needed. */
  readonly countsOnly: ReadonlySet<Expression>;
}

const countFunctions = new Set(['histogram_count', 'histogram_sum', 'histogram_avg']);
const bucketFunctions = new Set(
  'histogram_quantile histogram_quantiles histogram_fraction histogram_stddev histogram_stdvar'.split(' '),
);

/**
 * Returns whether the functions around a selector only need counts and sums, and no buckets. The innermost function
 * is checked first.
 */
const needsCountsOnly = (path: readonly Expression[]): boolean => {
  let hasCountFunction = false;
  for (const node of path.toReversed()) {
    if (node.kind === 'subquery') return false;
    if (node.kind === 'binary' && (node.operator === '</' || node.operator === '>/')) return false;
    if (node.kind !== 'call') continue;
    if (bucketFunctions.has(node.signature.name)) return false;
    hasCountFunction ||= countFunctions.has(node.signature.name);
  }
  return hasCountFunction;
};

/** Functions whose result depends on the time of the step, unlike their arguments. */
const timeDependentFunctions = new Set(
  'days_in_month day_of_month day_of_week day_of_year end hour minute month year predict_linear range start step time timestamp'.split(
    ' ',
  ),
);

const createNumberNode = (position: { start: number; end: number }, value: number): Expression => ({
  kind: 'number',
  value,
  duration: false,
  start: position.start,
  end: position.end,
});

/**
 * A prepared part of an expression, with whether its value is the same at every step, and whether evaluating it once
 * saves time.
 */
interface PreparedExpression {
  readonly node: Expression;
  readonly isConstant: boolean;
  readonly shouldEvaluateOnce: boolean;
}

const wrapIfConstant = ({ node, shouldEvaluateOnce: worth }: PreparedExpression): Expression =>
  worth ? { kind: 'once', innerExpression: node, start: node.start, end: node.end } : node;

const removeParentheses = (node: Expression): Expression =>
  node.kind === 'parentheses' ? removeParentheses(node.innerExpression) : node;

/** Resolves durations, `@` and functions of the query's times, and finds parts that are equal at every step. */
class ExpressionPreparer {
  readonly #window: QueryWindow;

  constructor(window: QueryWindow) {
    this.#window = window;
  }

  prepare(node: Expression): PreparedExpression {
    switch (node.kind) {
      case 'selector': {
        const selector: VectorSelector = { ...node, ...this.#resolveShift(node) };
        return { node: selector, isConstant: selector.at !== undefined, shouldEvaluateOnce: selector.at !== undefined };
      }
      case 'range':
        return this.#prepareRange(node);
      case 'subquery':
        return this.#prepareSubquery(node);
      case 'call':
        return this.#prepareCall(node);
      case 'aggregation':
        return this.#prepareAggregation(node);
      case 'binary':
        return this.#prepareBinary(node);
      case 'unary':
      case 'parentheses': {
        const { node: innerExpression, isConstant, shouldEvaluateOnce: worth } = this.prepare(node.innerExpression);
        return { node: { ...node, innerExpression }, isConstant, shouldEvaluateOnce: worth };
      }
      default:
        return { node, isConstant: true, shouldEvaluateOnce: false };
    }
  }

  #resolveShift(node: VectorSelector | Subquery): TimeShift {
    const { startMs, endMs } = this.#window;
    const timesByName = { start: startMs, end: endMs };
    const at = typeof node.at === 'string' ? timesByName[node.at] : node.at;
    const offsetMs =
      node.offsetExpression === undefined ? node.offsetMs : this.#resolveDuration(node.offsetExpression, true);
    return { offsetMs, offsetExpression: undefined, at };
  }

  #prepareRange(node: MatrixSelector): PreparedExpression {
    const { node: selector, isConstant } = this.prepare(node.selector);
    const rangeMs =
      node.rangeExpression === undefined ? node.rangeMs : this.#resolveDuration(node.rangeExpression, false);
    return { node: { ...node, selector, rangeMs }, isConstant, shouldEvaluateOnce: false };
  }

  #prepareSubquery(node: Subquery): PreparedExpression {
    const preparedInner = this.prepare(node.innerExpression);
    const stepMs = node.stepExpression === undefined ? node.stepMs : this.#resolveDuration(node.stepExpression, false);
    const rangeMs =
      node.rangeExpression === undefined ? node.rangeMs : this.#resolveDuration(node.rangeExpression, false);
    const shift = this.#resolveShift(node);
    const innerExpression = preparedInner.isConstant
      ? wrapIfConstant({ ...preparedInner, shouldEvaluateOnce: true })
      : preparedInner.node;
    return {
      node: { ...node, ...shift, innerExpression, stepMs, rangeMs },
      isConstant: shift.at !== undefined,
      shouldEvaluateOnce: false,
    };
  }

  #prepareCall(node: Call): PreparedExpression {
    const { name } = node.signature;
    const { startMs, endMs, stepMs } = this.#window;
    if (name === 'start')
      return { node: createNumberNode(node, startMs / 1000), isConstant: true, shouldEvaluateOnce: false };
    if (name === 'end')
      return { node: createNumberNode(node, endMs / 1000), isConstant: true, shouldEvaluateOnce: false };
    if (name === 'range')
      return { node: createNumberNode(node, (endMs - startMs) / 1000), isConstant: true, shouldEvaluateOnce: false };
    if (name === 'step')
      return {
        node: createNumberNode(node, startMs === endMs ? 0 : stepMs / 1000),
        isConstant: true,
        shouldEvaluateOnce: false,
      };
    const args = node.args.map((argument) => this.prepare(removeParentheses(argument)));
    const valueArguments = name === 'info' ? args.slice(0, 1) : args;
    const selectors = args.every((argument) => argument.isConstant && argument.node.kind === 'selector');
    const hasSharedReference = name !== 'info' || findSharedReference(args[0]?.node as Expression) !== undefined;
    const isConstant =
      (!timeDependentFunctions.has(name) &&
        valueArguments.every((argument) => argument.isConstant) &&
        hasSharedReference) ||
      (name === 'timestamp' && selectors);
    const labels = name === 'info' ? args.slice(1).map((argument) => argument.node) : [];
    if (isConstant)
      return { node: { ...node, args: args.map((argument) => argument.node) }, isConstant, shouldEvaluateOnce: true };
    return {
      node: { ...node, args: [...valueArguments.map(wrapIfConstant), ...labels] },
      isConstant,
      shouldEvaluateOnce: false,
    };
  }

  #prepareAggregation(node: Expression & { kind: 'aggregation' }): PreparedExpression {
    const {
      node: innerExpression,
      isConstant,
      shouldEvaluateOnce: worth,
    } = this.prepare(removeParentheses(node.innerExpression));
    const parameter = node.parameter && this.prepare(removeParentheses(node.parameter)).node;
    return { node: { ...node, innerExpression, parameter }, isConstant, shouldEvaluateOnce: worth };
  }

  #prepareBinary(node: Expression & { kind: 'binary' }): PreparedExpression {
    const left = this.prepare(node.left);
    const right = this.prepare(node.right);
    if (left.isConstant && right.isConstant)
      return { node: { ...node, left: left.node, right: right.node }, isConstant: true, shouldEvaluateOnce: true };
    return {
      node: { ...node, left: wrapIfConstant(left), right: wrapIfConstant(right) },
      isConstant: false,
      shouldEvaluateOnce: false,
    };
  }

  #resolveDuration(part: DurationPart, allowsNegative: boolean): number {
    const seconds = this.#computeSeconds(part);
    const fail = (problem: string): never => {
      throw new PromqlExecutionError(`${part.start}:${part.end}: ${problem}`);
    };
    if (!Number.isFinite(seconds)) fail('duration is NaN or infinite');
    if (seconds <= 0 && !allowsNegative) fail('duration must be greater than 0');
    if (Math.abs(seconds) > 2 ** 63 / 1e9) fail('duration is out of range');
    return Math.trunc(seconds * 1000);
  }

  #computeSeconds(part: DurationPart): number {
    if (part.kind === 'number') return part.value;
    const { startMs, endMs, stepMs } = this.#window;
    const left = part.left === undefined ? 0 : this.#computeSeconds(part.left);
    const right = part.right === undefined ? 0 : this.#computeSeconds(part.right);
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
const combineSubqueries = (
  path: readonly Expression[],
): { offsetMs: number; rangeMs: number; at: number | undefined } => {
  const enclosing = { offsetMs: 0, rangeMs: 0, at: undefined as number | undefined };
  for (const node of path) {
    if (node.kind !== 'subquery') continue;
    if (typeof node.at === 'number') Object.assign(enclosing, { offsetMs: 0, rangeMs: 0, at: node.at });
    enclosing.offsetMs += node.offsetMs;
    enclosing.rangeMs += node.rangeMs;
  }
  return enclosing;
};

interface ReadTimes {
  readonly at: number | undefined;
  readonly offsetMs: number;
  readonly beforeMs: number;
  readonly afterMs: number;
}

const computeWindow = (
  window: QueryWindow,
  path: readonly Expression[],
  reads: ReadTimes,
): { fromMs: number; toMs: number } => {
  const enclosing = combineSubqueries(path);
  const start = enclosing.at ?? window.startMs;
  const end = enclosing.at ?? window.endMs;
  const fromMs = reads.at ?? start - enclosing.offsetMs - enclosing.rangeMs;
  const toMs = reads.at ?? end - enclosing.offsetMs;
  return { fromMs: fromMs - reads.offsetMs - reads.beforeMs, toMs: toMs - reads.offsetMs + reads.afterMs };
};

const getSelectorReadTimes = (node: VectorSelector, path: readonly Expression[], lookbackMs: number): ReadTimes => {
  const outer = path.at(-1);
  const range = outer?.kind === 'range' ? outer.rangeMs : undefined;
  const extended = node.anchored || node.smoothed ? lookbackMs : 0;
  return {
    at: typeof node.at === 'number' ? node.at : undefined,
    offsetMs: node.offsetMs,
    beforeMs: range === undefined ? lookbackMs : range + extended,
    afterMs: node.smoothed ? lookbackMs : 0,
  };
};

const toSelection = (
  node: Expression,
  path: readonly Expression[],
  window: QueryWindow,
  lookbackMs: number,
): Selection | undefined => {
  if (node.kind === 'selector') {
    if (node.hasLabelsOnly) return undefined;
    return { matchers: node.matchers, ...computeWindow(window, path, getSelectorReadTimes(node, path, lookbackMs)) };
  }
  if (node.kind !== 'call' || node.signature.name !== 'info') return undefined;
  const { at, offsetMs } = findSharedReference(node.args[0] as Expression) ?? { at: undefined, offsetMs: 0 };
  const reads = { at, offsetMs, beforeMs: lookbackMs, afterMs: 0 };
  return { matchers: getInfoMatchers(node), ...computeWindow(window, path, reads) };
};

/** Plans the reads of an expression and their times. */
export const planReads = (parsed: Expression, window: QueryWindow, lookbackMs: number): Plan => {
  const expression = wrapIfConstant(new ExpressionPreparer(window).prepare(parsed));
  const selections: Selection[] = [];
  const selectionNumbers = new Map<Expression, number>();
  const countsOnly = new Set<Expression>();
  visitExpressions(expression, (node, path) => {
    const selection = toSelection(node, path, window, lookbackMs);
    if (selection === undefined) return;
    selectionNumbers.set(node, selections.length);
    selections.push(selection);
    if (node.kind === 'selector' && needsCountsOnly(path)) countsOnly.add(node);
  });
  return { expression, selections, selectionNumbers, countsOnly };
};
