/**
 * Regular expressions in linear time, in RE2's syntax. The engine's `match` is RE2; in process `re2js` is a port of it: JavaScript's own
 * backtrack. `.` matches line breaks too, as in the engine.
 */
import { RE2JS } from 're2js';

export interface Regex {
  readonly source: string;
  /** Whether any part of the text matches. */
  test(text: string): boolean;
}

/** Instructions of a compiled expression. RE2 refuses what takes more than its memory, and counts bytes of UTF-8 where this counts characters. */
const mostInstructions = 1_000;
/** Repeated classes of all letters come to some 600 instructions of RE2 each. */
const mostClasses = 100;

/** Compiles an expression; what is wrong with it is the answer otherwise. */
export const regexOf = (source: string): Regex | string => {
  try {
    const compiled = RE2JS.compile(source, RE2JS.DOTALL);
    return compiled.programSize() > mostInstructions || (/\\p/i.test(source) && compiled.programSize() > mostClasses)
      ? 'is too large: repeat less'
      : { source, test: (text) => compiled.test(text) };
  } catch (error) {
    return `is none of RE2: ${String((error as Error).message).replace(/^error parsing regexp: /, '')}`;
  }
};
