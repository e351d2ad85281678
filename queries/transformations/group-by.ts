import { getReducedType, getShortName, reduceValues } from './reducers.ts';
import { type Column, countRows, findColumn, type Table, toValueKey, withValues } from './table.ts';
import type { Transform } from './transformation.ts';

/** Returns the row indexes of each group, in order of appearance. */
const groupRows = (table: Table, keys: readonly Column[]): readonly (readonly number[])[] => {
  const groups = new Map<string, number[]>();
  for (let row = 0; row < countRows(table); row++) {
    const key = JSON.stringify(keys.map(({ values }) => toValueKey(values[row])));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()];
};

export const groupBy: Transform<'group-by'> = (tables, { by, figures }) =>
  tables.flatMap((table) => {
    const keys = by.flatMap((name) => findColumn(table, name) ?? []);
    if (keys.length === 0) return [];
    const groups = groupRows(table, keys);
    const reducedColumns = figures.flatMap(({ field, reducers }) => {
      const column = findColumn(table, field);
      if (column === undefined) return [];
      return reducers.map(
        (reducer): Column => ({
          name: `${field} (${getShortName(reducer)})`,
          type: getReducedType(reducer, column.type),
          unit: /count|all-/.test(reducer) ? '' : column.unit,
          values: groups.map((rows) =>
            reduceValues(
              reducer,
              rows.map((row) => column.values[row]),
            ),
          ),
        }),
      );
    });
    const keyColumns = keys.map((column) =>
      withValues(
        column,
        groups.map(([first = 0]) => column.values[first]),
      ),
    );
    return [{ ...table, columns: [...keyColumns, ...reducedColumns] }];
  });
