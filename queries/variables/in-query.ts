/** Variables in a query of any kind. */
import type { Query } from '../query.ts';
import { changeParts, kindOf } from '../query-kind.ts';
import { inFormula } from './in-formula.ts';
import { inPromql } from './in-promql.ts';
import { inSearch } from './in-search.ts';
import { inNames, inText } from './in-text.ts';
import type { Scope } from './scope.ts';

/** Returns a query with its variables replaced. Throws a `QueryError` if a value is not valid at its position. */
export const inQuery = (query: Query, scope: Scope): Query => {
  const { changeTexts } = kindOf(query);
  const own = changeTexts?.(query, {
    text: (text) => inText(text, scope),
    names: (names) => inNames(names, scope),
    search: (search) => inSearch(search, scope),
    promql: (expression) => inPromql(expression, scope),
    formula: (expression) => inFormula(expression, scope),
  });
  return changeParts(own ?? query, (part) => inQuery(part, scope));
};
