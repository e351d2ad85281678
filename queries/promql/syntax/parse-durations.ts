import type { Token } from './lexer.ts';
import { parseNumberLiteral } from './parse-literals.ts';
import type { TokenReader } from './reader.ts';
import type { DurationExpression, DurationPart, NumberLiteral, Position } from './tree.ts';

const maxSeconds = 2 ** 63 / 1e9;

const createZeroLiteral = (position: Position): NumberLiteral => ({
  kind: 'number',
  value: 0,
  duration: false,
  start: position.start,
  end: position.end,
});

const requireInRange = (reader: TokenReader, literal: NumberLiteral, position: Position): NumberLiteral => {
  if (Math.abs(literal.value) <= maxSeconds || Number.isNaN(literal.value)) return literal;
  reader.reportProblem(position, 'duration out of range');
  return createZeroLiteral(literal);
};

const reportIfDisabled = (reader: TokenReader, position: Position): void => {
  if (!reader.options.durationExpressions)
    reader.reportProblem(position, 'experimental duration expression is not enabled');
};

const createDuration = (
  operator: DurationExpression['operator'],
  position: Position,
  left?: DurationPart,
  right?: DurationPart,
  wrapped = false,
): DurationExpression => ({
  kind: 'duration',
  operator,
  left,
  right,
  wrapped,
  start: position.start,
  end: position.end,
});

const wrapInParentheses = (part: DurationPart, position: Position): DurationExpression =>
  part.kind === 'duration' ? { ...part, wrapped: true } : createDuration('+', position, undefined, part, true);

const applySign = (reader: TokenReader, sign: Token, part: DurationPart): DurationPart => {
  const position = { start: sign.start, end: part.end };
  if (part.kind === 'duration') return sign.name === '-' ? createDuration('-', position, undefined, part) : part;
  return requireInRange(reader, { ...part, ...position, value: sign.name === '-' ? -part.value : part.value }, sign);
};

/** `step()`, `range()`, `min_of(…, …)` or `max_of(…, …)`. */
const parseDurationFunction = (reader: TokenReader): DurationExpression => {
  const nameToken = reader.consume();
  reader.expect('(');
  const operator = nameToken.name as DurationExpression['operator'];
  if (operator === 'step' || operator === 'range') {
    const position = { start: nameToken.start, end: reader.expect(')').end };
    reportIfDisabled(reader, position);
    return createDuration(operator, position);
  }
  const left = reader.withDepth(() => parseDurationExpression(reader));
  reader.expect(',');
  const right = reader.withDepth(() => parseDurationExpression(reader));
  const position = { start: nameToken.start, end: reader.expect(')').end };
  reportIfDisabled(reader, left);
  return createDuration(operator, position, left, right);
};

const isDurationFunction = ({ kind, name: nameToken }: Token): boolean =>
  kind === 'preprocessor' && ['step', 'range', 'min_of', 'max_of'].includes(nameToken);

const parseParenthesized = (reader: TokenReader): DurationExpression => {
  const open = reader.expect('(');
  const inner = reader.withDepth(() => parseDurationExpression(reader));
  const position = { start: open.start, end: reader.expect(')').end };
  reportIfDisabled(reader, inner);
  return wrapInParentheses(inner, position);
};

const parsePrimary = (reader: TokenReader): DurationPart => {
  const { kind } = reader.nextName;
  reader.countPart(reader.nextName);
  if (kind === 'number' || kind === 'duration') {
    const literal = parseNumberLiteral(reader);
    return requireInRange(reader, literal, literal);
  }
  if (reader.isNext('+') || reader.isNext('-')) {
    const sign = reader.consume();
    return applySign(
      reader,
      sign,
      reader.withDepth(() => parseBinary(reader, 3)),
    );
  }
  if (reader.isNext('(')) return parseParenthesized(reader);
  return isDurationFunction(reader.nextName) ? parseDurationFunction(reader) : reader.failUnexpected();
};

const bindingStrength: Readonly<Record<string, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, '%': 2, '^': 3 };

const parseOperators = (reader: TokenReader, first: DurationPart, minStrength: number): DurationPart => {
  let left = first;
  for (;;) {
    const operator = reader.nextName;
    const strength = operator.kind === 'operator' ? (bindingStrength[operator.name] ?? 0) : 0;
    if (strength < minStrength || strength === 0) return left;
    reader.consume();
    const right = reader.withDepth(() => parseBinary(reader, operator.name === '^' ? strength : strength + 1));
    reportIfDisabled(reader, left);
    left = createBinary(reader, operator, left, right);
  }
};

const createBinary = (reader: TokenReader, operator: Token, left: DurationPart, right: DurationPart): DurationPart => {
  const position = { start: left.start, end: right.end };
  if ((operator.name === '/' || operator.name === '%') && right.kind === 'number' && right.value === 0) {
    reader.reportProblem(operator, operator.name === '/' ? 'division by zero' : 'modulo by zero');
    return createZeroLiteral(position);
  }
  return createDuration(operator.name as DurationExpression['operator'], position, left, right);
};

const parseBinary = (reader: TokenReader, minStrength: number): DurationPart =>
  parseOperators(reader, parsePrimary(reader), minStrength);

/** Parses a duration or arithmetic of durations. */
const parseDurationExpression = (reader: TokenReader): DurationPart => parseBinary(reader, 1);

/** Parses the duration of a range or of a subquery's step, which must be positive. */
export const parsePositiveDuration = (reader: TokenReader): DurationPart => {
  const part = parseDurationExpression(reader);
  if (part.kind === 'duration' || part.value > 0) return part;
  reader.reportProblem(part, 'duration must be greater than 0');
  return createZeroLiteral(part);
};

/** Parses the duration of `offset`. It ends after its first part: `a offset 1h + b` adds vectors. */
export const parseOffset = (reader: TokenReader): DurationPart => {
  const { kind } = reader.nextName;
  if (kind === 'number' || kind === 'duration') return parsePrimary(reader);
  if (reader.isNext('(')) return parseOperators(reader, parseParenthesized(reader), 1);
  if (!reader.isNext('+') && !reader.isNext('-'))
    return isDurationFunction(reader.nextName) ? parseDurationFunction(reader) : reader.failUnexpected();
  const sign = reader.consume();
  if (reader.isNext('+') || reader.isNext('-')) return applySign(reader, sign, parseBinary(reader, 3));
  const part = reader.isNext('(') ? parseParenthesized(reader) : parsePrimary(reader);
  return part.kind === 'duration' && sign.name === '+' && part.operator !== '+'
    ? createDuration('+', { start: sign.start, end: part.end }, undefined, part)
    : applySign(reader, sign, part);
};

/** Returns milliseconds of a constant duration, or its expression. */
export const toDurationParts = (part: DurationPart): { ms: number; expression: DurationExpression | undefined } =>
  part.kind === 'duration'
    ? { ms: 0, expression: part }
    : { ms: Math.trunc(Math.round(part.value * 1e9) / 1e6), expression: undefined };
