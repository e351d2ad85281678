import type { Token } from './lexer.ts';
import { numberFrom } from './parse-literals.ts';
import type { Reader } from './reader.ts';
import type { DurationExpression, DurationPart, NumberLiteral, Position } from './tree.ts';

const maxSeconds = 2 ** 63 / 1e9;

const zero = (place: Position): NumberLiteral => ({
  kind: 'number',
  value: 0,
  duration: false,
  start: place.start,
  end: place.end,
});

const inRange = (reader: Reader, literal: NumberLiteral, place: Position): NumberLiteral => {
  if (Math.abs(literal.value) <= maxSeconds || Number.isNaN(literal.value)) return literal;
  reader.report(place, 'duration out of range');
  return zero(literal);
};

const experimental = (reader: Reader, place: Position): void => {
  if (!reader.options.durationExpressions) reader.report(place, 'experimental duration expression is not enabled');
};

const durationOf = (
  operator: DurationExpression['operator'],
  place: Position,
  left?: DurationPart,
  right?: DurationPart,
  wrapped = false,
): DurationExpression => ({ kind: 'duration', operator, left, right, wrapped, start: place.start, end: place.end });

const wrap = (part: DurationPart, place: Position): DurationExpression =>
  part.kind === 'duration' ? { ...part, wrapped: true } : durationOf('+', place, undefined, part, true);

const signed = (reader: Reader, sign: Token, part: DurationPart): DurationPart => {
  const place = { start: sign.start, end: part.end };
  if (part.kind === 'duration') return sign.name === '-' ? durationOf('-', place, undefined, part) : part;
  return inRange(reader, { ...part, ...place, value: sign.name === '-' ? -part.value : part.value }, sign);
};

/** `step()`, `range()`, `min_of(…, …)` or `max_of(…, …)`. */
const named = (reader: Reader): DurationExpression => {
  const name = reader.consume();
  reader.expect('(');
  const operator = name.name as DurationExpression['operator'];
  if (operator === 'step' || operator === 'range') {
    const place = { start: name.start, end: reader.expect(')').end };
    experimental(reader, place);
    return durationOf(operator, place);
  }
  const left = reader.deeper(() => readDurationExpression(reader));
  reader.expect(',');
  const right = reader.deeper(() => readDurationExpression(reader));
  const place = { start: name.start, end: reader.expect(')').end };
  experimental(reader, left);
  return durationOf(operator, place, left, right);
};

const isNamed = ({ kind, name }: Token): boolean =>
  kind === 'preprocessor' && ['step', 'range', 'min_of', 'max_of'].includes(name);

const parenthesized = (reader: Reader): DurationExpression => {
  const open = reader.expect('(');
  const inner = reader.deeper(() => readDurationExpression(reader));
  const place = { start: open.start, end: reader.expect(')').end };
  experimental(reader, inner);
  return wrap(inner, place);
};

const primary = (reader: Reader): DurationPart => {
  const { kind } = reader.next;
  reader.countPart(reader.next);
  if (kind === 'number' || kind === 'duration') {
    const literal = numberFrom(reader);
    return inRange(reader, literal, literal);
  }
  if (reader.is('+') || reader.is('-')) {
    const sign = reader.consume();
    return signed(
      reader,
      sign,
      reader.deeper(() => binary(reader, 3)),
    );
  }
  if (reader.is('(')) return parenthesized(reader);
  return isNamed(reader.next) ? named(reader) : reader.unexpected();
};

const binding: Readonly<Record<string, number>> = { '+': 1, '-': 1, '*': 2, '/': 2, '%': 2, '^': 3 };

const continued = (reader: Reader, first: DurationPart, minStrength: number): DurationPart => {
  let left = first;
  for (;;) {
    const operator = reader.next;
    const strength = operator.kind === 'operator' ? (binding[operator.name] ?? 0) : 0;
    if (strength < minStrength || strength === 0) return left;
    reader.consume();
    const right = reader.deeper(() => binary(reader, operator.name === '^' ? strength : strength + 1));
    experimental(reader, left);
    left = joined(reader, operator, left, right);
  }
};

const joined = (reader: Reader, operator: Token, left: DurationPart, right: DurationPart): DurationPart => {
  const place = { start: left.start, end: right.end };
  if ((operator.name === '/' || operator.name === '%') && right.kind === 'number' && right.value === 0) {
    reader.report(operator, operator.name === '/' ? 'division by zero' : 'modulo by zero');
    return zero(place);
  }
  return durationOf(operator.name as DurationExpression['operator'], place, left, right);
};

const binary = (reader: Reader, minStrength: number): DurationPart => continued(reader, primary(reader), minStrength);

/** Parses a duration or arithmetic of durations. */
const readDurationExpression = (reader: Reader): DurationPart => binary(reader, 1);

/** Parses the duration of a range or of a subquery's step, which must be positive. */
export const readPositiveDuration = (reader: Reader): DurationPart => {
  const part = readDurationExpression(reader);
  if (part.kind === 'duration' || part.value > 0) return part;
  reader.report(part, 'duration must be greater than 0');
  return zero(part);
};

/** Parses the duration of `offset`. It ends after its first part: `a offset 1h + b` adds vectors. */
export const readOffset = (reader: Reader): DurationPart => {
  const { kind } = reader.next;
  if (kind === 'number' || kind === 'duration') return primary(reader);
  if (reader.is('(')) return continued(reader, parenthesized(reader), 1);
  if (!reader.is('+') && !reader.is('-')) return isNamed(reader.next) ? named(reader) : reader.unexpected();
  const sign = reader.consume();
  if (reader.is('+') || reader.is('-')) return signed(reader, sign, binary(reader, 3));
  const part = reader.is('(') ? parenthesized(reader) : primary(reader);
  return part.kind === 'duration' && sign.name === '+' && part.operator !== '+'
    ? durationOf('+', { start: sign.start, end: part.end }, undefined, part)
    : signed(reader, sign, part);
};

/** Returns milliseconds of a constant duration, or its expression. */
export const lengthOf = (part: DurationPart): { ms: number; expression: DurationExpression | undefined } =>
  part.kind === 'duration'
    ? { ms: 0, expression: part }
    : { ms: Math.trunc(Math.round(part.value * 1e9) / 1e6), expression: undefined };
