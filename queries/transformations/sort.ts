import { blankValue, columnNamed, isNumeric, numberOf, rowsOf, withRows } from './table.ts';
import type { Transform } from './transformation.ts';

const natural = new Intl.Collator('en', { numeric: true });

/** Compares two values if one is blank, which sorts last; undefined if neither is. */
const blanksBehind = (one: boolean, other: boolean): number | undefined =>
  one || other ? Number(one) - Number(other) : undefined;

const inOrder = (one: number, other: number): number => (one < other ? -1 : Number(one > other));

/** Blanks sort last in either direction, preceded by values that are not numbers. */
const orderOf =
  (isNumber: boolean, sign: number) =>
  (one: unknown, other: unknown): number => {
    const blanks = blanksBehind(blankValue(one), blankValue(other));
    if (blanks !== undefined) return blanks;
    if (!isNumber) return sign * natural.compare(String(one), String(other));
    const [left = Number.NaN, right = Number.NaN] = [numberOf(one), numberOf(other)];
    return blanksBehind(Number.isNaN(left), Number.isNaN(right)) ?? sign * inOrder(left, right);
  };

export const sort: Transform<'sort'> = (tables, { by, direction }) =>
  tables.map((table) => {
    const column = columnNamed(table, by);
    if (column === undefined) return table;
    const order = orderOf(isNumeric(column) || column.type === 'time', direction === 'ascending' ? 1 : -1);
    const rows = Array.from({ length: rowsOf(table) }, (_, row) => row);
    return withRows(
      table,
      rows.sort((one, other) => order(column.values[one], column.values[other])),
    );
  });

export const limit: Transform<'limit'> = (tables, { rows }) =>
  tables.map((table) =>
    withRows(
      table,
      Array.from({ length: Math.min(rows, rowsOf(table)) }, (_, row) => row),
    ),
  );
