/** Variables, in both directions. */

import { type Fields, isFields } from '../../../runtime/fields.ts';
import { allValues, maxValues, type Variable as OurVariable, Variable } from '../../../schemas/dashboards/variables.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import { isPromqlSource, type Sources } from './sources.ts';

const isText = (value: unknown): value is string => typeof value === 'string';

const hideModes = ['nothing', 'title', 'variable'] as const;
const orders = [
  undefined,
  ['text', 'ascending'],
  ['text', 'descending'],
  ['number', 'ascending'],
  ['number', 'descending'],
  ['caseless', 'ascending'],
  ['caseless', 'descending'],
  ['natural', 'ascending'],
  ['natural', 'descending'],
] as const;

/** Reads the fields that every variable has. */
const readSharedFields = (variable: Fields, ledger: Ledger): Fields => {
  const { name, label, description, hide, skipUrlSync } = variable;
  ledger.carry(variable, 'name', 'type');
  const hidden = hideModes[Number(hide ?? 0)];
  if (hidden !== undefined) ledger.carry(variable, 'hide');
  if (isText(label)) ledger.carry(variable, 'label');
  if (isText(description)) ledger.carry(variable, 'description');
  if (typeof skipUrlSync === 'boolean') ledger.carry(variable, 'skipUrlSync');
  return {
    name,
    ...(isText(label) && label !== '' && { title: label }),
    ...(isText(description) && description !== '' && { description }),
    ...(hidden !== undefined && { hide: hidden }),
    ...(skipUrlSync === true && { inAddress: false }),
  };
};

const toTexts = (value: unknown): string[] =>
  [value]
    .flat()
    .filter((text): text is string => isText(text) && text !== '')
    .slice(0, maxValues);

const readCurrent = (variable: Fields, ledger: Ledger): string[] => {
  const { current } = variable;
  if (!isFields(current)) return [];
  const values = toTexts(current['value']).map((value) =>
    value === 'All' && variable['includeAll'] === true ? allValues : value,
  );
  ledger.carry(current, 'value');
  // Texts that equal their values need not be stored.
  const texts = toTexts(current['text']);
  const areTextsDerived = texts.every(
    (text, index) => text === values[index] || values[index] === allValues || values.length === 0,
  );
  if (areTextsDerived) ledger.carry(current, 'text');
  ledger.markDefault(current, 'selected', 'isNone', 'tags');
  return values;
};

/** Reads the settings of a selection, and the selected values. */
const readSelection = (variable: Fields, ledger: Ledger): Fields => {
  const { multi, includeAll, allValue, allowCustomValue } = variable;
  for (const key of ['multi', 'includeAll', 'allowCustomValue'])
    if (typeof variable[key] === 'boolean') ledger.carry(variable, key);
  const hasAll = includeAll === true;
  if (hasAll && isText(allValue)) ledger.carry(variable, 'allValue');
  return {
    several: multi === true,
    ...(hasAll && { all: isText(allValue) && allValue !== '' ? { value: allValue } : {} }),
    allowsOther: allowCustomValue !== false,
    selected: readCurrent(variable, ledger),
  };
};

/** A Grafana pattern between slashes, which matches anywhere. */
const readPattern = (regex: unknown): string | undefined => {
  if (!isText(regex) || regex === '' || regex.length > 1024) return undefined;
  const [, inner, flags] = /^\/(.*)\/([a-z]*)$/s.exec(regex) ?? [];
  // Without slashes the entire value must match.
  if (inner === undefined) return `^${regex}$`;
  return flags === '' ? inner : flags === 'i' ? `(?i)${inner}` : undefined;
};
const writePattern = (pattern: string): string => {
  const [, unanchored] = /^\^([^/].*)\$$/s.exec(pattern) ?? [];
  if (unanchored !== undefined && !pattern.startsWith('^(')) return unanchored;
  return pattern.startsWith('(?i)') ? `/${pattern.slice(4)}/i` : `/${pattern}/`;
};

