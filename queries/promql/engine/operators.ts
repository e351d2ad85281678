import { combine } from '../histograms/arithmetic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { trimHistogram } from '../histograms/trim.ts';
import type { BinaryOperator, Position } from '../syntax/tree.ts';
import type { Annotations } from './annotations.ts';

/** Returns a power as Go does. JavaScript differs: in Go, 1 to any power, and -1 to an infinite power, is 1. */
const raise = (base: number, exponent: number): number =>
  base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY) ? 1 : base ** exponent;

const toNumber = (value: boolean): number => (value ? 1 : 0);

type Arithmetic = (left: number, right: number) => number;

const arithmeticOperations: Readonly<Partial<Record<BinaryOperator, Arithmetic>>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
  '^': raise,
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
  return compare === undefined
    ? (arithmeticOperations[operator] as Arithmetic)
    : (left, right) => toNumber(compare(left, right));
};

/** A result, and whether a comparison retains it. The annotation is reported once per step, for its last element. */
export interface Outcome {
  readonly value: number | Histogram;
  readonly isRetained: boolean;
  readonly annotate?: Annotate | undefined;
}

export type Annotate = (annotations: Annotations) => void;

type Value = number | Histogram;

const getSampleType = (value: Value): string => (typeof value === 'number' ? 'float' : 'histogram');

const annotateIncompatible = (operator: BinaryOperator, left: Value, right: Value, position: Position): Annotate => {
  const operation = `"${operator}": ${getSampleType(left)} ${operator} ${getSampleType(right)}`;
  return (annotations) =>
    annotations.addInfo(`incompatible sample types encountered for binary operator ${operation}`, position);
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
  position: Position,
): Outcome | undefined => {
  if (operator === '==' || operator === '!=')
    return { value: left, isRetained: left.equals(right) === (operator === '==') };
  if (operator !== '+' && operator !== '-') return undefined;
  const operation = operator === '+' ? 'addition' : 'subtraction';
  const { result, hasCollision, wereBoundsReconciled } = combine(left, right, operator === '+' ? 1 : -1);
  const value = (operator === '-' ? result.withHint('gauge') : result).compact();
  const annotate: Annotate = (annotations) => {
    if (wereBoundsReconciled) annotations.addReconciled(operation, position);
    else if (hasCollision) annotations.addResetCollision(operation, position);
  };
  return { value, isRetained: true, ...((wereBoundsReconciled || hasCollision) && { annotate }) };
};

/**
 * Returns the operation of two vector elements. If their types are incompatible, the operation returns a function that
 * adds an annotation. The operation may throw `IncompatibleHistograms`.
 */
export const getElementOperation = (
  operator: BinaryOperator,
  position: Position,
): ((left: Value, right: Value) => Outcome | Annotate) => {
  const compare = comparisons[operator];
  const calculate = arithmeticOperations[operator];
  return (left, right) => {
    if (typeof left === 'number' && typeof right === 'number') {
      if (compare !== undefined) return { value: left, isRetained: compare(left, right) };
      return calculate === undefined
        ? annotateIncompatible(operator, left, right, position)
        : { value: calculate(left, right), isRetained: true };
    }
    const result = applyMixedOperation(operator, left, right, position);
    return result ?? annotateIncompatible(operator, left, right, position);
  };
};

const applyMixedOperation = (
  operator: BinaryOperator,
  left: Value,
  right: Value,
  position: Position,
): Outcome | undefined => {
  if (typeof left === 'number') {
    if (operator !== '*' || typeof right === 'number') return undefined;
    return { value: right.copy().scale(left).compact(), isRetained: true };
  }
  if (typeof right !== 'number') return combineHistograms(operator, left, right, position);
  const value = combineWithNumber(operator, left, right);
  return value && { value, isRetained: true };
};

/** Returns whether an operator's result is a different metric. */
export const changesMetric = (operator: BinaryOperator): boolean => operator in arithmeticOperations;
