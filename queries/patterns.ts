/** User-defined regular expressions with groups. They use RE2, which matches in linear time. */
import { RE2JS } from 're2js';
import { createValidationError } from './errors.ts';
import { compileRegex } from './search/regex.ts';

/** First match of a pattern. */
export interface PatternMatch {
  readonly start: number;
  readonly end: number;
  /** The entire match, then each group; null for a group without a match. */
  readonly groups: readonly (string | null)[];
}

export interface Pattern {
  test(text: string): boolean;
  find(text: string): PatternMatch | undefined;
  /** Group numbers by name. */
  readonly groupNumbers: ReadonlyMap<string, number>;
}

/** Compiles a pattern. Throws a `QueryError` about `path` if it is invalid. */
export const compilePattern = (source: string, path: string): Pattern => {
  const regex = compileRegex(source);
  if (typeof regex === 'string') throw createValidationError(path, `must be a regular expression of RE2: ${regex}`);
  const compiled = RE2JS.compile(source, RE2JS.DOTALL);
  return {
    test: (text) => compiled.test(text),
    find(text) {
      const matcher = compiled.matcher(text);
      if (!matcher.find()) return undefined;
      const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index) ?? null);
      return { start: matcher.start(), end: matcher.end(), groups };
    },
    groupNumbers: new Map(Object.entries(compiled.namedGroups())),
  };
};