const readQueryFields = (variable: Fields, ledger: Ledger): Fields => {
  const { regex, sort, refresh, options } = variable;
  const pattern = readPattern(regex);
  if (pattern !== undefined && writePattern(pattern) === regex) ledger.carry(variable, 'regex');
  const order = orders[Number(sort ?? 0)];
  if (Number(sort ?? 0) in orders) ledger.carry(variable, 'sort');
  ledger.carry(variable, ...(refresh === 1 || refresh === 2 || refresh === true ? ['refresh'] : []));
  // These options are only a cache from the last save.
  if (Array.isArray(options)) ledger.markDefault(variable, 'options');
  const fixed = toFieldsList(variable['staticOptions']);
  if (fixed.length > 0) ledger.carry(variable, 'staticOptions', 'staticOptionsOrder');
  const placement = String(variable['staticOptionsOrder']);
  return {
    ...readSelection(variable, ledger),
    ...(pattern !== undefined && writePattern(pattern) === regex && { pattern }),
    ...(order !== undefined && { order: { by: order[0], direction: order[1] } }),
    refresh: refresh === 2 ? 'range' : 'opened',
    ...(fixed.length > 0 && {
      fixed: {
        options: fixed.map(({ value, text }) => ({ value, ...(isText(text) && text !== value && { title: text }) })),
        place: ['before', 'after', 'sorted'].includes(placement) ? placement : 'before',
      },
    }),
  };
};

/** Returns the last comma outside of braces, brackets, parentheses and quotes; -1 if there is none. */
const findLastComma = (text: string): number => {
  // The search starts at the end, so the first comma outside of these is the last one in the text.
  let depth = 0;
  for (let index = text.length - 1; index >= 0; index--) {
    const character = text[index] ?? '';
    if ('}])'.includes(character)) depth++;
    else if ('{[('.includes(character)) depth--;
    else if (character === ',' && depth === 0) return index;
  }
  return -1;
};

const labelName = /^(?:[A-Za-z_][\w.]*|\$\w+|\$\{\w+\})$/;

/** Parses a query of the Prometheus data source: `label_values(up, job)`. */
const parseVariableQuery = (input: string): Fields | undefined => {
  const text = input.trim();
  const extractArgument = (name: string): string | undefined =>
    text.startsWith(`${name}(`) && text.endsWith(')') ? text.slice(name.length + 1, -1).trim() : undefined;
  const values = extractArgument('label_values');
  if (values !== undefined) {
    const comma = findLastComma(values);
    const label = values.slice(comma + 1).trim();
    const match = values.slice(0, Math.max(comma, 0)).trim();
    if (!labelName.test(label)) return undefined;
    return { kind: 'label-values', label, ...(match !== '' && { match }) };
  }
  const names = extractArgument('label_names');
  if (names !== undefined) return { kind: 'label-names', ...(names !== '' && { match: names }) };
  const metrics = extractArgument('metrics');
  if (metrics !== undefined) return { kind: 'metric-names', ...(metrics !== '' && { names: metrics }) };
  const result = extractArgument('query_result');
  if (result !== undefined) return result === '' ? undefined : { kind: 'promql', expression: result };
  // A plain selector queries its series.
  return /^[A-Za-z_:][\w:]*(?:\{[^{}]*\})?$/.test(text) ? { kind: 'promql', expression: text } : undefined;
};

const readQueryVariable = (variable: Fields, sources: Sources, ledger: Ledger): Fields | undefined => {
  const { query, definition } = variable;
  const source = sources.findKind(variable['datasource']);
  if (source !== 'metrics' && source !== 'unknown') return undefined;
  const expression = isFields(query) ? query['query'] : query;
  const parsedQuery = isText(expression) ? parseVariableQuery(expression) : undefined;
  if (parsedQuery === undefined) return undefined;
  ledger.carry(variable, 'datasource');
  if (isFields(query)) {
    ledger.carry(query, 'query');
    ledger.markDefault(query, 'refId', 'qryType');
  } else ledger.carry(variable, 'query');
  if (definition === expression) ledger.markDefault(variable, 'definition');
  return { ...readSharedFields(variable, ledger), ...parsedQuery, ...readQueryFields(variable, ledger) };
};

/** Splits `a, b : c, d\,e`: comma-separated values, some with a title. */
const splitList = (text: string): { readonly value: string; readonly title?: string }[] =>
  [...text.matchAll(/(?:\\,|[^,])+/g)]
    .map(([part]) => part.replaceAll('\\,', ',').trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, title, value] = /^(.+?)\s:\s(.+)$/s.exec(part) ?? [];
      return title === undefined || value === undefined ? { value: part } : { value, title };
    });
