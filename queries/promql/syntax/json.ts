import type { Matcher } from '../series.ts';
import { plainNumber } from './numbers.ts';
import type { DurationPart, Expression, Matching, Shift, VectorSelector } from './tree.ts';

type Json = Readonly<Record<string, unknown>>;

const durationJson = (part: DurationPart | undefined): Json | null => {
  if (part === undefined) return null;
  if (part.kind === 'number') return { type: 'numberLiteral', val: plainNumber(part.value), duration: part.duration };
  const { operator: op, wrapped } = part;
  return { type: 'durationExpr', op, lhs: durationJson(part.left), rhs: durationJson(part.right), wrapped };
};

const shiftJson = ({ offsetMs, offsetExpression, at }: Shift): Json => ({
  offset: offsetMs,
  offsetExpr: durationJson(offsetExpression),
  timestamp: typeof at === 'number' ? at : null,
  startOrEnd: typeof at === 'string' ? at : null,
});

const matchersJson = (matchers: readonly Matcher[]): Json[] =>
  matchers.map(({ name, value, op }) => ({ name, value, type: op }));

const selectorJson = (node: VectorSelector): Json => {
  const { name, anchored, smoothed } = node;
  return { name, matchers: matchersJson(node.matchers), anchored, smoothed, ...shiftJson(node) };
};

/** Returns the syntax tree of an expression, as in `/api/v1/parse_query` of Prometheus. */
export const treeJson = (node: Expression): Json => {
  switch (node.kind) {
    case 'number':
      return { type: 'numberLiteral', val: plainNumber(node.value) };
    case 'string':
      return { type: 'stringLiteral', val: node.value };
    case 'selector':
      return { type: 'vectorSelector', ...selectorJson(node) };
    case 'range': {
      const { rangeMs: range, rangeExpression } = node;
      const selector = selectorJson(node.selector as VectorSelector);
      return { type: 'matrixSelector', range, rangeExpr: durationJson(rangeExpression), ...selector };
    }
    case 'subquery': {
      const { rangeMs: range, stepMs: step } = node;
      const rangeExpr = durationJson(node.rangeExpression);
      const stepExpr = durationJson(node.stepExpression);
      return { type: 'subquery', expr: treeJson(node.inner), range, rangeExpr, step, stepExpr, ...shiftJson(node) };
    }
    case 'call': {
      const { name, parameterTypes: argTypes, variadic, returns: returnType } = node.signature;
      return { type: 'call', func: { name, argTypes, variadic, returnType }, args: node.args.map(treeJson) };
    }
    case 'aggregation': {
      const { operator: op, grouping, without } = node;
      const param = node.parameter === undefined ? null : treeJson(node.parameter);
      return { type: 'aggregation', op, expr: treeJson(node.inner), param, grouping, without };
    }
    case 'binary': {
      const { operator: op, bool, matching: found } = node;
      const matching = found === undefined ? null : matchingJson(found);
      return { type: 'binaryExpr', op, lhs: treeJson(node.left), rhs: treeJson(node.right), matching, bool };
    }
    case 'unary':
      return { type: 'unaryExpr', op: node.operator, expr: treeJson(node.inner) };
    case 'parentheses':
      return { type: 'parenExpr', expr: treeJson(node.inner) };
    case 'once':
      return treeJson(node.inner);
  }
};

const matchingJson = ({ card, labels, on, include, fillLeft, fillRight }: Matching): Json => ({
  card,
  labels,
  on,
  include,
  fillValues: { lhs: fillLeft ?? null, rhs: fillRight ?? null },
});
