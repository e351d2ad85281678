import { patternOf } from '../patterns.ts';
import { blankValue, columnNamed, numberOf, rowsOf, withRows } from './table.ts';
import type { OptionsOf, Transform } from './transformation.ts';

const nameTest = (chosen: {
  names?: string[] | undefined;
  pattern?: string | undefined;
}): ((name: string) => boolean) => {
  const names = new Set(chosen.names);
  const pattern = chosen.pattern === undefined ? undefined : patternOf(chosen.pattern, 'transformations.pattern');
  return (name) => names.has(name) || pattern?.test(name) === true;
};

export const filterFields: Transform<'filter-fields'> = (tables, { keep: include, drop }) => {
  const isIncluded = include === undefined ? () => true : nameTest(include);
  const drops = drop === undefined ? () => false : nameTest(drop);
  return tables
    .map((table) => ({ ...table, columns: table.columns.filter(({ name }) => isIncluded(name) && !drops(name)) }))
    .filter(({ columns }) => columns.length > 0);
};

type Condition = OptionsOf<'filter-rows'>['conditions'][number];

const equal = (value: unknown, other: string | number | boolean): boolean =>
  typeof other === 'number' ? numberOf(value) === other : String(value) === String(other);

const numberTest = (
  condition: Extract<Condition, { value: number } | { from: number }>,
): ((value: number) => boolean) => {
  if (condition.is === 'between') return (value) => value >= condition.from && value <= condition.to;
  const than = condition.value as number;
  switch (condition.is) {
    case 'above':
      return (value) => value > than;
    case 'at-least':
      return (value) => value >= than;
    case 'below':
      return (value) => value < than;
    default:
      return (value) => value <= than;
  }
};

const testOf = (condition: Condition): ((value: unknown) => boolean) => {
  switch (condition.is) {
    case 'null':
      return blankValue;
    case 'not-null':
      return (value) => !blankValue(value);
    case 'equal':
      return (value) => equal(value, condition.value);
    case 'not-equal':
      return (value) => !equal(value, condition.value);
    case 'contains':
      return (value) => String(value).includes(String(condition.value));
    case 'not-contains':
      return (value) => !String(value).includes(String(condition.value));
    case 'matches': {
      const pattern = patternOf(condition.pattern, 'transformations.conditions.pattern');
      return (value) => !blankValue(value) && pattern.test(String(value));
    }
    default: {
      const test = numberTest(condition);
      return (value) => {
        const number = blankValue(value) ? undefined : numberOf(value);
        return number !== undefined && test(number);
      };
    }
  }
};

export const filterRows: Transform<'filter-rows'> = (tables, { action, match, conditions }) => {
  const tests = conditions.map((condition) => ({ field: condition.field, test: testOf(condition) }));
  return tables.map((table) => {
    // A condition on a column that a table lacks does not filter its rows.
    const own = tests.flatMap(({ field, test }) => {
      const column = columnNamed(table, field);
      return column === undefined ? [] : [(row: number) => test(column.values[row])];
    });
    if (own.length === 0) return table;
    const holds = (row: number): boolean =>
      match === 'all' ? own.every((test) => test(row)) : own.some((test) => test(row));
    const rows = Array.from({ length: rowsOf(table) }, (_, row) => row);
    return withRows(
      table,
      rows.filter((row) => holds(row) === (action === 'keep')),
    );
  });
};

export const filterQueries: Transform<'filter-queries'> = (tables, { keep: include }) =>
  tables.filter(({ query }) => include.includes(query));
