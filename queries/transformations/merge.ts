import { type Column, countRows, findTimeColumn, type Table, toValueKey } from './table.ts';
import { requireTableLimits, type Transform } from './transformation.ts';

/** Distinguishes equally named value columns of different queries by the query name. */
const distinguishValueColumns = (tables: readonly Table[]): readonly Table[] => {
  const queries = new Set(tables.map(({ query }) => query));
  if (queries.size < 2) return tables;
  return tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) =>
      column.name === 'Value' || column.name === 'value'
        ? { ...column, name: `${column.name} #${table.query}` }
        : column,
    ),
  }));
};

/** Converts labels of series to columns, so that rows of different series remain distinct. */
const addLabelColumns = (table: Table): Table => {
  const { labels = {} } = table.columns.find((column) => column.labels !== undefined) ?? {};
  const rows = countRows(table);
  const labelColumns = Object.entries(labels)
    .filter(([name]) => !table.columns.some((column) => column.name === name))
    .map(([name, value]): Column => ({ name, type: 'text', unit: '', values: Array(rows).fill(value) }));
  const [first, ...rest] = table.columns.map(({ labels: _, ...column }) => column);
  return first === undefined ? table : { ...table, columns: [first, ...labelColumns, ...rest] };
};

type Row = Map<string, unknown>;

export const merge: Transform<'merge'> = (tables) => {
  if (tables.length === 0) return [];
  const namedTables = distinguishValueColumns(tables).map(addLabelColumns);
  const columns = new Map<string, Column>();
  for (const table of namedTables)
    for (const column of table.columns)
      if (!columns.has(column.name)) columns.set(column.name, { ...column, displayName: undefined });
  // Rows are equal by the columns that every table has.
  const sharedNames = [...columns.keys()].filter((name) =>
    namedTables.every((table) => table.columns.some((column) => column.name === name)),
  );
  requireTableLimits(
    namedTables.reduce((sum, table) => sum + countRows(table), 0),
    columns.size,
  );
  const rows: Row[] = [];
  const byKey = new Map<string, Row[]>();
  for (const table of namedTables) addRows(table, { sharedNames: sharedNames, rows, byKey });
  return [
    {
      query: new Set(tables.map(({ query }) => query)).size === 1 ? (tables[0] as Table).query : '',
      name: '',
      columns: [...columns.values()].map(({ labels: _, ...column }) => ({
        ...column,
        values: rows.map((row) => row.get(column.name) ?? null),
      })),
    },
  ];
};

/**
 * Adds the rows of a table. A row is merged into the first row with the same key that has none of the row's other
 * columns yet. Otherwise it is added.
 */
const addRows = (
  table: Table,
  { sharedNames, rows, byKey }: { sharedNames: readonly string[]; rows: Row[]; byKey: Map<string, Row[]> },
): void => {
  const otherNames = table.columns.map(({ name }) => name).filter((name) => !sharedNames.includes(name));
  // Rows of a key before this index already have the columns of this table.
  const nextIndexByKey = new Map<string, number>();
  for (let rowIndex = 0; rowIndex < countRows(table); rowIndex++) {
    const row: Row = new Map(table.columns.map(({ name, values }) => [name, values[rowIndex]]));
    const key = JSON.stringify(sharedNames.map((name) => toValueKey(row.get(name))));
    const rowsWithKey = byKey.get(key) ?? [];
    let targetIndex = sharedNames.length === 0 ? rowsWithKey.length : (nextIndexByKey.get(key) ?? 0);
    while (targetIndex < rowsWithKey.length && otherNames.some((name) => rowsWithKey[targetIndex]?.has(name)))
      targetIndex++;
    nextIndexByKey.set(key, targetIndex + 1);
    if (targetIndex < rowsWithKey.length)
      for (const name of otherNames) rowsWithKey[targetIndex]?.set(name, row.get(name));
    else {
      rows.push(row);
      rowsWithKey.push(row);
      byKey.set(key, rowsWithKey);
    }
  }
};

const formatLabels = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ');

export const seriesToRows: Transform<'series-to-rows'> = (tables) => {
  const rows = tables.flatMap((table) => {
    const time = findTimeColumn(table);
    if (time === undefined) return [];
    return table.columns
      .filter((column) => column !== time)
      .flatMap((column) => {
        const labels = Object.keys(column.labels ?? {}).length === 0 ? '' : `{${formatLabels(column.labels ?? {})}}`;
        const metric =
          column.displayName ?? (column.name === 'Value' ? `${table.name}${labels}` : `${column.name}${labels}`);
        return column.values.map((value, at) => ({ time: time.values[at], metric, value, unit: column.unit }));
      });
  });
  if (rows.length === 0) return [];
  rows.sort((left, right) => Number(right.time) - Number(left.time));
  const units = new Set(rows.map(({ unit }) => unit));
  return [
    {
      query: '',
      name: '',
      columns: [
        { name: 'Time', type: 'time', unit: '', values: rows.map(({ time }) => time) },
        { name: 'Metric', type: 'text', unit: '', values: rows.map(({ metric }) => metric) },
        {
          name: 'Value',
          type: 'number',
          unit: units.size === 1 ? ([...units][0] as string) : '',
          values: rows.map(({ value }) => value),
        },
      ],
    },
  ];
};
