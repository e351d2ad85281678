import { RE2JS } from 're2js';
import type { Matcher } from '../series.ts';
import { syntaxLimits } from './limits.ts';
import { estimateRegexCost } from './regex-cost.ts';

/** Compiles a regular expression in RE2 syntax that matches entire texts; `.` matches line breaks. */
export const compileAnchoredRegex = (source: string): RE2JS => {
  if (estimateRegexCost(source) > syntaxLimits.maxRegexCost)
    throw new Error('error parsing regexp: expression too large');
  return RE2JS.compile(`^(?s:${source})$`);
};

/** Letters and escaped literals, separated by bars. */
const literalListPattern = /^(?:[^\\.+*?()[\]{}^$]|\\[!-/:-@[-`{-~])*$/;

/**
 * Returns the texts of a regular expression that is only a list of literals, as dashboard variables produce; undefined
 * otherwise.
 */
const parseLiteralList = (source: string): ReadonlySet<string> | undefined => {
  if (!literalListPattern.test(source)) return undefined;
  const texts = [''];
  for (const [character] of source.matchAll(/\\?./gsu))
    if (character === '|') texts.push('');
    else texts[texts.length - 1] += character.startsWith('\\') ? character.slice(1) : character;
  return new Set(texts);
};

/** Returns the cost of compiling the expression of a matcher. */
export const estimateMatcherCost = ({ op, value }: Matcher): number =>
  op === '=' || op === '!=' || literalListPattern.test(value) ? 0 : estimateRegexCost(value);

/** Returns the problem of a matcher, in Prometheus' words. */
export const findMatcherProblem = ({ op, value }: Matcher): string | undefined => {
  if (op === '=' || op === '!=' || literalListPattern.test(value)) return undefined;
  try {
    compileAnchoredRegex(value);
    return undefined;
  } catch (error) {
    return findRegexProblem(value) ?? (error as Error).message;
  }
};

/** Returns the problem of the expression itself, without the part that makes it match entire texts. */
const findRegexProblem = (source: string): string | undefined => {
  if (estimateRegexCost(source) > syntaxLimits.maxRegexCost) return undefined;
  try {
    RE2JS.compile(source, RE2JS.DOTALL);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace('`(?s)', '`');
  }
};

/** Returns a compiled test of a label value. A missing label has the value ''. */
export const compileTest = ({ op, value }: Matcher): ((text: string) => boolean) => {
  if (op === '=') return (text) => text === value;
  if (op === '!=') return (text) => text !== value;
  const texts = parseLiteralList(value);
  const regex = texts === undefined ? compileAnchoredRegex(value) : undefined;
  const matches = (text: string) => texts?.has(text) ?? (regex as RE2JS).test(text);
  return op === '=~' ? matches : (text) => !matches(text);
};
