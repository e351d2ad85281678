import { parseOffset, parsePositiveDuration, toDurationParts } from './parse-durations.ts';
import { parseSignedNumber } from './parse-literals.ts';
import type { TokenReader } from './reader.ts';
import type { Expression, MatrixSelector, Subquery, TimeShift, VectorSelector } from './tree.ts';

const formatFixed = (value: number): string => (Number.isFinite(value) ? value.toFixed(6) : formatNonFinite(value));
const formatNonFinite = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
};

/** Returns the part that `offset` and `@` apply to: the selector within a range, or the subquery itself. */
const findShift = (node: Expression): TimeShift | 'none' | 'range of no selector' => {
  if (node.kind === 'selector' || node.kind === 'subquery') return node;
  if (node.kind !== 'range') return 'none';
  return node.selector.kind === 'selector' ? node.selector : 'range of no selector';
};

const requireShift = (reader: TokenReader, node: Expression, modifier: string): TimeShift | undefined => {
  const shift = findShift(node);
  if (typeof shift !== 'string') return shift;
  reader.reportProblem(
    node,
    shift === 'none'
      ? `${modifier} modifier must be preceded by an instant vector selector or range vector selector or a subquery`
      : 'ranges only allowed for vector selectors',
  );
  return undefined;
};

const parseOffsetModifier = (reader: TokenReader, node: Expression): Expression => {
  reader.consume();
  const duration = reader.withContext('offset', 'number, duration, step(), or range()', () => parseOffset(reader));
  const { ms, expression } = toDurationParts(duration);
  const shift = requireShift(reader, node, 'offset');
  if (shift === undefined) return node;
  if (shift.offsetMs !== 0 || shift.offsetExpression !== undefined)
    reader.reportProblem(node, 'offset may not be set multiple times');
  shift.offsetMs = ms;
  shift.offsetExpression = expression;
  return setEnd(node, duration.end);
};

/** Returns the same node with a new end, which its parents then see as well. */
const setEnd = (node: Expression, end: number): Expression => Object.assign(node, { end });

const parseAtModifier = (reader: TokenReader, node: Expression): Expression => {
  reader.consume();
  const at = reader.withContext('@', 'timestamp', () => {
    const keyword = reader.consumeIf('start') ?? reader.consumeIf('end');
    if (keyword === undefined) return parseSignedNumber(reader);
    reader.expect('(');
    reader.expect(')');
    return keyword.name as 'start' | 'end';
  });
  if (typeof at === 'number' && !(Math.abs(at) < 2 ** 63))
    reader.reportProblem(node, `timestamp out of bounds for @ modifier: ${formatFixed(at)}`);
  const shift = requireShift(reader, node, '@');
  if (shift === undefined) return node;
  if (shift.at !== undefined) reader.reportProblem(node, '@ <timestamp> may not be set multiple times');
  shift.at = typeof at === 'number' ? Math.round(at * 1000) : at;
  return setEnd(node, reader.peek(-1).end);
};

const parseRange = (reader: TokenReader, node: Expression): MatrixSelector | Subquery => {
  const open = reader.consume();
  reader.countPart(open);
  const range = toDurationParts(
    reader.withContext('subquery or range selector', 'number, duration, step(), or range()', () =>
      parsePositiveDuration(reader),
    ),
  );
  if (reader.isNext(':')) return parseSubquery(reader, node, range);
  if (!reader.isNext(']')) reader.failUnexpected('subquery or range', '":" or "]"');
  const { end } = reader.consume();
  const problem = findRangeProblem(node);
  if (problem !== undefined) reader.reportProblem({ start: open.start, end }, problem);
  return {
    kind: 'range',
    selector: node,
    rangeMs: range.ms,
    rangeExpression: range.expression,
    start: node.start,
    end,
  };
};

const findRangeProblem = (node: Expression): string | undefined => {
  if (node.kind !== 'selector') return 'ranges only allowed for vector selectors';
  if (node.offsetMs !== 0 || node.offsetExpression !== undefined) return 'no offset modifiers allowed before range';
  return node.at === undefined ? undefined : 'no @ modifiers allowed before range';
};

const parseSubquery = (
  reader: TokenReader,
  innerExpression: Expression,
  range: ReturnType<typeof toDurationParts>,
): Subquery => {
  reader.consume();
  const step = reader.isNext(']')
    ? undefined
    : toDurationParts(
        reader.withContext('subquery selector', 'number, duration, step(), range(), or "]"', () =>
          parsePositiveDuration(reader),
        ),
      );
  if (!reader.isNext(']')) reader.failUnexpected('subquery selector', '"]"');
  return {
    kind: 'subquery',
    innerExpression,
    rangeMs: range.ms,
    rangeExpression: range.expression,
    stepMs: step?.ms ?? 0,
    stepExpression: step?.expression,
    offsetMs: 0,
    start: innerExpression.start,
    end: reader.consume().end,
  };
};

const findSelector = (node: Expression): VectorSelector | undefined => {
  if (node.kind === 'selector') return node;
  return node.kind === 'range' && node.selector.kind === 'selector' ? node.selector : undefined;
};

const parseExtendedModifier = (reader: TokenReader, node: Expression): Expression => {
  const modifier = reader.consume().name as 'anchored' | 'smoothed';
  if (!reader.options.extendedRangeSelectors) {
    reader.reportProblem(node, `${modifier} modifier is experimental and not enabled`);
    return node;
  }
  const selector = findSelector(node);
  if (selector === undefined) {
    if (node.kind === 'subquery') reader.reportProblem(node, `${modifier} modifier is not supported for subqueries`);
    else if (node.kind !== 'range') reader.reportProblem(node, `${modifier} modifier not implemented`);
    return node;
  }
  selector[modifier] = true;
  if (selector.anchored && selector.smoothed)
    reader.reportProblem(node, 'anchored and smoothed modifiers cannot be used together');
  return node;
};

/** Parses the suffixes of a part: ranges, subqueries, `offset`, `@`, `anchored` and `smoothed`. */
export const parseSuffixes = (reader: TokenReader, first: Expression): Expression => {
  let node = first;
  for (;;) {
    if (reader.isNext('[')) node = parseRange(reader, node);
    else if (reader.isNext('offset')) node = parseOffsetModifier(reader, node);
    else if (reader.isNext('@')) node = parseAtModifier(reader, node);
    else if (reader.isNext('anchored') || reader.isNext('smoothed')) node = parseExtendedModifier(reader, node);
    else return node;
  }
};
