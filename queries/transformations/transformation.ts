/** Type of all transformations: a function from tables to tables, with limits. */
import type { Transformation } from '../../schemas/dashboards/transformations.ts';
import { createValidationError } from '../errors.ts';
import { countRows, type Table } from './table.ts';

/** Options of one kind. */
export type TransformationOptions<Kind extends Transformation['kind']> = Extract<Transformation, { kind: Kind }>;

/** Returns new tables without changing the input. */
export type Transform<Kind extends Transformation['kind']> = (
  tables: readonly Table[],
  options: TransformationOptions<Kind>,
) => readonly Table[];

/** Limits of the tables of one panel between any two transformations. */
export const tableLimits = { rows: 200_000, columns: 2_000, cells: 2_000_000, tables: 10_000 } as const;

const createLimitError = (items: string, actual: number, limit: number): Error =>
  createValidationError(
    'transformations',
    `would return ${actual} ${items}, the maximum is ${limit}: use fewer series or a longer step`,
  );

/** Throws if a table would exceed the limits, before it is created. */
export const requireTableLimits = (rows: number, columns: number): void => {
  if (rows > tableLimits.rows) throw createLimitError('rows', rows, tableLimits.rows);
  if (columns > tableLimits.columns) throw createLimitError('columns', columns, tableLimits.columns);
  if (rows * columns > tableLimits.cells) throw createLimitError('values', rows * columns, tableLimits.cells);
};

/** Throws if tables exceed the limits in total. */
export const requireTotalLimits = (tables: readonly Table[]): void => {
  if (tables.length > tableLimits.tables) throw createLimitError('tables', tables.length, tableLimits.tables);
  let cells = 0;
  for (const table of tables) {
    requireTableLimits(countRows(table), table.columns.length);
    cells += countRows(table) * table.columns.length;
    if (cells > tableLimits.cells) throw createLimitError('values', cells, tableLimits.cells);
  }
};
