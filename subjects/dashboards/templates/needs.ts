/** What the panels of a dashboard need to show something: names of metrics and attributes, and records at all. */
import { namesIn, parseFormula } from '../../../queries/formula/parse.ts';
import type { Query } from '../../../queries/query.ts';
import { parseSearch } from '../../../queries/search/parse.ts';
import type { Search } from '../../../queries/search/tree.ts';
import { type QuerySignal, signals } from '../../../queries/signals/index.ts';
import { referenceOf } from '../../../schemas/fields.ts';
import type { DashboardFields, Panel } from '../document.ts';

/** One thing that must have landed. */
export type Need =
  | { readonly is: 'metric'; readonly name: string }
  | { readonly is: 'attribute'; readonly signal: QuerySignal; readonly kinds: readonly string[]; readonly name: string }
  | { readonly is: 'records'; readonly signal: QuerySignal };

/** A need, all of several, or one of several: a name of today and one of before do the same. */
export type Condition = Need | { readonly is: 'all' | 'any'; readonly of: readonly Condition[] };

/** Whether a condition is one thing by itself. */
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
  switch (query.kind) {
    case 'metric':
      return { is: 'metric', name: query.metric };
    case 'rows':
      return { is: 'all', of: [{ is: 'records', signal: query.signal }, ...ofSearch(query.search, query.signal)] };
    case 'aggregate': {
      const { signal, search, measures } = query;
      const fields = measures.flatMap(({ field }) => (field === undefined ? [] : attribute(signal, field)));
      return { is: 'all', of: [{ is: 'records', signal }, ...ofSearch(search, signal), ...fields] };
    }
    default:
      throw new Error(`a template asks by metric, records and figures of records, not by ${query.kind}`);
  }
};

/** What a panel needs: one of the queries and formulas that it shows. undefined where it asks nothing. */
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

/** A panel that asks something, and what it needs. */
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

/** Every need in a condition, those that others stand in for included. */
export const needsIn = (condition: Condition): Need[] =>
  isNeed(condition) ? [condition] : condition.of.flatMap(needsIn);
