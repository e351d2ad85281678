import { reduced, titleOfReducer, typeOfReduced } from './reducers.ts';
import { type Column, isNumeric, rowsOf, type Table, timeOf } from './table.ts';
import { type OptionsOf, requireRoom, type Transform } from './transformation.ts';

const chosenOf = (table: Table, { includesTime }: OptionsOf<'reduce'>): readonly Column[] =>
  table.columns.filter((column) => isNumeric(column) || (includesTime && column.type === 'time'));

const titleOf = (table: Table, column: Column): string => {
  if (column.name !== 'Value') return column.name;
  const labels = Object.entries(column.labels ?? {});
  if (labels.length === 0) return table.name === '' ? column.name : table.name;
  return `{${labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(', ')}}`;
};

/** Returns a row for each numeric column. */
const toRows = (tables: readonly Table[], options: OptionsOf<'reduce'>): Table => {
  const all = tables.flatMap((table) => chosenOf(table, options).map((column) => ({ table, column })));
  const texts = { type: 'text', unit: '' } as const;
  const labels = options.labelsToFields
    ? [...new Set(all.flatMap(({ column }) => Object.keys(column.labels ?? {})))]
    : [];
  requireRoom(all.length, 1 + labels.length + options.reducers.length);
  const units = new Set(all.map(({ column }) => column.unit));
  const unit = units.size === 1 ? ([...units][0] as string) : '';
  return {
    query: '',
    name: '',
    columns: [
      {
        ...texts,
        name: 'Field',
        values: all.map(({ table, column }) => (options.labelsToFields ? column.name : titleOf(table, column))),
      },
      ...labels.map(
        (label): Column => ({
          ...texts,
          name: label,
          values: all.map(({ column }) => column.labels?.[label] ?? ''),
        }),
      ),
      ...options.reducers.map(
        (reducer): Column => ({
          name: titleOfReducer(reducer),
          type: typeOfReduced(reducer, all[0]?.column.type ?? 'number'),
          unit: /count|all-/.test(reducer) ? '' : unit,
          values: all.map(({ column }) => reduced(reducer, column.values)),
        }),
      ),
    ],
  };
};

/** Returns one row for each table. */
const toFields = (table: Table, options: OptionsOf<'reduce'>): Table => ({
  ...table,
  columns: chosenOf(table, options).flatMap((column) =>
    options.reducers.map((reducer) => ({
      ...column,
      name: options.reducers.length === 1 ? column.name : `${titleOfReducer(reducer)} ${column.name}`,
      type: typeOfReduced(reducer, column.type),
      values: [reduced(reducer, column.values)],
    })),
  ),
});

export const reduce: Transform<'reduce'> = (tables, options) =>
  options.to === 'rows' ? [toRows(tables, options)] : tables.map((table) => toFields(table, options));

/** Returns rows with a value and the points, for the series of one query. */
const trendOf = (query: string, tables: readonly Table[], reducer: string): Table => {
  const series = tables.flatMap((table) => {
    const time = timeOf(table);
    const value = table.columns.find(isNumeric);
    return time === undefined || value === undefined ? [] : [{ time, value }];
  });
  const labels = [...new Set(series.flatMap(({ value }) => Object.keys(value.labels ?? {})))];
  requireRoom(series.length, labels.length + 2);
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
          value: reduced(reducer, value.values),
          points: time.values.map((at, index) => [at, value.values[index] ?? null]),
        })),
      },
    ],
  };
};

export const trend: Transform<'trend'> = (tables, { figures }) => {
  const isSeries = (table: Table): boolean => timeOf(table) !== undefined && rowsOf(table) >= 0;
  const byQuery = Map.groupBy(tables.filter(isSeries), ({ query }) => query);
  return [
    ...[...byQuery].map(([query, own]) => trendOf(query, own, figures[query] ?? 'last-not-null')),
    ...tables.filter((table) => !isSeries(table)),
  ];
};
