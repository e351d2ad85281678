/** Matchers of labels, compiled once. */

import { regexOf } from '../../../queries/search/regex.ts';
import type { Matcher } from '../../../schemas/resources/alert-routing.ts';

export type Labels = Readonly<Record<string, string>>;

/** A compiled list of matchers: all must hold. */
export interface Matching {
  matches(labels: Labels): boolean;
  /** The first that does not hold. */
  unmet(labels: Labels): Matcher | undefined;
}

const labelOf = (labels: Labels, name: string): string => (Object.hasOwn(labels, name) ? (labels[name] ?? '') : '');

/** The expression of a matcher: of the whole value, and `.` is no line break, as in Alertmanager. */
const wholeRegex = (value: string) => regexOf(`^(?-s:(?:${value}))$`);

/** What is wrong with a matcher; `undefined` for none. */
export const matcherProblem = ({ operator, value }: Matcher): string | undefined => {
  if (operator === '=' || operator === '!=') return undefined;
  const compiled = wholeRegex(value);
  return typeof compiled === 'string' ? `is not an expression: ${compiled}` : undefined;
};

const testOf = ({ name, operator, value }: Matcher): ((labels: Labels) => boolean) => {
  if (operator === '=') return (labels) => labelOf(labels, name) === value;
  if (operator === '!=') return (labels) => labelOf(labels, name) !== value;
  const regex = wholeRegex(value);
  // Checked when it was written; an expression that is none any more matches nothing.
  if (typeof regex === 'string') return () => false;
  const isMatchExpected = operator === '=~';
  return (labels) => regex.test(labelOf(labels, name)) === isMatchExpected;
};

export const compileMatchers = (matchers: readonly Matcher[]): Matching => {
  const tests = matchers.map((matcher) => ({ matcher, holds: testOf(matcher) }));
  return {
    matches: (labels) => tests.every(({ holds }) => holds(labels)),
    unmet: (labels) => tests.find(({ holds }) => !holds(labels))?.matcher,
  };
};

/** As Alertmanager writes it: `severity="critical"`. */
export const matcherText = ({ name, operator, value }: Matcher): string => `${name}${operator}${JSON.stringify(value)}`;

export const matchersText = (matchers: readonly Matcher[]): string => `{${matchers.map(matcherText).join(',')}}`;
