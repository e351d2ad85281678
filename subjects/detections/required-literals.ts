/** What must be in an event for a rule to match: by these, rules are found that need to be looked at. */
import { hasWildcards, literalsOf, lowered, textOfPattern } from './pattern.ts';
import type { ItemTest, RuleTree, ValueTest } from './tree.ts';

/** A text in a value, or a whole value, of a field under one of these names; a text without names is looked for in all values. */
export type RequiredLiteral =
  | { readonly is: 'text'; readonly names: readonly string[]; readonly text: string }
  | { readonly is: 'value'; readonly names: readonly string[]; readonly value: string };

/** Some of these must be there. */
export type Clause = readonly RequiredLiteral[];

/** Shorter texts are in most events. */
export const minTextLength = 3;
const maxLiterals = 5_000;

/** As a value is looked up: numbers in the one way in which JavaScript writes them. */
export const valueKey = (low: string): string => {
  const first = low.charCodeAt(0);
  const isNumeral = low.length < 24 && ((first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46);
  if (!isNumeral) return low;
  const number = Number(low);
  return Number.isFinite(number) ? String(number) : low;
};

const textClause = (texts: readonly string[], names: readonly string[]): Clause | undefined =>
  texts.length > 0 && texts.every(({ length }) => length >= minTextLength)
    ? texts.map((text) => ({ is: 'text', names, text }))
    : undefined;

const ofTest = (test: ValueTest, names: readonly string[]): Clause | undefined => {
  switch (test.is) {
    case 'pattern': {
      if (names.length > 0 && !hasWildcards(test.pattern))
        return [{ is: 'value', names, value: valueKey(lowered(textOfPattern(test.pattern))) }];
      return textClause(literalsOf(test.pattern).slice(0, 1), names);
    }
    case 'number':
      return names.length > 0 ? [{ is: 'value', names, value: String(test.value) }] : undefined;
    case 'regex': {
      const sets = test.regex.needed.map((set) => textClause(set, names)).filter((set) => set !== undefined);
      return best(sets);
    }
    default:
      return undefined;
  }
};

/** How much a clause tells: of the witness that tells least. */
const worthOf = (clause: Clause): number =>
  Math.min(...clause.map((each) => (each.is === 'value' ? 6 + each.value.length / 4 : each.text.length))) -
  Math.log2(clause.length);

const best = (clauses: readonly Clause[]): Clause | undefined =>
  clauses.reduce<Clause | undefined>(
    (found, clause) => (found === undefined || worthOf(clause) > worthOf(found) ? clause : found),
    undefined,
  );

const ofItem = ({ values, names, differs }: ItemTest): Clause[] => {
  if (differs || values.length === 0) return [];
  const each = values.map(({ test }) => ofTest(test, names));
  if (each.some((clause) => clause === undefined)) return [];
  const clause = (each as Clause[]).flat();
  return clause.length > maxLiterals ? [] : [clause];
};

/** Clauses that all hold wherever the tree does. None says nothing of events that match. */
export const clausesOf = (tree: RuleTree): Clause[] => {
  switch (tree.is) {
    case 'item':
      return ofItem(tree);
    case 'not':
      return [];
    case 'and':
      return tree.parts.flatMap(clausesOf);
    default: {
      const each = tree.parts.map((part) => best(clausesOf(part)));
      if (each.length === 0 || each.some((clause) => clause === undefined)) return [];
      const clause = (each as Clause[]).flat();
      return clause.length > maxLiterals ? [] : [clause];
    }
  }
};

/** The clauses that tell most, at most as many as asked. */
export const bestClauses = (clauses: readonly Clause[], maxClauses: number): Clause[] =>
  clauses.toSorted((left, right) => worthOf(right) - worthOf(left)).slice(0, maxClauses);
