/** Label matchers, compiled once. */

import { compileRegex } from '../../../queries/search/regex.ts';
import type { Matcher } from '../../../schemas/resources/alert-routing.ts';

export type Labels = Readonly<Record<string, string>>;

/** A compiled list of matchers, all of which must match. */
export interface CompiledMatchers {
  matches(labels: Labels): boolean;
  /** Returns the first matcher that does not match. */
  findUnmatched(labels: Labels): Matcher | undefined;
}

const getLabelValue = (labels: Labels, name: string): string =>
  Object.hasOwn(labels, name) ? (labels[name] ?? '') : '';

/**
 * Compiles the regular expression of a matcher. It must match the entire value, and `.` does not match line breaks, as
 * in Alertmanager.
 */
const compileWholeRegex = (value: string) => compileRegex(`^(?-s:(?:${value}))$`);

/** Returns the problem of a matcher; `undefined` if it is valid. */
export const findMatcherProblem = ({ operator, value }: Matcher): string | undefined => {
  if (operator === '=' || operator === '!=') return undefined;
  const compiled = compileWholeRegex(value);
  return typeof compiled === 'string' ? `is not a valid expression: ${compiled}` : undefined;
};

const createTest = ({ name, operator, value }: Matcher): ((labels: Labels) => boolean) => {
  if (operator === '=') return (labels) => getLabelValue(labels, name) === value;
  if (operator === '!=') return (labels) => getLabelValue(labels, name) !== value;
  const regex = compileWholeRegex(value);
  // Expressions are validated when a document is saved. One that is no longer valid matches nothing.
  if (typeof regex === 'string') return () => false;
  const isMatchExpected = operator === '=~';
  return (labels) => regex.test(getLabelValue(labels, name)) === isMatchExpected;
};

export const compileMatchers = (matchers: readonly Matcher[]): CompiledMatchers => {
  const tests = matchers.map((matcher) => ({ matcher, holds: createTest(matcher) }));
  return {
    matches: (labels) => tests.every(({ holds }) => holds(labels)),
    findUnmatched: (labels) => tests.find(({ holds }) => !holds(labels))?.matcher,
  };
};

/**
 * Returns whether matchers select alerts by no value at all, as in Alertmanager: each asks for an empty value, or for an
 * expression that an empty value matches. A negative matcher selects.
 */
export const selectEmptyValuesOnly = (matchers: readonly Matcher[]): boolean =>
  matchers.every(
    (matcher) => (matcher.operator === '=' || matcher.operator === '=~') && compileMatchers([matcher]).matches({}),
  );

/** Returns the matcher in Alertmanager's format: `severity="critical"`. */
export const formatMatcher = ({ name, operator, value }: Matcher): string =>
  `${name}${operator}${JSON.stringify(value)}`;

export const formatMatchers = (matchers: readonly Matcher[]): string => `{${matchers.map(formatMatcher).join(',')}}`;
