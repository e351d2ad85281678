/** Recognizes questions that are already a PromQL expression or a search */

import { QueryError } from '../../queries/errors.ts';
import { findExpressionProblem } from '../../queries/promql/index.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import type { Search } from '../../queries/search/tree.ts';
import type { Lexicon } from './lexicon.ts';

/** Syntax that only PromQL has: a call, a matcher, a range after a name, a comparison or arithmetic */
const promqlPattern = /^[^"]{0,512}[\w:}\])]\s?(?:\(|\{|\[\d)/;
const maxPromqlLength = 4_096;

/** Returns a PromQL query; `undefined` if the text is not PromQL. */
export const parsePromql = (text: string): QueryRequest | undefined => {
  const expression = text.trim();
  if (expression.length > maxPromqlLength || !promqlPattern.test(expression)) return undefined;
  return findExpressionProblem(expression) === undefined ? { kind: 'promql', expression } : undefined;
};

/** A condition, possibly in parentheses, or an operator */
const searchPartPattern = /^[(-]{0,8}(?:(?:AND|OR|NOT)\)*$|[A-Za-z_@$][\w.@$/-]*:.)/;

/** Returns whether a text is a search: only conditions and operators. */
export const isSearch = (text: string): boolean => {
  const parts = maskSpaces(text.trim()).split(/\s+/);
  return parts.every((part) => searchPartPattern.test(part)) && parts.some((value) => value.includes(':'));
};

/** Replaces spaces in quotes, parentheses and brackets, which do not separate conditions. */
const maskSpaces = (text: string): string => {
  let depth = 0;
  let isQuoted = false;
  return [...text]
    .map((character) => {
      if (character === '"') isQuoted = !isQuoted;
      else if ('([{'.includes(character)) depth += 1;
      else if (')]}'.includes(character)) depth -= 1;
      return character === ' ' && (isQuoted || depth > 0) ? '_' : character;
    })
    .join('');
};

/** Returns the field names of a search; `undefined` if it is not a search of this telemetry signal. */
const listFieldNames = (search: Search): string[] => {
  switch (search.is) {
    case 'and':
    case 'or':
      return search.parts.flatMap(listFieldNames);
    case 'not':
      return listFieldNames(search.part);
    case 'value':
      return search.reference.kind === 'field' ? [search.reference.field.name] : [search.reference.key];
    case 'number':
      return [search.field.name];
    case 'severity':
      return ['severity'];
    default:
      return [];
  }
};

/**
 * Returns a search query of a telemetry signal; `undefined` if it is not valid for the signal, or if it references
 * fields that the signal does not have.
 */
export const parseSearchQuery = (
  text: string,
  signal: 'logs' | 'traces',
  lexicon: Lexicon,
): QueryRequest | undefined => {
  const search = text.trim();
  try {
    const names = listFieldNames(parseSearch(search, signal));
    const knownNames = new Set(lexicon.fields.map(({ name }) => name));
    const isKnownName = (name: string): boolean => knownNames.has(name) || knownNames.has(`resource.${name}`);
    return names.every(isKnownName) ? { kind: 'rows', signal, search } : undefined;
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
};
