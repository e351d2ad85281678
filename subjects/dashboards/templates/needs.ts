/** Needs of a dashboard's panels: names of metrics and attributes, and any records. */
import { collectNames, parseFormula } from '../../../queries/formula/parse.ts';
import type { Query } from '../../../queries/query.ts';
import { listMeasures } from '../../../queries/query-kind.ts';
import { parseSearch } from '../../../queries/search/parse.ts';
import type { Search } from '../../../queries/search/tree.ts';
import { type QuerySignal, signalDefinitions } from '../../../queries/signals/index.ts';
import { resolveReference } from '../../../schemas/fields.ts';
import type { DashboardFields, Panel } from '../document.ts';

/** Data that must be available. */
export type DataNeed =
  | { readonly is: 'metric'; readonly name: string }
  | { readonly is: 'attribute'; readonly signal: QuerySignal; readonly kinds: readonly string[]; readonly name: string }
  | { readonly is: 'records'; readonly signal: QuerySignal };

/** A need, all of several, or any of several: for example a current name or a former one. */
export type Condition = DataNeed | { readonly is: 'all' | 'any'; readonly of: readonly Condition[] };

/** Returns whether a condition is a single need. */
export const isNeed = (condition: Condition): condition is DataNeed => condition.is !== 'all' && condition.is !== 'any';

const attributeNeeds = (signal: QuerySignal, name: string): Condition[] => {
  const reference = resolveReference(signalDefinitions[signal].fields, name);
  if (reference.kind === 'field') return [];
  const kinds = reference.kind === 'any' ? ['attribute', 'resource'] : [reference.kind];
  return [{ is: 'attribute', signal, kinds, name: reference.key }];
};

const searchNeeds = (search: Search, signal: QuerySignal): Condition[] => {
  if (search.is === 'and' || search.is === 'or') {
    const of = search.parts.map((part): Condition => ({ is: 'all', of: searchNeeds(part, signal) }));
    return [{ is: search.is === 'and' ? 'all' : 'any', of }];
  }
  if (search.is !== 'value' || search.reference.kind === 'field') return [];
  const { kind, key } = search.reference;
  return attributeNeeds(signal, kind === 'any' ? key : `${kind}.${key}`);
};

const searchTextNeeds = (text: string | undefined, signal: QuerySignal): Condition[] =>
  text === undefined ? [] : searchNeeds(parseSearch(text, signal), signal);

const queryNeeds = (query: Query): Condition => {
  if ('metric' in query) return { is: 'metric', name: query.metric };
  if (!('signal' in query)) throw new Error(`a template can query metrics, records and aggregates, not ${query.kind}`);
  const { signal, search } = query;
  const fields = listMeasures(query).flatMap(({ field }) => (field === undefined ? [] : attributeNeeds(signal, field)));
  return { is: 'all', of: [{ is: 'records', signal }, ...searchTextNeeds(search, signal), ...fields] };
};

/**
 * Returns the condition for a panel to show data: any of its visible queries and formulas. Undefined for a panel
 * without queries.
 */
const panelNeeds = ({ queries, formulas }: Panel): Condition | undefined => {
  const conditions = new Map(
    queries.flatMap(({ name, query }) => (query === undefined ? [] : [[name, queryNeeds(query)]])),
  );
  const shown = queries.flatMap(({ name, hidden }) => (hidden ? [] : (conditions.get(name) ?? [])));
  const formulaConditions = formulas.map(({ expression }): Condition => {
    const of = collectNames(parseFormula(expression)).flatMap((name) => conditions.get(name) ?? []);
    return { is: 'all', of };
  });
  const of = [...shown, ...formulaConditions];
  return of.length === 0 ? undefined : { is: 'any', of };
};

/** A panel with queries, and its needs. */
export interface PanelNeeds {
  readonly id: string;
  readonly title: string;
  readonly needs: Condition;
}

export const panelsWithQueries = ({ panels }: Pick<DashboardFields, 'panels'>): PanelNeeds[] =>
  panels.flatMap((panel) => {
    const needs = panelNeeds(panel);
    return needs === undefined ? [] : [{ id: panel.id, title: panel.title, needs }];
  });

/** Returns all needs in a condition, including alternatives. */
export const collectConditionNeeds = (condition: Condition): DataNeed[] =>
  isNeed(condition) ? [condition] : condition.of.flatMap(collectConditionNeeds);
