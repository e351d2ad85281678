/** Derives literals that an event must contain for a rule to match, by which candidate rules are found */
import { findRequiredTexts, foldCase, getPatternText, hasWildcards } from './pattern.ts';
import type { ItemTest, RuleTree, ValueTest } from './tree.ts';

/**
 * A required text in a value, or a full value, of a field under one of these names. A text without names is searched in
 * all values.
 */
export type RequiredLiteral =
  | { readonly is: 'text'; readonly names: readonly string[]; readonly text: string }
  | { readonly is: 'value'; readonly names: readonly string[]; readonly value: string };

/** Literals of which at least one must be present */
export type Clause = readonly RequiredLiteral[];

/** Minimum length of a required text; shorter texts occur in most events */
export const minTextLength = 3;
const maxLiterals = 5_000;

/** Returns the lookup key of a value: numbers in JavaScript's canonical form. */
export const toValueKey = (foldedValue: string): string => {
  const first = foldedValue.charCodeAt(0);
  const isNumeral =
    foldedValue.length < 24 && ((first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46);
  if (!isNumeral) return foldedValue;
  const number = Number(foldedValue);
  return Number.isFinite(number) ? String(number) : foldedValue;
};

const createTextClause = (texts: readonly string[], names: readonly string[]): Clause | undefined =>
  texts.length > 0 && texts.every(({ length }) => length >= minTextLength)
    ? texts.map((text) => ({ is: 'text', names, text }))
    : undefined;

const createTestClause = (test: ValueTest, names: readonly string[]): Clause | undefined => {
  switch (test.is) {
    case 'pattern': {
      if (names.length > 0 && !hasWildcards(test.pattern))
        return [{ is: 'value', names, value: toValueKey(foldCase(getPatternText(test.pattern))) }];
      return createTextClause(findRequiredTexts(test.pattern).slice(0, 1), names);
    }
    case 'number':
      return names.length > 0 ? [{ is: 'value', names, value: String(test.value) }] : undefined;
    case 'regex': {
      const sets = test.regex.requiredTexts
        .map((set) => createTextClause(set, names))
        .filter((set) => set !== undefined);
      return selectBestClause(sets);
    }
    default:
      return undefined;
  }
};

/** Returns the selectivity of a clause, which is that of its least selective literal. */
const computeSelectivity = (clause: Clause): number =>
  Math.min(
    ...clause.map((requiredLiteral) =>
      requiredLiteral.is === 'value' ? 6 + requiredLiteral.value.length / 4 : requiredLiteral.text.length,
    ),
  ) - Math.log2(clause.length);

const selectBestClause = (clauses: readonly Clause[]): Clause | undefined =>
  clauses.reduce<Clause | undefined>(
    (bestClause, clause) =>
      bestClause === undefined || computeSelectivity(clause) > computeSelectivity(bestClause) ? clause : bestClause,
    undefined,
  );

const createItemClauses = ({ values, names, isNegated }: ItemTest): Clause[] => {
  if (isNegated || values.length === 0) return [];
  const each = values.map(({ test }) => createTestClause(test, names));
  if (each.some((clause) => clause === undefined)) return [];
  const clause = (each as Clause[]).flat();
  return clause.length > maxLiterals ? [] : [clause];
};

/** Returns clauses that hold for every event that the tree matches. An empty result means that no clause is known. */
export const findClauses = (tree: RuleTree): Clause[] => {
  switch (tree.is) {
    case 'item':
      return createItemClauses(tree);
    case 'not':
      return [];
    case 'and':
      return tree.parts.flatMap(findClauses);
    default: {
      const each = tree.parts.map((part) => selectBestClause(findClauses(part)));
      if (each.length === 0 || each.some((clause) => clause === undefined)) return [];
      const clause = (each as Clause[]).flat();
      return clause.length > maxLiterals ? [] : [clause];
    }
  }
};

/** Returns the most selective clauses, at most `maxClauses`. */
export const selectClauses = (clauses: readonly Clause[], maxClauses: number): Clause[] =>
  clauses.toSorted((left, right) => computeSelectivity(right) - computeSelectivity(left)).slice(0, maxClauses);
