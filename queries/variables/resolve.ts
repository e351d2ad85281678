/** Resolves the variables of a dashboard: their options and their selections. */
import { allValues, type ChosenValues, type Filter, type Variable } from '../../schemas/dashboards/variables.ts';
import { invalid, QueryError } from '../errors.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { Incompleteness } from '../result.ts';
import { readFilters } from './filters.ts';
import { autoStepMs, lengthMs } from './intervals.ts';
import { bounded, type Option, type Options, optionsOf } from './options.ts';
import { inOrderOfUse, usesOf } from './order.ts';
import { stepText } from './platform.ts';
import { type Scope, single, type VariableValue } from './scope.ts';
import { queryVariableTexts, type ValuesRequest } from './texts-found.ts';

export interface ResolvedVariable {
  readonly name: string;
  readonly options: readonly Option[];
  /** Selected values, or `$__all`. */
  readonly selected: readonly string[];
  readonly partial: readonly Incompleteness[];
  /** Why its values could not be queried; the selection remains valid. */
  readonly error?: {
    readonly code: string;
    readonly message: string;
    /** Field of the variable: `pattern`, `names`; absent for an error of its query. */
    readonly path?: string;
  };
}

export interface Resolved {
  readonly items: readonly ResolvedVariable[];
  /** Values of all names in queries. */
  readonly scope: Scope;
  /** Filters for every query. */
  readonly filters: readonly Filter[];
}

export interface ResolveOptions extends ValuesRequest {
  readonly chosen?: ChosenValues | undefined;
  /** Only these variables and their dependencies; all by default. */
  readonly only?: readonly string[] | undefined;
  /** Variables whose full options are needed; default `only`. For others the selection may be sufficient. */
  readonly listed?: readonly string[] | undefined;
  /** Built-in variables, such as those of `platformVariables`. */
  readonly platform?: Scope | undefined;
}

type Listed = Extract<Variable, { several: boolean }>;

/** Result of one variable. */
interface Outcome {
  readonly item: ResolvedVariable;
  readonly value?: VariableValue | undefined;
  readonly filters?: readonly Filter[];
}

