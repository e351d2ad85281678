import { type Column, countRows, findColumn, findTimeColumn, parseNumber, type Table, toValueKey } from './table.ts';
import { requireTableLimits, type Transform, type TransformationOptions } from './transformation.ts';

const isDefined = <T>(value: T | undefined): value is T => value !== undefined;

interface JoinSide {
  readonly table: Table;
  readonly key: Column;
  /** Row indexes by join value. */
  readonly rows: ReadonlyMap<string, readonly number[]>;
}

const toJoinSide = (table: Table, { field }: TransformationOptions<'join-by-field'>): JoinSide | undefined => {
  const key = field === undefined ? findTimeColumn(table) : findColumn(table, field);
  if (key === undefined) return undefined;
  const rows = new Map<string, number[]>();
  for (const [row, value] of key.values.entries()) {
    const text = toValueKey(value);
    const valueRows = rows.get(text);
    if (valueRows === undefined) rows.set(text, [row]);
    else valueRows.push(row);
  }
  return { table, key, rows };
};

/**
 * Names the columns of the joined table. A name that occurs in several tables gets its query as a suffix, or a number
 * if the query is equal too.
 */
const nameJoinedColumns = (sides: readonly JoinSide[]): ReadonlyMap<Column, string> => {
  const columnsWithTable = sides.flatMap(({ table, key }) =>
    table.columns.filter((column) => column !== key).map((column) => ({ column, table })),
  );
  const counts = Map.groupBy(columnsWithTable, ({ column }) => column.name);
  const usedNames = new Set<string>();
  return new Map(
    columnsWithTable.map(({ column, table }) => {
      const isShared = (counts.get(column.name)?.length ?? 0) > 1;
      const baseName =
        isShared && table.query !== '' && column.labels === undefined ? `${column.name} #${table.query}` : column.name;
      let name = baseName;
      for (let number = 2; usedNames.has(name) && column.labels === undefined; number++) name = `${baseName} ${number}`;
      usedNames.add(name);
      return [column, name] as const;
    }),
  );
};

/** For each row of the joined table, the row of each side; undefined for none. */
type JoinedRows = readonly (readonly (number | undefined)[])[];

/** Returns one row for each value: the first row of each side with the value. */
const joinOuter = (sides: readonly JoinSide[], keys: readonly string[]): JoinedRows =>
  keys.map((key) => sides.map(({ rows }) => rows.get(key)?.[0]));

/** Returns a row for each combination of rows with the value. */
const joinTabular = (sides: readonly JoinSide[], keys: readonly string[], isInner: boolean): JoinedRows =>
  keys.flatMap((key) => {
    let rowCombinations: (number | undefined)[][] = [[]];
    for (const { rows } of sides) {
      const sideRows: readonly (number | undefined)[] = rows.get(key) ?? (isInner ? [] : [undefined]);
      requireTableLimits(rowCombinations.length * sideRows.length, sides.length);
      rowCombinations = rowCombinations.flatMap((combination) => sideRows.map((sideRow) => [...combination, sideRow]));
    }
    return rowCombinations;
  });

const joinRows = (sides: readonly JoinSide[], mode: TransformationOptions<'join-by-field'>['mode']): JoinedRows => {
  const keys = [...new Set(sides.flatMap(({ rows }) => [...rows.keys()]))];
  if (mode === 'outer') return joinOuter(sides, keys);
  return joinTabular(sides, keys, mode === 'inner');
};

export const joinByField: Transform<'join-by-field'> = (tables, options) => {
  const sides = tables.map((table) => toJoinSide(table, options)).filter(isDefined);
  const [first] = sides;
  if (first === undefined || sides.length === 1) return sides.map(({ table }) => table);
  const width = sides.reduce((sum, { table }) => sum + table.columns.length, 0);
  const joinedRows = joinRows(sides, options.mode);
  requireTableLimits(joinedRows.length, width);
  const names = nameJoinedColumns(sides);
  const keyValues = joinedRows.map((row) => {
    const side = row.findIndex((index) => index !== undefined);
    return sides[side]?.key.values[row[side] as number];
  });
  const columns: Column[] = [
    { name: first.key.name, type: first.key.type, unit: first.key.unit, values: keyValues },
    ...sides.flatMap(({ table, key }, side) =>
      table.columns
        .filter((column) => column !== key)
        .map((column) => ({
          ...column,
          name: names.get(column) as string,
          values: joinedRows.map((row) => (row[side] === undefined ? null : column.values[row[side]])),
        })),
    ),
  ];
  const joinedTable: Table = { query: '', name: '', columns };
  return [first.key.type === 'time' ? sortByTime(joinedTable) : joinedTable];
};

const sortByTime = (table: Table): Table => {
  const [time] = table.columns;
  const rows = Array.from({ length: countRows(table) }, (_, row) => row).sort(
    (left, right) => (parseNumber(time?.values[left]) ?? 0) - (parseNumber(time?.values[right]) ?? 0),
  );
  return {
    ...table,
    columns: table.columns.map((column) => ({ ...column, values: rows.map((row) => column.values[row]) })),
  };
};

export const joinByLabels: Transform<'join-by-labels'> = (tables, { value: label, join }) => {
  const series = tables.flatMap((table) =>
    table.columns.flatMap((column) =>
      column.labels?.[label] === undefined ? [] : [{ column, labels: column.labels, name: column.labels[label] }],
    ),
  );
  if (series.length === 0) return tables;
  const keys =
    join ?? [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].filter((name) => name !== label);
  const names = [...new Set(series.map(({ name }) => name))];
  const groups = Map.groupBy(series, ({ labels }) => JSON.stringify(keys.map((key) => labels[key] ?? '')));
  // A group has as many rows as its longest series has values.
  const rows = [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.max(...group.map(({ column }) => column.values.length)) }, (_, row) => ({ group, row })),
  );
  requireTableLimits(rows.length, keys.length + names.length);
  const findUnit = (name: string): string => series.find((each) => each.name === name)?.column.unit ?? '';
  return [
    {
      query: '',
      name: '',
      columns: [
        ...keys.map(
          (key): Column => ({
            name: key,
            type: 'text',
            unit: '',
            values: rows.map(({ group }) => group[0]?.labels[key] ?? ''),
          }),
        ),
        ...names.map(
          (name): Column => ({
            name,
            type: 'number',
            unit: findUnit(name),
            values: rows.map(({ group, row }) => group.find((each) => each.name === name)?.column.values[row] ?? null),
          }),
        ),
      ],
    },
  ];
};
