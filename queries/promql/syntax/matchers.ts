import { RE2JS } from 're2js';
import type { Matcher } from '../series.ts';

/** A regular expression in RE2's syntax that matches whole texts; `.` matches line breaks. */
export const wholeRegex = (source: string): RE2JS => RE2JS.compile(`^(?s:${source})$`);

/** What is wrong with a condition, in the words of Prometheus. */
export const problemOfMatcher = ({ op, value }: Matcher): string | undefined => {
  if (op === '=' || op === '!=') return undefined;
  try {
    RE2JS.compile(value, RE2JS.DOTALL);
    wholeRegex(value);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace('`(?s)', '`');
  }
};

/** A test of a label's value, compiled once. A label that is missing has the value ''. */
export const testOf = ({ op, value }: Matcher): ((text: string) => boolean) => {
  if (op === '=') return (text) => text === value;
  if (op === '!=') return (text) => text !== value;
  const literals = /^[\w|-]*$/.test(value) ? new Set(value.split('|')) : undefined;
  const regex = literals === undefined ? wholeRegex(value) : undefined;
  const matches = (text: string) => literals?.has(text) ?? (regex as RE2JS).test(text);
  return op === '=~' ? matches : (text) => !matches(text);
};