const listOf = (chosen: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof chosen === 'string' ? [chosen] : chosen;

const everyOf = (variable: Listed): boolean =>
  (variable.kind === 'label-values' && variable.match === undefined && variable.pattern === undefined) ||
  (variable.kind === 'field-values' && variable.search === undefined && variable.pattern === undefined);

const selectedOf = (variable: Listed, options: readonly Option[], chosen: readonly string[]): readonly string[] => {
  if (chosen.includes(allValues) && variable.all !== undefined) return [allValues];
  const own = [...new Set(chosen)].filter((value) => value !== allValues);
  const known = variable.allowsOther ? own : own.filter((value) => options.some((option) => option.value === value));
  if (known.length > 1 && !variable.several) return known.slice(0, 1);
  if (known.length > 0) return known;
  if (variable.all !== undefined) return [allValues];
  return options.slice(0, 1).map(({ value }) => value);
};

const valueOfListed = (variable: Listed, options: readonly Option[], selected: readonly string[]): VariableValue => {
  const isList = variable.several || variable.all !== undefined;
  if (selected[0] === allValues && variable.all !== undefined) {
    const { value } = variable.all;
    if (value !== undefined) return { values: [value], titles: ['All'], isList, isWritten: true };
    return { values: options.map((option) => option.value), titles: ['All'], isList, isEvery: everyOf(variable) };
  }
  const titles = new Map(options.map(({ value, title }) => [value, title]));
  return { values: selected, titles: selected.map((value) => titles.get(value) ?? value), isList };
};

const listed = (variable: Listed, { options, partial }: Options, chosen: readonly string[]): Outcome => {
  const selected = selectedOf(variable, options, chosen);
  return {
    item: { name: variable.name, options, selected, partial },
    value: valueOfListed(variable, options, selected),
  };
};

const interval = (
  variable: Extract<Variable, { kind: 'interval' }>,
  { range }: ValuesRequest,
  chosen: readonly string[] | undefined,
): Outcome => {
  const { auto, name } = variable;
  const all = [...(auto === undefined ? [] : ['auto']), ...variable.options];
  const options = all.map((value) => ({ value, title: value }));
  const [requested = variable.selected] = chosen ?? [];
  const selected = all.includes(requested) ? requested : (all[0] as string);
  const rangeMs = Number((range.to - range.from) / 1_000_000n);
  const value =
    selected === 'auto' && auto !== undefined
      ? stepText(autoStepMs(rangeMs / auto.steps, lengthMs(auto.min)))
      : stepText(lengthMs(selected));
  return { item: { name, options, selected: [selected], partial: [] }, value: single(value) };
};

/** Returns whether its values are known without a query. */
const canSkipQuery = (variable: Listed, chosen: readonly string[], isRequested: boolean): boolean =>
  !isRequested &&
  variable.allowsOther &&
  chosen.length > 0 &&
  (!chosen.includes(allValues) || variable.all?.value !== undefined || everyOf(variable));

const known = (
  variable: Variable,
  chosen: readonly string[] | undefined,
  options: ResolveOptions,
): Outcome | undefined => {
  const { name } = variable;
  const plain = (selected: string): Outcome => ({
    item: { name, options: [], selected: [selected], partial: [] },
    value: single(selected),
  });
  switch (variable.kind) {
    case 'text':
      return plain(chosen?.[0] ?? variable.selected);
    case 'constant':
      return plain(variable.value);
    case 'interval':
      return interval(variable, options, chosen);
    case 'list':
      return listed(
        variable,
        bounded(variable.options.map(({ value, title = value }) => ({ value, title }))),
        chosen ?? variable.selected,
      );
    case 'filters': {
      const filters = [...variable.always, ...(chosen === undefined ? variable.filters : readFilters(chosen, name))];
      return { item: { name, options: [], selected: chosen ?? [], partial: [] }, filters };
    }
    default:
      return undefined;
  }
};

/** Returns the field of the variable that an error is about, if any. */
const fieldOf = ({ path = '' }: QueryError, name: string): string | undefined =>
  path.startsWith(`variables.${name}.`) ? path.slice(`variables.${name}.`.length) : undefined;

const resolveOne = async (
  variable: Variable,
  reading: QueryReading,
  options: ResolveOptions,
  scope: Scope,
): Promise<Outcome> => {
  const { chosen: all = {} } = options;
  // A variable may have the name of an inherited object property; it then has no selection.
  const chosen = Object.hasOwn(all, variable.name) ? listOf(all[variable.name]) : undefined;
  const outcome = known(variable, chosen, options);
  if (outcome !== undefined) return outcome;
  const queryVariable = variable as Extract<Variable, { refresh: string }>;
  const selected = chosen ?? queryVariable.selected;
  const isRequested = (options.listed ?? options.only)?.includes(queryVariable.name) ?? true;
  if (canSkipQuery(queryVariable, selected, isRequested))
    return listed(queryVariable, { options: [], partial: [] }, selected);
  try {
    const { texts, partial } = await queryVariableTexts(queryVariable, reading, options, scope);
    const found = optionsOf(texts, queryVariable);
    return listed(queryVariable, { ...found, partial: [...partial, ...found.partial] }, selected);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { item, value } = listed(queryVariable, { options: [], partial: [] }, selected);
    const path = fieldOf(error, queryVariable.name);
    const details = { code: error.code, message: error.message, ...(path === undefined ? {} : { path }) };
    return { item: { ...item, error: details }, value };
  }
};

/**
 * Resolves variables in order of dependency, independent ones concurrently. The failure of one is reported and does not
 * affect others. Throws a `QueryError` for circular dependencies, or for an unknown requested variable.
 */
export const resolveVariables = async (
  variables: readonly Variable[],
  reading: QueryReading,
  options: ResolveOptions,
): Promise<Resolved> => {
  const names = new Set(variables.map(({ name }) => name));
  for (const name of [...(options.only ?? []), ...Object.keys(options.chosen ?? {})])
    if (!names.has(name)) throw invalid(`variables.${name}`, 'is not a variable of this dashboard');
  const scope = new Map(options.platform);
  const done = new Map<string, Promise<Outcome>>();
  for (const variable of inOrderOfUse(variables, options.only)) {
    const used = Promise.all(usesOf(variable, names).map((name) => done.get(name)));
    done.set(
      variable.name,
      used.then(async () => {
        const outcome = await resolveOne(variable, reading, options, scope);
        if (outcome.value !== undefined) scope.set(variable.name, outcome.value);
        return outcome;
      }),
    );
  }
  const outcomes = await Promise.all(done.values());
  return {
    items: outcomes.map(({ item }) => item),
    scope,
    filters: outcomes.flatMap(({ filters = [] }) => filters),
  };
};
