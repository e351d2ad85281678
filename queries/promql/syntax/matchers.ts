import { RE2JS } from 're2js';
import type { Matcher } from '../series.ts';
import { syntaxLimits } from './limits.ts';
import { regexCost } from './regex-cost.ts';

/** Compiles a regular expression in RE2 syntax that matches entire texts; `.` matches line breaks. */
export const wholeRegex = (source: string): RE2JS => {
  if (regexCost(source) > syntaxLimits.regexCost) throw new Error('error parsing regexp: expression too large');
  return RE2JS.compile(`^(?s:${source})$`);
};

/** Letters and escaped literals, separated by bars. */
const plain = /^(?:[^\\.+*?()[\]{}^$]|\\[!-/:-@[-`{-~])*$/;

/**
 * Returns the texts of a regular expression that is only a list, as dashboard variables produce; undefined otherwise.
 */
const listed = (source: string): ReadonlySet<string> | undefined => {
  if (!plain.test(source)) return undefined;
  const texts = [''];
  for (const [character] of source.matchAll(/\\?./gsu))
    if (character === '|') texts.push('');
    else texts[texts.length - 1] += character.startsWith('\\') ? character.slice(1) : character;
  return new Set(texts);
};

/** Returns the cost of compiling the expression of a matcher. */
export const costOfMatcher = ({ op, value }: Matcher): number =>
  op === '=' || op === '!=' || plain.test(value) ? 0 : regexCost(value);

/** Returns the problem of a matcher, in Prometheus' words. */
export const problemOfMatcher = ({ op, value }: Matcher): string | undefined => {
  if (op === '=' || op === '!=' || plain.test(value)) return undefined;
  try {
    wholeRegex(value);
    return undefined;
  } catch (error) {
    return problemOf(value) ?? (error as Error).message;
  }
};

/** Returns the problem of the expression itself, without the part that makes it match entire texts. */
const problemOf = (source: string): string | undefined => {
  if (regexCost(source) > syntaxLimits.regexCost) return undefined;
  try {
    RE2JS.compile(source, RE2JS.DOTALL);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace('`(?s)', '`');
  }
};

/** Returns a compiled test of a label value. A missing label has the value ''. */
export const testOf = ({ op, value }: Matcher): ((text: string) => boolean) => {
  if (op === '=') return (text) => text === value;
  if (op === '!=') return (text) => text !== value;
  const texts = listed(value);
  const regex = texts === undefined ? wholeRegex(value) : undefined;
  const matches = (text: string) => texts?.has(text) ?? (regex as RE2JS).test(text);
  return op === '=~' ? matches : (text) => !matches(text);
};
