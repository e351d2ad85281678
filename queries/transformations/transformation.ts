/** What every transformation is: a function from tables to tables, with a budget. */
import type { Transformation } from '../../schemas/dashboards/transformations.ts';
import { invalid } from '../errors.ts';
import { rowsOf, type Table } from './table.ts';

/** Options of one kind. */
export type OptionsOf<Kind extends Transformation['kind']> = Extract<Transformation, { kind: Kind }>;

/** Makes tables of tables, without changing those. */
export type Transform<Kind extends Transformation['kind']> = (
  tables: readonly Table[],
  options: OptionsOf<Kind>,
) => readonly Table[];

/** How much the tables of one panel may hold, between any two transformations. */
export const mostOfTables = { rows: 200_000, columns: 2_000, cells: 2_000_000, tables: 10_000 } as const;

const tooMuch = (what: string, found: number, most: number): Error =>
  invalid(
    'transformations',
    `would give ${found} ${what}, at most ${most} can be held: ask for fewer series or a longer step`,
  );

/** Refuses a table before it is made. */
export const requireRoom = (rows: number, columns: number): void => {
  if (rows > mostOfTables.rows) throw tooMuch('rows', rows, mostOfTables.rows);
  if (columns > mostOfTables.columns) throw tooMuch('columns', columns, mostOfTables.columns);
  if (rows * columns > mostOfTables.cells) throw tooMuch('values', rows * columns, mostOfTables.cells);
};

/** Refuses tables that are more than may be held. */
export const requireRoomForAll = (tables: readonly Table[]): void => {
  if (tables.length > mostOfTables.tables) throw tooMuch('tables', tables.length, mostOfTables.tables);
  let cells = 0;
  for (const table of tables) {
    requireRoom(rowsOf(table), table.columns.length);
    cells += rowsOf(table) * table.columns.length;
    if (cells > mostOfTables.cells) throw tooMuch('values', cells, mostOfTables.cells);
  }
};
