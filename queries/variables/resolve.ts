/** Resolves the variables of a dashboard: their options and their selections. */
import { allValues, type ChosenValues, type Filter, type Variable } from '../../schemas/dashboards/variables.ts';
import { invalid, QueryError } from '../errors.ts';
import type { QueryReading } from '../promql/reading.ts';
import type { Incompleteness } from '../result.ts';
import { readFilters } from './filters.ts';
import { chooseStepMs, parseIntervalMs } from './intervals.ts';
import { buildOptions, limitOptions, type Option, type Options } from './options.ts';
import { listUsedVariables, sortByDependency } from './order.ts';
import { formatStep } from './platform.ts';
import { type Scope, singleValue, type VariableValue } from './scope.ts';
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

export interface ResolvedVariables {
  readonly items: readonly ResolvedVariable[];
  /** Values of all names in queries. */
  readonly scope: Scope;
  /** Filters for every query. */
  readonly filters: readonly Filter[];
}

export interface ResolveOptions extends ValuesRequest {
  readonly chosenValues?: ChosenValues | undefined;
  /** Only these variables and their dependencies; all by default. */
  readonly only?: readonly string[] | undefined;
  /** Variables whose full options are needed; default `only`. For others the selection may be sufficient. */
  readonly listedNames?: readonly string[] | undefined;
  /** Built-in variables, such as those of `platformVariables`. */
  readonly platform?: Scope | undefined;
}

type OptionsVariable = Extract<Variable, { several: boolean }>;

/** Result of one variable. */
interface Outcome {
  readonly item: ResolvedVariable;
  readonly value?: VariableValue | undefined;
  readonly filters?: readonly Filter[];
}

