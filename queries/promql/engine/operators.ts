import { combine } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { trimHistogram } from '../histograms/trim.ts';
import type { BinaryOperator, Position } from '../syntax/tree.ts';
import type { Annotations } from './annotations.ts';

/** Returns a power as Go does. JavaScript differs: in Go, 1 to any power, and -1 to an infinite power, is 1. */
const power = (base: number, exponent: number): number =>
  base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY) ? 1 : base ** exponent;

const toNumber = (value: boolean): number => (value ? 1 : 0);

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
export const getScalarOperation = (operator: BinaryOperator): Arithmetic => {
  const compare = comparisons[operator];
  return compare === undefined ? (arithmetic[operator] as Arithmetic) : (left, right) => toNumber(compare(left, right));
};

/** A result, and whether a comparison retains it. The annotation is reported once per step, for its last element. */
export interface Outcome {
  readonly value: number | Histogram;
  readonly isRetained: boolean;
  readonly annotate?: Annotate | undefined;
}

export type Annotate = (annotations: Annotations) => void;

type Value = number | Histogram;

const sampleType = (value: Value): string => (typeof value === 'number' ? 'float' : 'histogram');

const annotateIncompatible = (operator: BinaryOperator, left: Value, right: Value, place: Position): Annotate => {
  const operation = `"${operator}": ${sampleType(left)} ${operator} ${sampleType(right)}`;
  return (annotations) =>
    annotations.addInfo(`incompatible sample types encountered for binary operator ${operation}`, place);
};

const combineWithNumber = (operator: BinaryOperator, left: Histogram, right: number): Histogram | undefined => {
  switch (operator) {
    case '*':
      return left.copy().scale(right).compact();
    case '/':
      return left.copy().divide(right).compact();
    case '</':
      return trimHistogram(left, right, true);
    case '>/':
      return trimHistogram(left, right, false);
    default:
      return undefined;
  }
};

const combineHistograms = (
  operator: BinaryOperator,
  left: Histogram,
  right: Histogram,
  place: Position,
): Outcome | undefined => {
  if (operator === '==' || operator === '!=')
    return { value: left, isRetained: left.equals(right) === (operator === '==') };
  if (operator !== '+' && operator !== '-') return undefined;
  const operation = operator === '+' ? 'addition' : 'subtraction';
  const { result, collision, reconciled } = combine(left, right, operator === '+' ? 1 : -1);
  const value = (operator === '-' ? result.withHint('gauge') : result).compact();
  const annotate: Annotate = (annotations) => {
    if (reconciled) annotations.reconciled(operation, place);
    else if (collision) annotations.addResetCollision(operation, place);
  };
  return { value, isRetained: true, ...((reconciled || collision) && { annotate }) };
};

/**
 * Returns the operation of two vector elements. If their types are incompatible, the operation returns a function that
 * adds an annotation. The operation may throw `IncompatibleHistograms`.
 */
export const getElementOperation = (
  operator: BinaryOperator,
  place: Position,
): ((left: Value, right: Value) => Outcome | Annotate) => {
  const compare = comparisons[operator];
  const calculate = arithmetic[operator];
  return (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') {
      if (compare !== undefined) return { value: left, isRetained: compare(left, right) };
      return calculate === undefined
        ? annotateIncompatible(operator, left, right, place)
        : { value: calculate(left, right), isRetained: true };
    }
    const result = mixedOperation(operator, left, right, place);
    return result ?? annotateIncompatible(operator, left, right, place);
  };
};

const mixedOperation = (operator: BinaryOperator, left: Value, right: Value, place: Position): Outcome | undefined => {
  if (typeof left === 'number') {
    if (operator !== '*' || typeof right === 'number') return undefined;
    return { value: right.copy().scale(left).compact(), isRetained: true };
  }
  if (typeof right !== 'number') return combineHistograms(operator, left, right, place);
  const value = combineWithNumber(operator, left, right);
  return value && { value, isRetained: true };
};

/** Returns whether an operator's result is a different metric. */
export const changesMetric = (operator: BinaryOperator): boolean => operator in arithmetic;