const joinList = (options: readonly { readonly value: string; readonly title?: string | undefined }[]): string =>
  options
    .map(({ value, title }) => (title === undefined ? value : `${title} : ${value}`).replaceAll(',', '\\,'))
    .join(',');

const readList = (variable: Fields, ledger: Ledger): Fields => {
  ledger.carry(variable, 'query', 'options');
  ledger.markDefault(variable, 'regex', 'refresh', 'sort', 'queryValue', 'valuesFormat');
  const selection = readSelection(variable, ledger);
  // The list contains the titles of its values.
  if (isFields(variable['current'])) ledger.markDefault(variable['current'], 'text');
  return {
    ...readSharedFields(variable, ledger),
    kind: 'list',
    options: splitList(isText(variable['query']) ? variable['query'] : ''),
    ...selection,
  };
};

const readInterval = (variable: Fields, ledger: Ledger): Fields => {
  const { query, auto, auto_count: steps, auto_min: min } = variable;
  ledger.carry(variable, 'query', 'options', 'auto', 'auto_count', 'auto_min');
  ledger.markDefault(variable, 'refresh');
  const [selected = ''] = readCurrent(variable, ledger);
  return {
    ...readSharedFields(variable, ledger),
    kind: 'interval',
    options: (isText(query) ? query : '').split(',').flatMap((value) => (value.trim() === '' ? [] : [value.trim()])),
    ...(auto === true && {
      auto: { ...(Number.isInteger(steps) && { steps }), ...(isText(min) && min !== '' && { min }) },
    }),
    selected: selected.startsWith('$__auto') ? 'auto' : selected,
  };
};

const readText = (variable: Fields, ledger: Ledger): Fields => {
  const [selected] = readCurrent(variable, ledger);
  const { query } = variable;
  ledger.carry(variable, 'query');
  ledger.markDefault(variable, 'options');
  return { ...readSharedFields(variable, ledger), kind: 'text', selected: selected ?? (isText(query) ? query : '') };
};

const readConstant = (variable: Fields, ledger: Ledger): Fields => {
  ledger.carry(variable, 'query');
  ledger.markDefault(variable, 'options', 'current');
  return { ...readSharedFields(variable, ledger), kind: 'constant', value: String(variable['query'] ?? '') };
};

const readFilters = (variable: Fields, sources: Sources, ledger: Ledger): Fields | undefined => {
  const source = sources.findKind(variable['datasource']);
  if (source !== 'metrics' && source !== 'unknown') return undefined;
  ledger.carry(variable, 'datasource');
  const readFiltersIn = (key: string): object[] =>
    toFieldsList(variable[key]).flatMap((one) => {
      const { key: label, operator, value, values } = one;
      const filterValues = toTexts(Array.isArray(values) && values.length > 0 ? values : value);
      // Grafana ignores filters without a value.
      if (filterValues.length === 0) return [];
      ledger.carry(one, 'key', 'operator', 'value', 'values');
      return { label, operator: { '=|': '=', '!=|': '!=' }[String(operator)] ?? operator, values: filterValues };
    });
  return {
    ...readSharedFields(variable, ledger),
    kind: 'filters',
    filters: readFiltersIn('filters'),
    always: readFiltersIn('baseFilters'),
  };
};

/** Converts a variable of Grafana; undefined if there is no equivalent. */
export const readVariable = (variable: Fields, sources: Sources, ledger: Ledger): OurVariable | undefined => {
  const readByType = (): Fields | undefined => {
    switch (variable['type']) {
      case 'query':
        return readQueryVariable(variable, sources, ledger);
      case 'custom':
        return readList(variable, ledger);
      case 'interval':
        return readInterval(variable, ledger);
      case 'textbox':
        return readText(variable, ledger);
      case 'constant':
        return readConstant(variable, ledger);
      case 'adhoc':
        return readFilters(variable, sources, ledger);
      default:
        return undefined;
    }
  };
  const parsed = Variable.safeParse(readByType());
  if (parsed.success) return parsed.data;
  ledger.clearMarks(variable);
  return undefined;
};

const variableTypes = ['query', 'custom', 'interval', 'textbox', 'constant', 'adhoc'];

