import { RE2JS } from 're2js';
import type { Matcher } from '../series.ts';
import { syntaxLimits } from './limits.ts';
import { regexCost } from './regex-cost.ts';

/** A regular expression in RE2's syntax that matches whole texts; `.` matches line breaks. */
export const wholeRegex = (source: string): RE2JS => {
  if (regexCost(source) > syntaxLimits.regexCost) throw new Error('error parsing regexp: expression too large');
  return RE2JS.compile(`^(?s:${source})$`);
};

/** Letters, and what has no meaning because of a backslash, between bars. */
const plain = /^(?:[^\\.+*?()[\]{}^$]|\\[!-/:-@[-`{-~])*$/;

/** The texts that a regular expression matches where it is no more than a list of them, as variables of dashboards write it. */
const listed = (source: string): ReadonlySet<string> | undefined => {
  if (!plain.test(source)) return undefined;
  const texts = [''];
  for (const [character] of source.matchAll(/\\?./gsu))
    if (character === '|') texts.push('');
    else texts[texts.length - 1] += character.startsWith('\\') ? character.slice(1) : character;
  return new Set(texts);
};

/** What compiling the expression of a condition costs. */
export const costOfMatcher = ({ op, value }: Matcher): number =>
  op === '=' || op === '!=' || plain.test(value) ? 0 : regexCost(value);

/** What is wrong with a condition, in the words of Prometheus. */
export const problemOfMatcher = ({ op, value }: Matcher): string | undefined => {
  if (op === '=' || op === '!=' || plain.test(value)) return undefined;
  try {
    wholeRegex(value);
    return undefined;
  } catch (error) {
    return problemOf(value) ?? (error as Error).message;
  }
};

/** What is wrong with the expression itself, without what makes it match whole texts. */
const problemOf = (source: string): string | undefined => {
  if (regexCost(source) > syntaxLimits.regexCost) return undefined;
  try {
    RE2JS.compile(source, RE2JS.DOTALL);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace('`(?s)', '`');
  }
};

/** A test of a label's value, compiled once. A label that is missing has the value ''. */
export const testOf = ({ op, value }: Matcher): ((text: string) => boolean) => {
  if (op === '=') return (text) => text === value;
  if (op === '!=') return (text) => text !== value;
  const texts = listed(value);
  const regex = texts === undefined ? wholeRegex(value) : undefined;
  const matches = (text: string) => texts?.has(text) ?? (regex as RE2JS).test(text);
  return op === '=~' ? matches : (text) => !matches(text);
};
