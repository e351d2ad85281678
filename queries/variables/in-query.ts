/** Variables in a query of any kind. */
import type { Query } from '../query.ts';
import { changeParts, getQueryKind } from '../query-kind.ts';
import { replaceInFormula } from './in-formula.ts';
import { replaceInPromql } from './in-promql.ts';
import { replaceInSearch } from './in-search.ts';
import { replaceInNames, replaceInText } from './in-text.ts';
import type { Scope } from './scope.ts';

/** Returns a query with its variables replaced. Throws a `QueryError` if a value is not valid at its position. */
export const replaceInQuery = (query: Query, scope: Scope): Query => {
  const { changeTexts } = getQueryKind(query);
  const changedQuery = changeTexts?.(query, {
    text: (text) => replaceInText(text, scope),
    names: (names) => replaceInNames(names, scope),
    search: (search) => replaceInSearch(search, scope),
    promql: (expression) => replaceInPromql(expression, scope),
    formula: (expression) => replaceInFormula(expression, scope),
  });
  return changeParts(changedQuery ?? query, (part) => replaceInQuery(part, scope));
};
