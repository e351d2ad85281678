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
  | { readonly kind: 'metric'; readonly name: string }
  | {
      readonly kind: 'attribute';
      readonly signal: QuerySignal;
      readonly kinds: readonly string[];
      readonly name: string;
    }
  | { readonly kind: 'records'; readonly signal: QuerySignal };

/** A need, all of several, or any of several: for example a current name or a former one. */
export type Condition = DataNeed | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] };

/** Returns whether a condition is a single need. */
export const isNeed = (condition: Condition): condition is DataNeed =>
  condition.kind !== 'all' && condition.kind !== 'any';

const collectAttributeNeeds = (signal: QuerySignal, name: string): Condition[] => {
  const reference = resolveReference(signalDefinitions[signal].fields, name);
  if (reference.kind === 'field') return [];
  const kinds = reference.kind === 'any' ? ['attribute', 'resource'] : [reference.kind];
  return [{ kind: 'attribute', signal, kinds, name: reference.key }];
};

const collectSearchNeeds = (search: Search, signal: QuerySignal): Condition[] => {
  if (search.is === 'and' || search.is === 'or') {
    const of = search.parts.map((part): Condition => ({ kind: 'all', of: collectSearchNeeds(part, signal) }));
    return [{ kind: search.is === 'and' ? 'all' : 'any', of }];
  }
  if (search.is !== 'value' || search.reference.kind === 'field') return [];
  const { kind, key } = search.reference;
  return collectAttributeNeeds(signal, kind === 'any' ? key : `${kind}.${key}`);
};

const collectSearchTextNeeds = (text: string | undefined, signal: QuerySignal): Condition[] =>
  text === undefined ? [] : collectSearchNeeds(parseSearch(text, signal), signal);

const collectQueryNeeds = (query: Query): Condition => {
  if ('metric' in query) return { kind: 'metric', name: query.metric };
  if (!('signal' in query)) throw new Error(`a template can query metrics, records and aggregates, not ${query.kind}`);
  const { signal, search } = query;
  const fields = listMeasures(query).flatMap(({ field }) =>
    field === undefined ? [] : collectAttributeNeeds(signal, field),
  );
  return { kind: 'all', of: [{ kind: 'records', signal }, ...collectSearchTextNeeds(search, signal), ...fields] };
};

/**
 * Returns the condition for a panel to show data: any of its visible queries and formulas. Undefined for a panel
 * without queries.
 */
const collectPanelNeeds = ({ queries, formulas }: Panel): Condition | undefined => {
  const conditions = new Map(
    queries.flatMap(({ name, query }) => (query === undefined ? [] : [[name, collectQueryNeeds(query)]])),
  );
  const visibleConditions = queries.flatMap(({ name, hidden }) => (hidden ? [] : (conditions.get(name) ?? [])));
  const formulaConditions = formulas.map(({ expression }): Condition => {
    const of = collectNames(parseFormula(expression)).flatMap((name) => conditions.get(name) ?? []);
    return { kind: 'all', of };
  });
  const of = [...visibleConditions, ...formulaConditions];
  return of.length === 0 ? undefined : { kind: 'any', of };
};

/** A panel with queries, and its needs. */
export interface PanelNeeds {
  readonly id: string;
  readonly title: string;
  readonly needs: Condition;
}

export const listPanelNeeds = ({ panels }: Pick<DashboardFields, 'panels'>): PanelNeeds[] =>
  panels.flatMap((panel) => {
    const needs = collectPanelNeeds(panel);
    return needs === undefined ? [] : [{ id: panel.id, title: panel.title, needs }];
  });

/** Returns all needs in a condition, including alternatives. */
export const collectConditionNeeds = (condition: Condition): DataNeed[] =>
  isNeed(condition) ? [condition] : condition.of.flatMap(collectConditionNeeds);
