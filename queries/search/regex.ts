/**
 * Regular expressions in linear time, in RE2's syntax. The engine's `match` is RE2; in process `re2js` is a port of it: JavaScript's own
 * backtrack. `.` matches line breaks too, as in the engine.
 */
import { RE2JS } from 're2js';

export interface Regex {
  readonly source: string;
  /** Whether any part of the text matches. */
  test(text: string): boolean;
  /** Instructions of the compiled expression: what a character takes grows with them. */
  readonly instructions: number;
}

/** Instructions of a compiled expression: RE2 refuses what takes too much memory. */
const maxInstructions = 1_000;
/** With classes of Unicode, each of which is some hundred instructions in RE2, which counts bytes of UTF-8, and one here. */
const maxWithClasses = 250;

/** Compiles an expression, with flags of `re2js`; what is wrong with it is the answer if it is none. */
export const regexOf = (
  source: string,
  flags: number = RE2JS.DOTALL,
  limit: number = maxInstructions,
): Regex | string => {
  // RE2 finds one between two bytes of a character, its ports do not.
  if (/^(?:[^\\]|\\[^B])*\\B/s.test(source)) return '`\\B` is not supported';
  try {
    const compiled = RE2JS.compile(source, flags);
    const instructions = compiled.programSize();
    return instructions > limit || (/\\p/i.test(source) && instructions > maxWithClasses)
      ? 'too large, repeat less'
      : { source, instructions, test: (text) => compiled.test(text) };
  } catch (error) {
    return (error as Error).message.replace(/^error parsing regexp: /, '').replace('`(?s)', '`');
  }
};
