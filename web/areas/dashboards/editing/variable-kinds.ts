/** Kinds of variables in the editor: label, defaults, and lists as lines of text */

import { parseLines } from '../../../editors/lines.ts';
import type { Variable } from '../calls.ts';

export type Kind = Variable['kind'];
export type VariableOfKind<Name extends Kind> = Extract<Variable, { kind: Name }>;
/** A variable with selectable values */
export type SelectableVariable = Extract<Variable, { several: boolean }>;
/** A variable whose values come from a query */
export type QueriedVariable = Extract<Variable, { refresh: string }>;
type Filter = VariableOfKind<'filters'>['filters'][number];

export const kinds: Readonly<Record<Kind, string>> = {
  'label-values': 'Label values',
  'field-values': 'Field values',
  'metric-names': 'Metric names',
  'label-names': 'Label names',
  promql: 'PromQL result',
  list: 'Custom list',
  interval: 'Interval',
  text: 'Text box',
  constant: 'Constant',
  filters: 'Label filters',
};
const isKind = (text: string): text is Kind => Object.hasOwn(kinds, text);

const selectionDefaults = { several: false, allowsOther: true, selected: [] };
const queriedDefaults = { ...selectionDefaults, refresh: 'range' as const };

/** Defaults of a kind */
const kindDefaults: { readonly [Name in Kind]: Omit<VariableOfKind<Name>, 'kind' | 'name' | 'hide' | 'inAddress'> } = {
  'label-values': { label: 'job', ...queriedDefaults },
  'field-values': { signal: 'logs', field: 'service', ...queriedDefaults },
  'metric-names': queriedDefaults,
  'label-names': queriedDefaults,
  promql: { expression: 'up', ...queriedDefaults },
  list: { options: [{ value: 'one' }], ...selectionDefaults },
  interval: { options: ['1m', '5m', '1h'], selected: '' },
  text: { selected: '' },
  constant: { value: '' },
  filters: { filters: [], always: [] },
};

/** Fields that are preserved when a variable is converted to another kind that also has them */
const retainedFields = {
  all: ['name', 'title', 'description', 'hide', 'inAddress'],
  chosen: ['several', 'all', 'allowsOther'],
  queried: ['pattern', 'order', 'refresh', 'fixed'],
} as const;

export const isQueried = (variable: Variable): variable is QueriedVariable => 'refresh' in variable;
export const isSelectable = (variable: Variable): variable is SelectableVariable => 'several' in variable;

const pickFields = (variable: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(variable).filter(([name]) => names.includes(name)));

/** Returns the variable converted to another kind. */
export const convertVariable = (variable: Variable, kind: string): Variable => {
  if (!isKind(kind) || kind === variable.kind) return variable;
  const convertedVariable = { ...pickFields(variable, retainedFields.all), ...kindDefaults[kind], kind } as Variable;
  return {
    ...convertedVariable,
    ...(isSelectable(convertedVariable) ? pickFields(variable, retainedFields.chosen) : {}),
    ...(isQueried(convertedVariable) ? pickFields(variable, retainedFields.queried) : {}),
  } as Variable;
};

/** Returns a new variable with an unused name. */
export const createVariable = (variables: readonly Pick<Variable, 'name'>[]): Variable => {
  const usedNames = new Set(variables.map(({ name }) => name));
  let suffix = variables.length + 1;
  while (usedNames.has(`variable${suffix}`)) suffix++;
  return {
    kind: 'label-values',
    name: `variable${suffix}`,
    hide: 'nothing',
    inAddress: true,
    ...kindDefaults['label-values'],
  };
};

/** Returns the list with one item moved up or down. */
export const moveItem = <Item>(items: readonly Item[], index: number, offset: -1 | 1): readonly Item[] => {
  const [item, other] = [items[index], items[index + offset]];
  return item === undefined || other === undefined ? items : items.with(index + offset, item).with(index, other);
};

/** Conversion of a list to lines of text and back */
export interface LineFormat<Item> {
  format(items: readonly Item[]): string;
  parse(text: string): Item[];
}

const separator = ' | ';

/** One option per line: `value`, or `value | title` */
export const optionLines: LineFormat<VariableOfKind<'list'>['options'][number]> = {
  format: (options) =>
    options.map(({ value, title }) => (title === undefined ? value : `${value}${separator}${title}`)).join('\n'),
  parse: (text) =>
    parseLines(text).map((line) => {
      const separatorIndex = line.indexOf(separator);
      return separatorIndex < 0
        ? { value: line }
        : { value: line.slice(0, separatorIndex), title: line.slice(separatorIndex + separator.length) };
    }),
};

export const textLines: LineFormat<string> = { format: (texts) => texts.join('\n'), parse: parseLines };

/** `job=node`; consecutive lines with the same label and operator are one condition with several values */
export const filterLines: LineFormat<Filter> = {
  format: (filters) =>
    filters
      .flatMap(({ label, operator, values }) =>
        values.length === 0 ? [label] : values.map((value) => `${label}${operator}${value}`),
      )
      .join('\n'),
  parse: (text) => {
    const filters: Filter[] = [];
    for (const line of parseLines(text)) {
      const [, label = line, operator = '=', value] = /^([^=!<>~]{1,1024})(=~|!~|!=|=|<|>)(.*)$/s.exec(line) ?? [];
      // An invalid condition gets no value; the API then reports an error at its index.
      const values = value === undefined ? [] : [value];
      const lastFilter = filters.at(-1);
      if (lastFilter?.label === label && lastFilter.operator === operator)
        filters[filters.length - 1] = { ...lastFilter, values: [...lastFilter.values, ...values] };
      else filters.push({ label, operator: operator as Filter['operator'], values });
    }
    return filters;
  },
};

/** Returns whether a list can be edited as lines: no value may contain a line break or a vertical bar. */
export const isWritable = <Item>(lines: LineFormat<Item>, items: readonly Item[]): boolean =>
  JSON.stringify(lines.parse(lines.format(items))) === JSON.stringify(items);
