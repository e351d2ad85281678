import { readDuration } from './durations.ts';
import type { Token } from './lexer.ts';
import { readNumber } from './numbers.ts';
import { quoted, unquoted } from './quotes.ts';
import type { Reader } from './reader.ts';
import type { NumberLiteral } from './tree.ts';

/** Parses a number or duration; the value of a duration is in seconds. */
export const numberFrom = (reader: Reader): NumberLiteral => {
  const token = reader.consume();
  const place = { start: token.start, end: token.end };
  if (token.kind === 'number') {
    const value = readNumber(token.text);
    if (value === undefined || (Math.abs(value) === Number.POSITIVE_INFINITY && !/inf/i.test(token.text))) {
      const problem = value === undefined ? 'invalid syntax' : 'value out of range';
      reader.report(token, `error parsing number: strconv.ParseFloat: parsing ${quoted(token.text)}: ${problem}`);
    }
    return { kind: 'number', value: value ?? 0, duration: false, ...place };
  }
  const length = readDuration(token.text);
  if (typeof length === 'string') reader.report(token, length);
  return { kind: 'number', value: typeof length === 'number' ? length / 1000 : 0, duration: true, ...place };
};

/** Returns the text of a literal that the lexer accepted. */
export const textFrom = (reader: Reader, token: Token): string => {
  const text = unquoted(token.text);
  if (text === undefined) reader.report(token, `error unquoting string ${quoted(token.text)}: invalid syntax`);
  return text ?? '';
};

/** Parses a number with optional sign, where no expression is allowed. */
export const signedNumber = (reader: Reader): number => {
  const sign = reader.consumeIf('-') ?? reader.consumeIf('+');
  const { kind } = reader.next;
  if (kind !== 'number' && kind !== 'duration') reader.unexpected();
  const { value } = numberFrom(reader);
  return sign?.name === '-' ? -value : value;
};
