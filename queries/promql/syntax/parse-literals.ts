import { parseDurationMs } from './durations.ts';
import type { Token } from './lexer.ts';
import { parsePromqlNumber } from './numbers.ts';
import { quoteText, unquoteText } from './quotes.ts';
import type { TokenReader } from './reader.ts';
import type { NumberLiteral } from './tree.ts';

/** Parses a number or duration; the value of a duration is in seconds. */
export const parseNumberLiteral = (reader: TokenReader): NumberLiteral => {
  const token = reader.consume();
  const position = { start: token.start, end: token.end };
  if (token.kind === 'number') {
    const value = parsePromqlNumber(token.text);
    if (value === undefined || (Math.abs(value) === Number.POSITIVE_INFINITY && !/inf/i.test(token.text))) {
      const problem = value === undefined ? 'invalid syntax' : 'value out of range';
      reader.reportProblem(
        token,
        `error parsing number: strconv.ParseFloat: parsing ${quoteText(token.text)}: ${problem}`,
      );
    }
    return { kind: 'number', value: value ?? 0, duration: false, ...position };
  }
  const durationMs = parseDurationMs(token.text);
  if (typeof durationMs === 'string') reader.reportProblem(token, durationMs);
  return { kind: 'number', value: typeof durationMs === 'number' ? durationMs / 1000 : 0, duration: true, ...position };
};

/** Returns the text of a literal that the lexer accepted. */
export const parseStringLiteral = (reader: TokenReader, token: Token): string => {
  const text = unquoteText(token.text);
  if (text === undefined)
    reader.reportProblem(token, `error unquoting string ${quoteText(token.text)}: invalid syntax`);
  return text ?? '';
};

/** Parses a number with optional sign, where no expression is allowed. */
export const parseSignedNumber = (reader: TokenReader): number => {
  const sign = reader.consumeIf('-') ?? reader.consumeIf('+');
  const { kind } = reader.nextName;
  if (kind !== 'number' && kind !== 'duration') reader.failUnexpected();
  const { value } = parseNumberLiteral(reader);
  return sign?.name === '-' ? -value : value;
};