const toList = (chosen: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof chosen === 'string' ? [chosen] : chosen;

const matchesEveryValue = (variable: OptionsVariable): boolean =>
  (variable.kind === 'label-values' && variable.match === undefined && variable.pattern === undefined) ||
  (variable.kind === 'field-values' && variable.search === undefined && variable.pattern === undefined);

const resolveSelection = (
  variable: OptionsVariable,
  options: readonly Option[],
  chosen: readonly string[],
): readonly string[] => {
  if (chosen.includes(allValues) && variable.all !== undefined) return [allValues];
  const own = [...new Set(chosen)].filter((value) => value !== allValues);
  const known = variable.allowsOther ? own : own.filter((value) => options.some((option) => option.value === value));
  if (known.length > 1 && !variable.several) return known.slice(0, 1);
  if (known.length > 0) return known;
  if (variable.all !== undefined) return [allValues];
  return options.slice(0, 1).map(({ value }) => value);
};

const toVariableValue = (
  variable: OptionsVariable,
  options: readonly Option[],
  selected: readonly string[],
): VariableValue => {
  const isList = variable.several || variable.all !== undefined;
  if (selected[0] === allValues && variable.all !== undefined) {
    const { value } = variable.all;
    if (value !== undefined) return { values: [value], titles: ['All'], isList, isDefinedByAuthor: true };
    return {
      values: options.map((option) => option.value),
      titles: ['All'],
      isList,
      includesEveryValue: matchesEveryValue(variable),
    };
  }
  const titles = new Map(options.map(({ value, title }) => [value, title]));
  return { values: selected, titles: selected.map((value) => titles.get(value) ?? value), isList };
};

const resolveOptions = (
  variable: OptionsVariable,
  { options, partial }: Options,
  chosen: readonly string[],
): Outcome => {
  const selected = resolveSelection(variable, options, chosen);
  return {
    item: { name: variable.name, options, selected, partial },
    value: toVariableValue(variable, options, selected),
  };
};

const resolveInterval = (
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
      ? formatStep(chooseStepMs(rangeMs / auto.steps, parseIntervalMs(auto.min)))
      : formatStep(parseIntervalMs(selected));
  return { item: { name, options, selected: [selected], partial: [] }, value: singleValue(value) };
};

/** Returns whether its values are known without a query. */
const canSkipQuery = (variable: OptionsVariable, chosen: readonly string[], isRequested: boolean): boolean =>
  !isRequested &&
  variable.allowsOther &&
  chosen.length > 0 &&
  (!chosen.includes(allValues) || variable.all?.value !== undefined || matchesEveryValue(variable));

const resolveWithoutQuery = (
  variable: Variable,
  chosen: readonly string[] | undefined,
  options: ResolveOptions,
): Outcome | undefined => {
  const { name } = variable;
  const createPlainOutcome = (selected: string): Outcome => ({
    item: { name, options: [], selected: [selected], partial: [] },
    value: singleValue(selected),
  });
  switch (variable.kind) {
    case 'text':
      return createPlainOutcome(chosen?.[0] ?? variable.selected);
    case 'constant':
      return createPlainOutcome(variable.value);
    case 'interval':
      return resolveInterval(variable, options, chosen);
    case 'list':
      return resolveOptions(
        variable,
        limitOptions(variable.options.map(({ value, title = value }) => ({ value, title }))),
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
const getErrorField = ({ path = '' }: QueryError, name: string): string | undefined =>
  path.startsWith(`variables.${name}.`) ? path.slice(`variables.${name}.`.length) : undefined;

const resolveOne = async (
  variable: Variable,
  reading: QueryReading,
  options: ResolveOptions,
  scope: Scope,
): Promise<Outcome> => {
  const { chosenValues: all = {} } = options;
  // A variable may have the name of an inherited object property; it then has no selection.
  const chosen = Object.hasOwn(all, variable.name) ? toList(all[variable.name]) : undefined;
  const outcome = resolveWithoutQuery(variable, chosen, options);
  if (outcome !== undefined) return outcome;
  const queryVariable = variable as Extract<Variable, { refresh: string }>;
  const selected = chosen ?? queryVariable.selected;
  const isRequested = (options.listedNames ?? options.only)?.includes(queryVariable.name) ?? true;
  if (canSkipQuery(queryVariable, selected, isRequested))
    return resolveOptions(queryVariable, { options: [], partial: [] }, selected);
  try {
    const { texts, partial } = await queryVariableTexts(queryVariable, reading, options, scope);
    const found = buildOptions(texts, queryVariable);
    return resolveOptions(queryVariable, { ...found, partial: [...partial, ...found.partial] }, selected);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { item, value } = resolveOptions(queryVariable, { options: [], partial: [] }, selected);
    const path = getErrorField(error, queryVariable.name);
    const details = { code: error.code, message: error.message, ...(path === undefined ? {} : { path }) };
    return { item: { ...item, error: details }, value };
  }
};

/**
 * Resolves variables in the order of their dependencies, and independent variables concurrently. The failure of one
 * variable is reported and does not affect the others. Throws a `QueryError` for circular dependencies, or for an
 * unknown requested variable.
 */
export const resolveVariables = async (
  variables: readonly Variable[],
  reading: QueryReading,
  options: ResolveOptions,
): Promise<ResolvedVariables> => {
  const names = new Set(variables.map(({ name }) => name));
  for (const name of [...(options.only ?? []), ...Object.keys(options.chosenValues ?? {})])
    if (!names.has(name)) throw invalid(`variables.${name}`, 'is not a variable of this dashboard');
  const scope = new Map(options.platform);
  const outcomesByName = new Map<string, Promise<Outcome>>();
  for (const variable of sortByDependency(variables, options.only)) {
    const used = Promise.all(listUsedVariables(variable, names).map((name) => outcomesByName.get(name)));
    outcomesByName.set(
      variable.name,
      used.then(async () => {
        const outcome = await resolveOne(variable, reading, options, scope);
        if (outcome.value !== undefined) scope.set(variable.name, outcome.value);
        return outcome;
      }),
    );
  }
  const outcomes = await Promise.all(outcomesByName.values());
  return {
    items: outcomes.map(({ item }) => item),
    scope,
    filters: outcomes.flatMap(({ filters = [] }) => filters),
  };
};
