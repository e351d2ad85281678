/** Needs of a dashboard's panels: names of metrics and attributes, and any records. */
import { namesIn, parseFormula } from '../../../queries/formula/parse.ts';
import type { Query } from '../../../queries/query.ts';
import { measuresOf } from '../../../queries/query-kind.ts';
import { parseSearch } from '../../../queries/search/parse.ts';
import type { Search } from '../../../queries/search/tree.ts';
import { type QuerySignal, signals } from '../../../queries/signals/index.ts';
import { referenceOf } from '../../../schemas/fields.ts';
import type { DashboardFields, Panel } from '../document.ts';

/** One kind of data that must have landed. */
export type Need =
  | { readonly is: 'metric'; readonly name: string }
  | { readonly is: 'attribute'; readonly signal: QuerySignal; readonly kinds: readonly string[]; readonly name: string }
  | { readonly is: 'records'; readonly signal: QuerySignal };

/** A need, all of several, or any of several: for example a current name or a former one. */
export type Condition = Need | { readonly is: 'all' | 'any'; readonly of: readonly Condition[] };

/** Returns whether a condition is a single need. */
export const isNeed = (condition: Condition): condition is Need => condition.is !== 'all' && condition.is !== 'any';

const attribute = (signal: QuerySignal, name: string): Condition[] => {
  const reference = referenceOf(signals[signal].fields, name);
  if (reference.kind === 'field') return [];
  const kinds = reference.kind === 'any' ? ['attribute', 'resource'] : [reference.kind];
  return [{ is: 'attribute', signal, kinds, name: reference.key }];
};

const inSearch = (search: Search, signal: QuerySignal): Condition[] => {
  if (search.is === 'and' || search.is === 'or') {
    const of = search.parts.map((part): Condition => ({ is: 'all', of: inSearch(part, signal) }));
    return [{ is: search.is === 'and' ? 'all' : 'any', of }];
  }
  if (search.is !== 'value' || search.reference.kind === 'field') return [];
  const { kind, key } = search.reference;
  return attribute(signal, kind === 'any' ? key : `${kind}.${key}`);
};

const ofSearch = (text: string | undefined, signal: QuerySignal): Condition[] =>
  text === undefined ? [] : inSearch(parseSearch(text, signal), signal);

const ofQuery = (query: Query): Condition => {
  if ('metric' in query) return { is: 'metric', name: query.metric };
  if (!('signal' in query)) throw new Error(`a template can query metrics, records and aggregates, not ${query.kind}`);
  const { signal, search } = query;
  const fields = measuresOf(query).flatMap(({ field }) => (field === undefined ? [] : attribute(signal, field)));
  return { is: 'all', of: [{ is: 'records', signal }, ...ofSearch(search, signal), ...fields] };
};

/** The need of a panel: one of its visible queries and formulas. Undefined for a panel without queries. */
const ofPanel = ({ queries, formulas }: Panel): Condition | undefined => {
  const conditions = new Map(
    queries.flatMap(({ name, query }) => (query === undefined ? [] : [[name, ofQuery(query)]])),
  );
  const shown = queries.flatMap(({ name, hidden }) => (hidden ? [] : (conditions.get(name) ?? [])));
  const calculated = formulas.map(({ expression }): Condition => {
    const of = namesIn(parseFormula(expression)).flatMap((name) => conditions.get(name) ?? []);
    return { is: 'all', of };
  });
  const of = [...shown, ...calculated];
  return of.length === 0 ? undefined : { is: 'any', of };
};

/** A panel with queries, and its needs. */
export interface NeedyPanel {
  readonly id: string;
  readonly title: string;
  readonly needs: Condition;
}

export const panelsWithQueries = ({ panels }: Pick<DashboardFields, 'panels'>): NeedyPanel[] =>
  panels.flatMap((panel) => {
    const needs = ofPanel(panel);
    return needs === undefined ? [] : [{ id: panel.id, title: panel.title, needs }];
  });

/** Returns all needs in a condition, including alternatives. */
export const needsIn = (condition: Condition): Need[] =>
  isNeed(condition) ? [condition] : condition.of.flatMap(needsIn);
