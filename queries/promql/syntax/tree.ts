import type { Matcher } from '../series.ts';
import type { Signature, ValueType } from './signatures.ts';

/** Position of a part in the text: characters from `start` up to `end`. */
export interface Position {
  readonly start: number;
  readonly end: number;
}

export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '^'
  | 'atan2'
  | '=='
  | '!='
  | '<='
  | '<'
  | '>='
  | '>'
  | '</'
  | '>/'
  | 'and'
  | 'or'
  | 'unless';

export type Aggregator =
  | 'sum'
  | 'avg'
  | 'count'
  | 'min'
  | 'max'
  | 'group'
  | 'stddev'
  | 'stdvar'
  | 'topk'
  | 'bottomk'
  | 'count_values'
  | 'quantile'
  | 'limitk'
  | 'limit_ratio';

/** How the series of two vectors match. */
export interface Matching {
  readonly card: 'one-to-one' | 'many-to-one' | 'one-to-many' | 'many-to-many';
  readonly labels: readonly string[];
  readonly on: boolean;
  readonly include: readonly string[];
  readonly fillLeft?: number | undefined;
  readonly fillRight?: number | undefined;
}

/** Time of the modifier `@`: milliseconds, or the start or end of the query's range. */
export type FixedTime = number | 'start' | 'end';

/** `offset` and `@` of a selector or subquery. */
export interface TimeShift {
  offsetMs: number;
  offsetExpression?: DurationExpression | undefined;
  at?: FixedTime | undefined;
}

export interface NumberLiteral extends Position {
  readonly kind: 'number';
  value: number;
  /** Whether it was written as a duration. */
  readonly duration: boolean;
}

export interface StringLiteral extends Position {
  readonly kind: 'string';
  readonly value: string;
}

export interface VectorSelector extends Position, TimeShift {
  readonly kind: 'selector';
  readonly name: string;
  readonly matchers: readonly Matcher[];
  anchored: boolean;
  smoothed: boolean;
  /** Whether it may match every series, like the labels in `info()`. */
  hasLabelsOnly: boolean;
}

export interface MatrixSelector extends Position {
  readonly kind: 'range';
  readonly selector: Expression;
  rangeMs: number;
  readonly rangeExpression?: DurationExpression | undefined;
}

export interface Subquery extends Position, TimeShift {
  readonly kind: 'subquery';
  readonly innerExpression: Expression;
  rangeMs: number;
  readonly rangeExpression?: DurationExpression | undefined;
  /** 0 for the default. */
  stepMs: number;
  readonly stepExpression?: DurationExpression | undefined;
}

export interface Call extends Position {
  readonly kind: 'call';
  readonly signature: Signature;
  readonly args: readonly Expression[];
}

export interface Aggregation extends Position {
  readonly kind: 'aggregation';
  readonly operator: Aggregator;
  readonly innerExpression: Expression;
  readonly parameter?: Expression | undefined;
  readonly grouping: readonly string[];
  readonly without: boolean;
}

export interface Binary extends Position {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  readonly bool: boolean;
  matching?: Matching | undefined;
}

export interface Unary extends Position {
  readonly kind: 'unary';
  readonly operator: '+' | '-';
  readonly innerExpression: Expression;
}

export interface Parentheses extends Position {
  readonly kind: 'parentheses';
  readonly innerExpression: Expression;
}

/** An expression that does not depend on the step and is evaluated once. */
export interface ConstantExpression extends Position {
  readonly kind: 'once';
  readonly innerExpression: Expression;
}

/** Arithmetic of durations, `step()` or `range()`. */
export interface DurationExpression extends Position {
  readonly kind: 'duration';
  readonly operator: '+' | '-' | '*' | '/' | '%' | '^' | 'step' | 'range' | 'min_of' | 'max_of';
  readonly left?: DurationPart | undefined;
  readonly right?: DurationPart | undefined;
  readonly wrapped: boolean;
}

export type DurationPart = DurationExpression | NumberLiteral;

export type Expression =
  | NumberLiteral
  | StringLiteral
  | VectorSelector
  | MatrixSelector
  | Subquery
  | Call
  | Aggregation
  | Binary
  | Unary
  | Parentheses
  | ConstantExpression;

/** Returns the type of an expression's value, which is known before evaluation. */
export const getValueType = (node: Expression): ValueType => {
  switch (node.kind) {
    case 'number':
      return 'scalar';
    case 'string':
      return 'string';
    case 'selector':
    case 'aggregation':
      return 'vector';
    case 'range':
    case 'subquery':
      return 'matrix';
    case 'call':
      return node.signature.returnType;
    case 'binary':
      return getValueType(node.left) === 'scalar' && getValueType(node.right) === 'scalar' ? 'scalar' : 'vector';
    default:
      return getValueType(node.innerExpression);
  }
};

/** Returns the sub-expressions of an expression, in evaluation order. */
export const getSubexpressions = (node: Expression): readonly Expression[] => {
  switch (node.kind) {
    case 'number':
    case 'string':
    case 'selector':
      return [];
    case 'range':
      return [node.selector];
    case 'call':
      return node.args;
    case 'binary':
      return [node.left, node.right];
    case 'aggregation':
      return node.parameter === undefined ? [node.innerExpression] : [node.innerExpression, node.parameter];
    default:
      return [node.innerExpression];
  }
};

const getDurations = (node: Expression): readonly (DurationPart | undefined)[] => {
  if (node.kind === 'selector') return [node.offsetExpression];
  if (node.kind === 'range') return [node.rangeExpression];
  return node.kind === 'subquery' ? [node.rangeExpression, node.stepExpression, node.offsetExpression] : [];
};

/** Returns all parts of an expression or a duration, including durations. */
export const getAllParts = (node: Expression | DurationPart): readonly (Expression | DurationPart)[] => {
  const durations = node.kind === 'duration' ? [node.left, node.right] : getDurations(node);
  const expressions = node.kind === 'duration' ? [] : getSubexpressions(node);
  return [...expressions, ...durations.filter((part) => part !== undefined)];
};

/** Calls `visit` for an expression and then its parts, with the enclosing expressions from the outermost on. */
export const visitExpressions = (
  node: Expression,
  visit: (node: Expression, path: readonly Expression[]) => void,
  path: readonly Expression[] = [],
): void => {
  visit(node, path);
  const inner = [...path, node];
  for (const part of getSubexpressions(node)) visitExpressions(part, visit, inner);
};

export const isComparison = (operator: BinaryOperator): boolean =>
  ['==', '!=', '<=', '<', '>=', '>'].includes(operator);

export const isSetOperator = (operator: BinaryOperator): boolean => ['and', 'or', 'unless'].includes(operator);

/** Returns the name of a type as in Prometheus' documentation. */
export const formatType = (type: ValueType): string => {
  if (type === 'vector') return 'instant vector';
  return type === 'matrix' ? 'range vector' : type;
};
