/** Resolves the variables of a dashboard: their options and their selections. */
import { allValues, type ChosenValues, type Filter, type Variable } from '../../schemas/dashboards/variables.ts';
import { createValidationError, QueryError } from '../errors.ts';
import type { QueryReader } from '../promql/query-reader.ts';
import type { Incompleteness } from '../result.ts';
import { readFilters } from './filters.ts';
import { chooseStepMs, parseIntervalMs } from './intervals.ts';
import { buildOptions, limitOptions, type Option, type Options } from './options.ts';
import { type OrderedVariable, sortByDependency } from './order.ts';
import { formatStep } from './platform.ts';
import { type Scope, toSingleValue, type VariableValue } from './scope.ts';
import { queryVariableTexts, type ValuesRequest } from './variable-texts.ts';

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
  readonly selectedValues?: ChosenValues | undefined;
  /** Only these variables and their dependencies; all by default. */
  readonly requestedNames?: readonly string[] | undefined;
  /** Variables whose full options are needed; default `only`. For others the selection may be sufficient. */
  readonly listedNames?: readonly string[] | undefined;
  /** Built-in variables, such as those of `buildPlatformVariables`. */
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
  const requestedValues = [...new Set(chosen)].filter((value) => value !== allValues);
  const validValues = variable.allowsOther
    ? requestedValues
    : requestedValues.filter((value) => options.some((option) => option.value === value));
  if (validValues.length > 1 && !variable.several) return validValues.slice(0, 1);
  if (validValues.length > 0) return validValues;
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
  const intervals = [...(auto === undefined ? [] : ['auto']), ...variable.options];
  const options = intervals.map((value) => ({ value, title: value }));
  const [requested = variable.selected] = chosen ?? [];
  const selected = intervals.includes(requested) ? requested : (intervals[0] as string);
  const rangeMs = Number((range.to - range.from) / 1_000_000n);
  const value =
    selected === 'auto' && auto !== undefined
      ? formatStep(chooseStepMs(rangeMs / auto.steps, parseIntervalMs(auto.min)))
      : formatStep(parseIntervalMs(selected));
  return { item: { name, options, selected: [selected], partial: [] }, value: toSingleValue(value) };
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
    value: toSingleValue(selected),
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

const resolveVariable = async (
  { variable, cycleProblem }: OrderedVariable,
  reader: QueryReader,
  options: ResolveOptions,
  scope: Scope,
): Promise<Outcome> => {
  const { selectedValues: all = {} } = options;
  // A variable may have the name of an inherited object property; it then has no selection.
  const selection = Object.hasOwn(all, variable.name) ? toList(all[variable.name]) : undefined;
  const outcome = resolveWithoutQuery(variable, selection, options);
  if (outcome !== undefined) return outcome;
  const queryVariable = variable as Extract<Variable, { refresh: string }>;
  const selected = selection ?? queryVariable.selected;
  const isRequested = (options.listedNames ?? options.requestedNames)?.includes(queryVariable.name) ?? true;
  if (canSkipQuery(queryVariable, selected, isRequested))
    return resolveOptions(queryVariable, { options: [], partial: [] }, selected);
  try {
    if (cycleProblem !== undefined) throw createValidationError(`variables.${queryVariable.name}`, cycleProblem);
    const { texts, partial } = await queryVariableTexts(queryVariable, reader, options, scope);
    const builtOptions = buildOptions(texts, queryVariable);
    return resolveOptions(queryVariable, { ...builtOptions, partial: [...partial, ...builtOptions.partial] }, selected);
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
 * variable, also of one that depends on itself, is reported and does not affect the others. Throws a `QueryError` for an
 * unknown requested variable.
 */
export const resolveVariables = async (
  variables: readonly Variable[],
  reader: QueryReader,
  options: ResolveOptions,
): Promise<ResolvedVariables> => {
  const names = new Set(variables.map(({ name }) => name));
  for (const name of [...(options.requestedNames ?? []), ...Object.keys(options.selectedValues ?? {})])
    if (!names.has(name)) throw createValidationError(`variables.${name}`, 'is not a variable of this dashboard');
  const scope = new Map(options.platform);
  const outcomesByName = new Map<string, Promise<Outcome>>();
  for (const ordered of sortByDependency(variables, options.requestedNames)) {
    const { name } = ordered.variable;
    const dependencies = Promise.all(ordered.dependencies.map((dependency) => outcomesByName.get(dependency)));
    outcomesByName.set(
      name,
      dependencies.then(async () => {
        const outcome = await resolveVariable(ordered, reader, options, scope);
        if (outcome.value !== undefined) scope.set(name, outcome.value);
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
