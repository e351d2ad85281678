/** Ad hoc filters: conditions on labels that people add to all queries of a dashboard. */
import type { Filter } from '../../schemas/dashboards/variables.ts';
import { createValidationError } from '../errors.ts';
import { toQueryError } from '../promql/run-promql.ts';
import { tokenize } from '../promql/syntax/lexer.ts';
import { parseExpression } from '../promql/syntax/parse.ts';
import { quoteText } from '../promql/syntax/quotes.ts';
import { visitExpressions } from '../promql/syntax/tree.ts';
import type { Query } from '../query.ts';
import { changeParts, type FilterChanges, getQueryKind } from '../query-kind.ts';
import { parseSearch } from '../search/parse.ts';
import { buildRegexChoice } from './formats.ts';
import { replaceInSearch } from './in-search.ts';
import { toSingleValue } from './scope.ts';

const readFilter = (text: string, name: string): Filter => {
  const [, label, operator, value] = /^([^=!<>~]{1,1024})(=~|!~|!=|=|<|>)(.*)$/s.exec(text) ?? [];
  if (label === undefined || operator === undefined || value === undefined)
    throw createValidationError(`variables.${name}`, `must be filters such as job=node: ${text}`);
  return { label, operator: operator as Filter['operator'], values: [value] };
};

/**
 * Parses selected filters: `job=node`, `job!=node`, `job=~n.*`. Several filters on one label with `=` or `!=` become
 * one filter with several values. An empty text stands for no filter, so that a selection without filters is possible.
 */
export const readFilters = (texts: readonly string[], name: string): Filter[] => {
  const filters = new Map<string, Filter>();
  for (const text of texts.filter((value) => value !== '')) {
    const filter = readFilter(text, name);
    const key = filter.operator === '=' || filter.operator === '!=' ? `${filter.operator} ${filter.label}` : text;
    const previous = filters.get(key);
    filters.set(key, previous === undefined ? filter : { ...previous, values: [...previous.values, ...filter.values] });
  }
  return [...filters.values()];
};

/** Returns a PromQL matcher. */
const formatMatcher = ({ label, operator, values }: Filter): string => {
  if (operator === '<' || operator === '>')
    throw createValidationError(
      'variables',
      `label ${label} cannot be compared by ${operator} in PromQL: only by =, !=, =~ and !~`,
    );
  const hasOneValue = values.length === 1;
  const isRegex = operator.endsWith('~');
  const text = hasOneValue ? (values[0] as string) : isRegex ? `(${values.join('|')})` : buildRegexChoice(values);
  return `${quoteText(label.toWellFormed())}${hasOneValue || isRegex ? operator : `${operator}~`}${quoteText(text.toWellFormed())}`;
};

/** Returns an expression with the filters added to every selector. */
const addPromqlFilters = (expression: string, filters: readonly Filter[]): string => {
  const conditions = filters.map(formatMatcher).join(',');
  const insertions: { readonly at: number; readonly text: string }[] = [];
  const braces = tokenize(expression).filter(({ kind, text }) => kind === 'mark' && text === '{');
  visitExpressions(parseExpression(expression), (node) => {
    if (node.kind !== 'selector' || node.hasLabelsOnly) return;
    const brace = braces.find(({ start }) => start >= node.start && start < node.end);
    const isEmpty = node.matchers.length === (node.name === '' ? 0 : 1);
    insertions.push(
      brace === undefined
        ? { at: node.start + node.name.length, text: `{${conditions}}` }
        : { at: brace.end, text: `${conditions}${isEmpty ? '' : ','}` },
    );
  });
  let text = '';
  let from = 0;
  for (const { at, text: insertedText } of insertions.sort((left, right) => left.at - right.at)) {
    text += expression.slice(from, at) + insertedText;
    from = at;
  }
  return text + expression.slice(from);
};

const formatSearchCondition = ({ label, operator, values }: Filter): string => {
  const scope = new Map([
    ['label', toSingleValue(label)],
    ['values', { values, isList: true }],
  ]);
  if (operator.endsWith('~')) {
    const tests = values.map(
      (value) =>
        `$label:/${value.replaceAll(/\\.|\/|\s/gs, (sign) => (sign.length > 1 ? sign : `\\x{${sign.charCodeAt(0).toString(16)}}`))}/`,
    );
    return replaceInSearch(
      `${operator === '!~' ? 'NOT ' : ''}(${tests.join(' OR ')})`,
      new Map([['label', toSingleValue(label)]]),
    );
  }
  if (operator === '<' || operator === '>') return replaceInSearch(`$label:${operator}$values`, scope);
  return replaceInSearch(`${operator === '!=' ? 'NOT ' : ''}$label:$values`, scope);
};

const createFilterChanges = (filters: readonly Filter[]): FilterChanges => ({
  search(search, signal) {
    const conditions = search === undefined || search.trim() === '' ? [] : [`(${search})`];
    // The search is first parsed by itself, so that none of its parentheses closes the surrounding one.
    if (search !== undefined) parseSearch(search, signal);
    return [...conditions, ...filters.map(formatSearchCondition)].join(' ');
  },
  promql(expression) {
    try {
      return addPromqlFilters(expression, filters);
    } catch (error) {
      throw toQueryError(error);
    }
  },
});

/** Returns a query with additional filters. */
export const addQueryFilters = (query: Query, filters: readonly Filter[]): Query => {
  if (filters.length === 0) return query;
  const filteredQuery = changeParts(query, (part) => addQueryFilters(part, filters));
  return getQueryKind(filteredQuery).addFilters?.(filteredQuery, createFilterChanges(filters)) ?? filteredQuery;
};
