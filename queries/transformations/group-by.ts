import { reduced, shortNameOf, typeOfReduced } from './reducers.ts';
import { type Column, columnNamed, keyOf, rowsOf, type Table, withValues } from './table.ts';
import type { Transform } from './transformation.ts';

/** Returns the row indexes of each group, in order of appearance. */
const groupsOf = (table: Table, keys: readonly Column[]): readonly (readonly number[])[] => {
  const groups = new Map<string, number[]>();
  for (let row = 0; row < rowsOf(table); row++) {
    const key = JSON.stringify(keys.map(({ values }) => keyOf(values[row])));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()];
};

export const groupBy: Transform<'group-by'> = (tables, { by, figures }) =>
  tables.flatMap((table) => {
    const keys = by.flatMap((name) => columnNamed(table, name) ?? []);
    if (keys.length === 0) return [];
    const groups = groupsOf(table, keys);
    const figured = figures.flatMap(({ field, reducers }) => {
      const column = columnNamed(table, field);
      if (column === undefined) return [];
      return reducers.map(
        (reducer): Column => ({
          name: `${field} (${shortNameOf(reducer)})`,
          type: typeOfReduced(reducer, column.type),
          unit: /count|all-/.test(reducer) ? '' : column.unit,
          values: groups.map((rows) =>
            reduced(
              reducer,
              rows.map((row) => column.values[row]),
            ),
          ),
        }),
      );
    });
    const own = keys.map((column) =>
      withValues(
        column,
        groups.map(([first = 0]) => column.values[first]),
      ),
    );
    return [{ ...table, columns: [...own, ...figured] }];
  });
