/**
 * Regular expressions in RE2 syntax, which match in linear time. ClickHouse's `match` uses RE2. In this process its
 * port `re2js` is used, because JavaScript's own regular expressions backtrack. `.` also matches line breaks, as in
 * ClickHouse.
 */
import { RE2JS } from 're2js';

export interface Regex {
  readonly source: string;
  /** Returns whether any part of the text matches. */
  test(text: string): boolean;
  /** Number of instructions of the compiled expression; the time per character grows with it. */
  readonly instructions: number;
}

/** Maximum number of instructions of a compiled expression: RE2 rejects those that need too much memory. */
const maxInstructions = 1_000;
/**
 * Maximum for expressions with Unicode classes: a class has about a hundred instructions in RE2, which works on UTF-8
 * bytes, but only one in `re2js`.
 */
const maxInstructionsWithClasses = 250;

/** Compiles an expression, with flags of `re2js`; returns an error message if it is invalid. */
export const compileRegex = (
  source: string,
  flags: number = RE2JS.DOTALL,
  maxAllowedInstructions: number = maxInstructions,
): Regex | string => {
  // RE2 matches `\B` between two bytes of a character; its ports do not.
  if (/^(?:[^\\]|\\[^B])*\\B/s.test(source)) return '`\\B` is not supported';
  try {
    const compiled = RE2JS.compile(source, flags);
    const instructions = compiled.programSize();
    return instructions > maxAllowedInstructions || (/\\p/i.test(source) && instructions > maxInstructionsWithClasses)
      ? 'too large, repeat less'
      : { source, instructions, test: (text) => compiled.test(text) };
  } catch (error) {
    return (error as Error).message.replace(/^error parsing regexp: /, '').replace('`(?s)', '`');
  }
};