/** Returns why `readVariable` does not convert a variable, as a sentence without a period. */
export const describeUnsupported = ({ name, type, datasource }: Fields, sources: Sources): string => {
  if (!isText(name) || name === '') return 'it has no name';
  if (!variableTypes.includes(String(type))) return `the variable type ${String(type)} is not supported`;
  const source = sources.findKind(datasource);
  if (isFields(source)) return `the data source ${String(source['foreign'])} is not supported`;
  return type === 'query' && (source === 'metrics' || source === 'unknown')
    ? 'its query is none of label_values, label_names, metrics and query_result, and no selector of series'
    : 'its settings are not supported';
};

/** Returns whether the variable selects a data source for the metrics of this organization. */
export const choosesMetrics = ({ type, query }: Fields): boolean => type === 'datasource' && isPromqlSource(query);

type SelectableVariable = Extract<OurVariable, { several: boolean }>;

const writeSelection = ({ several, all, allowsOther, selected }: SelectableVariable): Fields => ({
  multi: several,
  includeAll: all !== undefined,
  ...(all?.value !== undefined && { allValue: all.value }),
  ...(!allowsOther && { allowCustomValue: false }),
  ...(selected.length > 0 && { current: writeCurrent(several ? selected : (selected[0] ?? '')) }),
});
const writeCurrent = (value: string | readonly string[]): Fields => {
  const toDisplayText = (value: string): string => (value === allValues ? 'All' : value);
  return typeof value === 'string' ? { text: toDisplayText(value), value } : { text: value.map(toDisplayText), value };
};

type QueryVariable = Extract<OurVariable, { refresh: string }>;

const writeQueryFields = (variable: QueryVariable): Fields => ({
  ...writeSelection(variable),
  ...(variable.pattern !== undefined && { regex: writePattern(variable.pattern) }),
  ...(variable.order !== undefined && {
    sort: orders.findIndex((one) => one?.[0] === variable.order?.by && one?.[1] === variable.order?.direction),
  }),
  refresh: variable.refresh === 'range' ? 2 : 1,
});

const writeVariableQuery = (variable: OurVariable): string | undefined => {
  switch (variable.kind) {
    case 'label-values':
      return `label_values(${variable.match === undefined ? '' : `${variable.match}, `}${variable.label})`;
    case 'label-names':
      return `label_names(${variable.match ?? ''})`;
    case 'metric-names':
      return variable.match === undefined ? `metrics(${variable.names ?? ''})` : undefined;
    case 'promql':
      return `query_result(${variable.expression})`;
    default:
      return undefined;
  }
};

const writeOthers = (variable: OurVariable): Fields | undefined => {
  switch (variable.kind) {
    case 'list':
      return { type: 'custom', query: joinList(variable.options), ...writeSelection(variable) };
    case 'interval': {
      const { auto, selected } = variable;
      return {
        type: 'interval',
        query: variable.options.join(','),
        refresh: 2,
        ...(auto !== undefined && { auto: true, auto_count: auto.steps, auto_min: auto.min }),
        ...(selected !== '' && { current: writeCurrent(selected === 'auto' ? '$__auto' : selected) }),
      };
    }
    case 'text':
      return { type: 'textbox', query: variable.selected, current: writeCurrent(variable.selected) };
    case 'constant':
      return { type: 'constant', query: variable.value };
    default:
      return undefined;
  }
};

/** Converts a variable for Grafana; undefined if Grafana has no equivalent. */
export const writeVariable = (variable: OurVariable, datasource: object): Record<string, unknown> | undefined => {
  const { name, title, description, hide, inAddress } = variable;
  const queryText = writeVariableQuery(variable);
  const typeFields: Fields | undefined =
    queryText !== undefined && 'refresh' in variable
      ? { type: 'query', datasource, query: queryText, ...writeQueryFields(variable) }
      : variable.kind === 'filters'
        ? { type: 'adhoc', datasource }
        : writeOthers(variable);
  if (typeFields === undefined) return undefined;
  return {
    name,
    ...typeFields,
    ...(title !== undefined && { label: title }),
    ...(description !== undefined && { description }),
    ...(hide !== 'nothing' && { hide: hideModes.indexOf(hide) }),
    ...(!inAddress && { skipUrlSync: true }),
  };
};
