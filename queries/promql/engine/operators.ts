import { combined } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { trimmed } from '../histograms/trim.ts';
import type { BinaryOperator, Position } from '../syntax/tree.ts';
import type { Annotations } from './annotations.ts';

/** Go's remainder, and power where JavaScript differs: 1 to any power, and -1 to an infinite one, is 1. */
const power = (base: number, exponent: number): number =>
  base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY) ? 1 : base ** exponent;

const truth = (value: boolean): number => (value ? 1 : 0);

type Arithmetic = (left: number, right: number) => number;

const arithmetic: Readonly<Partial<Record<BinaryOperator, Arithmetic>>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
  '^': power,
  atan2: Math.atan2,
};

const comparisons: Readonly<Partial<Record<BinaryOperator, (left: number, right: number) => boolean>>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

/** Returns a function of two numbers; comparisons return 1 or 0. */
export const scalarOperation = (operator: BinaryOperator): Arithmetic => {
  const compare = comparisons[operator];
  return compare === undefined ? (arithmetic[operator] as Arithmetic) : (left, right) => truth(compare(left, right));
};

/** A result, and whether a comparison retains it. The annotation is reported once per step, for its last element. */
export interface Outcome {
  readonly value: number | Histogram;
  readonly passes: boolean;
  readonly annotate?: Annotate | undefined;
}

export type Annotate = (annotations: Annotations) => void;

type Value = number | Histogram;

const kindOf = (value: Value): string => (typeof value === 'number' ? 'float' : 'histogram');

const incompatible = (operator: BinaryOperator, left: Value, right: Value, place: Position): Annotate => {
  const operation = `"${operator}": ${kindOf(left)} ${operator} ${kindOf(right)}`;
  return (annotations) =>
    annotations.inform(`incompatible sample types encountered for binary operator ${operation}`, place);
};

const ofHistogram = (operator: BinaryOperator, left: Histogram, right: number): Histogram | undefined => {
  switch (operator) {
    case '*':
      return left.copy().scale(right).compact();
    case '/':
      return left.copy().divide(right).compact();
    case '</':
      return trimmed(left, right, true);
    case '>/':
      return trimmed(left, right, false);
    default:
      return undefined;
  }
};

const ofHistograms = (
  operator: BinaryOperator,
  left: Histogram,
  right: Histogram,
  place: Position,
): Outcome | undefined => {
  if (operator === '==' || operator === '!=')
    return { value: left, passes: left.equals(right) === (operator === '==') };
  if (operator !== '+' && operator !== '-') return undefined;
  const operation = operator === '+' ? 'addition' : 'subtraction';
  const { result, collision, reconciled } = combined(left, right, operator === '+' ? 1 : -1);
  const value = (operator === '-' ? result.withHint('gauge') : result).compact();
  const annotate: Annotate = (annotations) => {
    if (reconciled) annotations.reconciled(operation, place);
    else if (collision) annotations.collision(operation, place);
  };
  return { value, passes: true, ...((reconciled || collision) && { annotate }) };
};

/**
 * Returns a function of two vector elements. No value means that the types are incompatible, which is annotated. Throws
 * `IncompatibleHistograms`.
 */
export const elementOperation = (
  operator: BinaryOperator,
  place: Position,
): ((left: Value, right: Value) => Outcome | Annotate) => {
  const compare = comparisons[operator];
  const calculate = arithmetic[operator];
  return (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') {
      if (compare !== undefined) return { value: left, passes: compare(left, right) };
      return calculate === undefined
        ? incompatible(operator, left, right, place)
        : { value: calculate(left, right), passes: true };
    }
    const result = mixedOperation(operator, left, right, place);
    return result ?? incompatible(operator, left, right, place);
  };
};

const mixedOperation = (operator: BinaryOperator, left: Value, right: Value, place: Position): Outcome | undefined => {
  if (typeof left === 'number') {
    if (operator !== '*' || typeof right === 'number') return undefined;
    return { value: right.copy().scale(left).compact(), passes: true };
  }
  if (typeof right !== 'number') return ofHistograms(operator, left, right, place);
  const value = ofHistogram(operator, left, right);
  return value && { value, passes: true };
};

/** Returns whether an operator's result is a different metric. */
export const changesMetric = (operator: BinaryOperator): boolean => operator in arithmetic;
