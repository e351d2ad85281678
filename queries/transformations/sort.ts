import { countRows, findColumn, isBlank, isNumeric, parseNumber, selectRows } from './table.ts';
import type { Transform } from './transformation.ts';

const naturalCollator = new Intl.Collator('en', { numeric: true });

/** Compares two values if one is blank, which sorts last; undefined if neither is. */
const compareBlanks = (left: boolean, right: boolean): number | undefined =>
  left || right ? Number(left) - Number(right) : undefined;

const compareNumbers = (left: number, right: number): number => (left < right ? -1 : Number(left > right));

/** Blanks sort last in either direction, preceded by values that are not numbers. */
const createComparator =
  (isNumber: boolean, sign: number) =>
  (one: unknown, other: unknown): number => {
    const blanks = compareBlanks(isBlank(one), isBlank(other));
    if (blanks !== undefined) return blanks;
    if (!isNumber) return sign * naturalCollator.compare(String(one), String(other));
    const [left = Number.NaN, right = Number.NaN] = [parseNumber(one), parseNumber(other)];
    return compareBlanks(Number.isNaN(left), Number.isNaN(right)) ?? sign * compareNumbers(left, right);
  };

export const sort: Transform<'sort'> = (tables, { by, direction }) =>
  tables.map((table) => {
    const column = findColumn(table, by);
    if (column === undefined) return table;
    const compare = createComparator(isNumeric(column) || column.type === 'time', direction === 'ascending' ? 1 : -1);
    const rows = Array.from({ length: countRows(table) }, (_, row) => row);
    return selectRows(
      table,
      rows.sort((left, right) => compare(column.values[left], column.values[right])),
    );
  });

export const limit: Transform<'limit'> = (tables, { rows }) =>
  tables.map((table) =>
    selectRows(
      table,
      Array.from({ length: Math.min(rows, countRows(table)) }, (_, row) => row),
    ),
  );
