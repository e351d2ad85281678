import type { Matcher } from '../series.ts';
import { formatWithoutExponent } from './numbers.ts';
import type { DurationPart, Expression, Matching, TimeShift, VectorSelector } from './tree.ts';

type Json = Readonly<Record<string, unknown>>;

const toDurationJson = (part: DurationPart | undefined): Json | null => {
  if (part === undefined) return null;
  if (part.kind === 'number')
    return { type: 'numberLiteral', val: formatWithoutExponent(part.value), duration: part.duration };
  const { operator: op, wrapped } = part;
  return { type: 'durationExpr', op, lhs: toDurationJson(part.left), rhs: toDurationJson(part.right), wrapped };
};

const toShiftJson = ({ offsetMs, offsetExpression, at }: TimeShift): Json => ({
  offset: offsetMs,
  offsetExpr: toDurationJson(offsetExpression),
  timestamp: typeof at === 'number' ? at : null,
  startOrEnd: typeof at === 'string' ? at : null,
});

const toMatchersJson = (matchers: readonly Matcher[]): Json[] =>
  matchers.map(({ name, value, op }) => ({ name, value, type: op }));

const toSelectorJson = (node: VectorSelector): Json => {
  const { name, anchored, smoothed } = node;
  return { name, matchers: toMatchersJson(node.matchers), anchored, smoothed, ...toShiftJson(node) };
};

/** Returns the syntax tree of an expression, as in `/api/v1/parse_query` of Prometheus. */
export const toTreeJson = (node: Expression): Json => {
  switch (node.kind) {
    case 'number':
      return { type: 'numberLiteral', val: formatWithoutExponent(node.value) };
    case 'string':
      return { type: 'stringLiteral', val: node.value };
    case 'selector':
      return { type: 'vectorSelector', ...toSelectorJson(node) };
    case 'range': {
      const { rangeMs: range, rangeExpression } = node;
      const selector = toSelectorJson(node.selector as VectorSelector);
      return { type: 'matrixSelector', range, rangeExpr: toDurationJson(rangeExpression), ...selector };
    }
    case 'subquery': {
      const { rangeMs: range, stepMs: step } = node;
      const rangeExpr = toDurationJson(node.rangeExpression);
      const stepExpr = toDurationJson(node.stepExpression);
      return {
        type: 'subquery',
        expr: toTreeJson(node.innerExpression),
        range,
        rangeExpr,
        step,
        stepExpr,
        ...toShiftJson(node),
      };
    }
    case 'call': {
      const { name, parameterTypes: argTypes, maxAdditionalArguments, returnType } = node.signature;
      return {
        type: 'call',
        func: { name, argTypes, variadic: maxAdditionalArguments, returnType },
        args: node.args.map(toTreeJson),
      };
    }
    case 'aggregation': {
      const { operator: op, grouping, without } = node;
      const param = node.parameter === undefined ? null : toTreeJson(node.parameter);
      return { type: 'aggregation', op, expr: toTreeJson(node.innerExpression), param, grouping, without };
    }
    case 'binary': {
      const { operator: op, bool, matching: vectorMatching } = node;
      const matching = vectorMatching === undefined ? null : toMatchingJson(vectorMatching);
      return { type: 'binaryExpr', op, lhs: toTreeJson(node.left), rhs: toTreeJson(node.right), matching, bool };
    }
    case 'unary':
      return { type: 'unaryExpr', op: node.operator, expr: toTreeJson(node.innerExpression) };
    case 'parentheses':
      return { type: 'parenExpr', expr: toTreeJson(node.innerExpression) };
    case 'once':
      return toTreeJson(node.innerExpression);
  }
};

const toMatchingJson = ({ card, labels, on, include, fillLeft, fillRight }: Matching): Json => ({
  card,
  labels,
  on,
  include,
  fillValues: { lhs: fillLeft ?? null, rhs: fillRight ?? null },
});
