import { lengthOf, readOffset, readPositiveDuration } from './parse-durations.ts';
import { signedNumber } from './parse-literals.ts';
import type { Reader } from './reader.ts';
import type { Expression, MatrixSelector, Shift, Subquery, VectorSelector } from './tree.ts';

const fixed = (value: number): string => (Number.isFinite(value) ? value.toFixed(6) : shownInfinity(value));
const shownInfinity = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
};

/** Returns the part that `offset` and `@` apply to: the selector within a range, or the subquery itself. */
const shiftOf = (node: Expression): Shift | 'none' | 'range of no selector' => {
  if (node.kind === 'selector' || node.kind === 'subquery') return node;
  if (node.kind !== 'range') return 'none';
  return node.selector.kind === 'selector' ? node.selector : 'range of no selector';
};

const shiftFor = (reader: Reader, node: Expression, modifier: string): Shift | undefined => {
  const shift = shiftOf(node);
  if (typeof shift !== 'string') return shift;
  reader.report(
    node,
    shift === 'none'
      ? `${modifier} modifier must be preceded by an instant vector selector or range vector selector or a subquery`
      : 'ranges only allowed for vector selectors',
  );
  return undefined;
};

const offsetFrom = (reader: Reader, node: Expression): Expression => {
  reader.consume();
  const part = reader.within('offset', 'number, duration, step(), or range()', () => readOffset(reader));
  const { ms, expression } = lengthOf(part);
  const shift = shiftFor(reader, node, 'offset');
  if (shift === undefined) return node;
  if (shift.offsetMs !== 0 || shift.offsetExpression !== undefined)
    reader.report(node, 'offset may not be set multiple times');
  shift.offsetMs = ms;
  shift.offsetExpression = expression;
  return ending(node, part.end);
};

/** Returns the same node with a new end, which its parents then see as well. */
const ending = (node: Expression, end: number): Expression => Object.assign(node, { end });

const atFrom = (reader: Reader, node: Expression): Expression => {
  reader.consume();
  const at = reader.within('@', 'timestamp', () => {
    const edge = reader.consumeIf('start') ?? reader.consumeIf('end');
    if (edge === undefined) return signedNumber(reader);
    reader.expect('(');
    reader.expect(')');
    return edge.name as 'start' | 'end';
  });
  if (typeof at === 'number' && !(Math.abs(at) < 2 ** 63))
    reader.report(node, `timestamp out of bounds for @ modifier: ${fixed(at)}`);
  const shift = shiftFor(reader, node, '@');
  if (shift === undefined) return node;
  if (shift.at !== undefined) reader.report(node, '@ <timestamp> may not be set multiple times');
  shift.at = typeof at === 'number' ? Math.round(at * 1000) : at;
  return ending(node, reader.ahead(-1).end);
};

const rangeFrom = (reader: Reader, node: Expression): MatrixSelector | Subquery => {
  const open = reader.consume();
  reader.countPart(open);
  const range = lengthOf(
    reader.within('subquery or range selector', 'number, duration, step(), or range()', () =>
      readPositiveDuration(reader),
    ),
  );
  if (reader.is(':')) return subqueryFrom(reader, node, range);
  if (!reader.is(']')) reader.unexpected('subquery or range', '":" or "]"');
  const { end } = reader.consume();
  const problem = rangeProblem(node);
  if (problem !== undefined) reader.report({ start: open.start, end }, problem);
  return {
    kind: 'range',
    selector: node,
    rangeMs: range.ms,
    rangeExpression: range.expression,
    start: node.start,
    end,
  };
};

const rangeProblem = (node: Expression): string | undefined => {
  if (node.kind !== 'selector') return 'ranges only allowed for vector selectors';
  if (node.offsetMs !== 0 || node.offsetExpression !== undefined) return 'no offset modifiers allowed before range';
  return node.at === undefined ? undefined : 'no @ modifiers allowed before range';
};

const subqueryFrom = (reader: Reader, inner: Expression, range: ReturnType<typeof lengthOf>): Subquery => {
  reader.consume();
  const step = reader.is(']')
    ? undefined
    : lengthOf(
        reader.within('subquery selector', 'number, duration, step(), range(), or "]"', () =>
          readPositiveDuration(reader),
        ),
      );
  if (!reader.is(']')) reader.unexpected('subquery selector', '"]"');
  return {
    kind: 'subquery',
    inner,
    rangeMs: range.ms,
    rangeExpression: range.expression,
    stepMs: step?.ms ?? 0,
    stepExpression: step?.expression,
    offsetMs: 0,
    start: inner.start,
    end: reader.consume().end,
  };
};

const selectorOf = (node: Expression): VectorSelector | undefined => {
  if (node.kind === 'selector') return node;
  return node.kind === 'range' && node.selector.kind === 'selector' ? node.selector : undefined;
};

const extendedFrom = (reader: Reader, node: Expression): Expression => {
  const word = reader.consume().name as 'anchored' | 'smoothed';
  if (!reader.options.extendedRangeSelectors) {
    reader.report(node, `${word} modifier is experimental and not enabled`);
    return node;
  }
  const selector = selectorOf(node);
  if (selector === undefined) {
    if (node.kind === 'subquery') reader.report(node, `${word} modifier is not supported for subqueries`);
    else if (node.kind !== 'range') reader.report(node, `${word} modifier not implemented`);
    return node;
  }
  selector[word] = true;
  if (selector.anchored && selector.smoothed)
    reader.report(node, 'anchored and smoothed modifiers cannot be used together');
  return node;
};

/** Parses the suffixes of a part: ranges, subqueries, `offset`, `@`, `anchored` and `smoothed`. */
export const continueSelection = (reader: Reader, first: Expression): Expression => {
  let node = first;
  for (;;) {
    if (reader.is('[')) node = rangeFrom(reader, node);
    else if (reader.is('offset')) node = offsetFrom(reader, node);
    else if (reader.is('@')) node = atFrom(reader, node);
    else if (reader.is('anchored') || reader.is('smoothed')) node = extendedFrom(reader, node);
    else return node;
  }
};
