import { getReducedType, getReducerTitle, reduceValues } from './reducers.ts';
import { type Column, findTimeColumn, getDisplayName, isNumeric, type Table } from './table.ts';
import { requireTableLimits, type Transform, type TransformationOptions } from './transformation.ts';

const selectColumns = (table: Table, { includesTime }: TransformationOptions<'reduce'>): readonly Column[] =>
  table.columns.filter((column) => isNumeric(column) || (includesTime && column.type === 'time'));

const getTitle = (table: Table, column: Column): string => {
  if (column.displayName !== undefined) return column.displayName;
  if (column.name !== 'Value') return column.name;
  const labels = Object.entries(column.labels ?? {});
  if (labels.length === 0) return table.name === '' ? column.name : table.name;
  return `{${labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(', ')}}`;
};

/** Returns a row for each numeric column. */
const reduceToRows = (tables: readonly Table[], options: TransformationOptions<'reduce'>): Table => {
  const selectedColumns = tables.flatMap((table) => selectColumns(table, options).map((column) => ({ table, column })));
  const textFormat = { type: 'text', unit: '' } as const;
  const labels = options.labelsToFields
    ? [...new Set(selectedColumns.flatMap(({ column }) => Object.keys(column.labels ?? {})))]
    : [];
  requireTableLimits(selectedColumns.length, 1 + labels.length + options.reducers.length);
  const units = new Set(selectedColumns.map(({ column }) => column.unit));
  const unit = units.size === 1 ? ([...units][0] as string) : '';
  return {
    query: '',
    name: '',
    columns: [
      {
        ...textFormat,
        name: 'Field',
        values: selectedColumns.map(({ table, column }) =>
          options.labelsToFields ? column.name : getTitle(table, column),
        ),
      },
      ...labels.map(
        (label): Column => ({
          ...textFormat,
          name: label,
          values: selectedColumns.map(({ column }) => column.labels?.[label] ?? ''),
        }),
      ),
      ...options.reducers.map(
        (reducer): Column => ({
          name: getReducerTitle(reducer),
          type: getReducedType(reducer, selectedColumns[0]?.column.type ?? 'number'),
          unit: /count|all-/.test(reducer) ? '' : unit,
          values: selectedColumns.map(({ column }) => reduceValues(reducer, column.values)),
        }),
      ),
    ],
  };
};

/** Returns one row for each table. */
const reduceToFields = (table: Table, options: TransformationOptions<'reduce'>): Table => ({
  ...table,
  columns: selectColumns(table, options).flatMap((column) =>
    options.reducers.map((reducer) => ({
      ...column,
      name: options.reducers.length === 1 ? column.name : `${getReducerTitle(reducer)} ${getDisplayName(column)}`,
      displayName: options.reducers.length === 1 ? column.displayName : undefined,
      type: getReducedType(reducer, column.type),
      values: [reduceValues(reducer, column.values)],
    })),
  ),
});

export const reduce: Transform<'reduce'> = (tables, options) =>
  options.to === 'rows' ? [reduceToRows(tables, options)] : tables.map((table) => reduceToFields(table, options));

/** Returns a table with one row per series of a query: its labels, its reduced value and its points. */
const buildTrendTable = (query: string, tables: readonly Table[], reducer: string): Table => {
  const series = tables.flatMap((table) => {
    const time = findTimeColumn(table);
    const value = table.columns.find(isNumeric);
    return time === undefined || value === undefined ? [] : [{ time, value }];
  });
  const labels = [...new Set(series.flatMap(({ value }) => Object.keys(value.labels ?? {})))];
  requireTableLimits(series.length, labels.length + 2);
  return {
    query,
    name: query,
    columns: [
      ...labels.map(
        (label): Column => ({
          name: label,
          type: 'text',
          unit: '',
          values: series.map(({ value }) => value.labels?.[label] ?? ''),
        }),
      ),
      {
        name: `Trend #${query}`,
        type: 'json',
        unit: series[0]?.value.unit ?? '',
        values: series.map(({ time, value }) => ({
          value: reduceValues(reducer, value.values),
          points: time.values.map((time, index) => [time, value.values[index] ?? null]),
        })),
      },
    ],
  };
};

export const trend: Transform<'trend'> = (tables, { figures: reducers }) => {
  const isSeries = (table: Table): boolean => findTimeColumn(table) !== undefined;
  const byQuery = Map.groupBy(tables.filter(isSeries), ({ query }) => query);
  return [
    ...[...byQuery].map(([query, queryTables]) =>
      buildTrendTable(query, queryTables, reducers[query] ?? 'last-not-null'),
    ),
    ...tables.filter((table) => !isSeries(table)),
  ];
};
