/** Input and output tables of transformations: columns with their values. */
import type { Result, TableColumn } from '../result.ts';
import { nameByLegend } from '../series-names.ts';

export interface Column {
  readonly name: string;
  /** Name of the series of its values in a legend. Transformations find the column by either name. */
  readonly displayName?: string | undefined;
  readonly type: TableColumn['type'];
  readonly unit: string;
  /** Labels of the series of its values. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly values: readonly unknown[];
}

export interface Table {
  /** Name of the source query or formula; empty if there are several. */
  readonly query: string;
  readonly name: string;
  readonly columns: readonly Column[];
}

export const countRows = ({ columns }: Pick<Table, 'columns'>): number => columns[0]?.values.length ?? 0;

/** Returns the same column with other values. */
export const withValues = (column: Column, values: readonly unknown[]): Column => ({ ...column, values });

/** Returns a table with some of its rows, by index. */
export const selectRows = (table: Table, rows: readonly number[]): Table => ({
  ...table,
  columns: table.columns.map((column) =>
    withValues(
      column,
      rows.map((row) => column.values[row]),
    ),
  ),
});

export const getDisplayName = ({ displayName, name }: Pick<Column, 'displayName' | 'name'>): string =>
  displayName ?? name;

/** Returns the column with a display name or name. */
export const findColumn = (table: Table, name: string): Column | undefined =>
  table.columns.find((column) => getDisplayName(column) === name) ??
  table.columns.find((column) => column.name === name);

export const findTimeColumn = ({ columns }: Pick<Table, 'columns'>): Column | undefined =>
  columns.find(({ type }) => type === 'time');

export const isNumeric = ({ type }: Pick<Column, 'type'>): boolean => type === 'number' || type === 'duration';

export const isBlank = (value: unknown): boolean => value === null || value === undefined;

/** Returns a value as a number, including texts of numbers that JSON lacks; undefined if it is not a number. */
export const parseNumber = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isNaN(number) && value !== 'NaN' ? undefined : number;
};

/** Returns a number in the format of responses. */
export const formatResponseNumber = (value: number | undefined): number | string | null =>
  value === undefined ? null : Number.isFinite(value) ? value : String(value);

/** Returns a string key; equal values have equal keys. */
export const toValueKey = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

/**
 * Returns the tables of a response: one for each series, or the table itself. With several queries, value columns include
 * the query name. With a legend, columns of series have the names that the legend gives them.
 */
export const toTables = (
  query: string,
  result: Pick<Result, 'form' | 'series' | 'columns' | 'rows'>,
  { isOnlyQuery = true, legend }: { readonly isOnlyQuery?: boolean; readonly legend?: string } = {},
): Table[] => {
  const valueName = isOnlyQuery ? 'Value' : `Value #${query}`;
  if (result.form === 'series') {
    const names = legend === undefined ? [] : nameByLegend(result.series, legend);
    return result.series.map(({ name, labels, unit, points }, index) => ({
      query,
      name,
      columns: [
        { name: 'Time', type: 'time', unit: '', values: points.map(([time]) => time) },
        {
          name: 'Value',
          displayName: names[index] || undefined,
          type: 'number',
          unit,
          labels,
          values: points.map(([, value]) => value),
        },
      ],
    }));
  }
  const columns = result.columns.map((column, index) => ({
    ...column,
    name: column.name === 'value' ? valueName : column.name,
    values: result.rows.map((row) => row[index]),
  }));
  return [{ query, name: query, columns }];
};

/** Returns a table in the format of responses. */
export const toResult = ({ columns }: Table): Pick<Result, 'columns' | 'rows'> => ({
  columns: columns.map((column) => ({ name: getDisplayName(column), type: column.type, unit: column.unit })),
  rows: Array.from({ length: countRows({ columns }) }, (_, row) => columns.map(({ values }) => values[row] ?? null)),
});
