import { compareNumbers } from '../../schemas/comparisons.ts';
import { compilePattern } from '../patterns.ts';
import { type Column, countRows, findColumn, getDisplayName, isBlank, parseNumber, selectRows } from './table.ts';
import type { Transform, TransformationOptions } from './transformation.ts';

const createNameTest = (selection: {
  names?: string[] | undefined;
  pattern?: string | undefined;
}): ((column: Column) => boolean) => {
  const names = new Set(selection.names);
  const pattern =
    selection.pattern === undefined ? undefined : compilePattern(selection.pattern, 'transformations.pattern');
  const isSelected = (name: string): boolean => names.has(name) || pattern?.test(name) === true;
  return (column) => isSelected(getDisplayName(column)) || isSelected(column.name);
};

export const filterFields: Transform<'filter-fields'> = (tables, { keep: include, drop }) => {
  const isIncluded = include === undefined ? () => true : createNameTest(include);
  const isDropped = drop === undefined ? () => false : createNameTest(drop);
  return tables
    .map((table) => ({ ...table, columns: table.columns.filter((column) => isIncluded(column) && !isDropped(column)) }))
    .filter(({ columns }) => columns.length > 0);
};

type Condition = TransformationOptions<'filter-rows'>['conditions'][number];

const isEqual = (value: unknown, other: string | number | boolean): boolean =>
  typeof other === 'number' ? parseNumber(value) === other : String(value) === String(other);

const createNumberTest = (
  condition: Extract<Condition, { value: number } | { from: number }>,
): ((value: number) => boolean) => {
  if (condition.is === 'between') return (value) => value >= condition.from && value <= condition.to;
  const { is: operator, value: limit } = condition;
  return (value) => compareNumbers(operator, value, limit);
};

const createTest = (condition: Condition): ((value: unknown) => boolean) => {
  switch (condition.is) {
    case 'null':
      return isBlank;
    case 'not-null':
      return (value) => !isBlank(value);
    case 'equal':
      return (value) => isEqual(value, condition.value);
    case 'not-equal':
      return (value) => !isEqual(value, condition.value);
    case 'contains':
      return (value) => String(value).includes(String(condition.value));
    case 'not-contains':
      return (value) => !String(value).includes(String(condition.value));
    case 'matches': {
      const pattern = compilePattern(condition.pattern, 'transformations.conditions.pattern');
      return (value) => !isBlank(value) && pattern.test(String(value));
    }
    default: {
      const test = createNumberTest(condition);
      return (value) => {
        const number = isBlank(value) ? undefined : parseNumber(value);
        return number !== undefined && test(number);
      };
    }
  }
};

export const filterRows: Transform<'filter-rows'> = (tables, { action, match, conditions }) => {
  const tests = conditions.map((condition) => ({ field: condition.field, test: createTest(condition) }));
  return tables.map((table) => {
    // A condition on a column that a table lacks does not filter its rows.
    const rowTests = tests.flatMap(({ field, test }) => {
      const column = findColumn(table, field);
      return column === undefined ? [] : [(row: number) => test(column.values[row])];
    });
    if (rowTests.length === 0) return table;
    const isMatch = (row: number): boolean =>
      match === 'all' ? rowTests.every((test) => test(row)) : rowTests.some((test) => test(row));
    const rows = Array.from({ length: countRows(table) }, (_, row) => row);
    return selectRows(
      table,
      rows.filter((row) => isMatch(row) === (action === 'keep')),
    );
  });
};

export const filterQueries: Transform<'filter-queries'> = (tables, { keep: include }) =>
  tables.filter(({ query }) => include.includes(query));
