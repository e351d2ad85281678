/**
 * Tables without a written migration, and views between them. They are created from their declarations, which are
 * stored in the tables' comments.
 */
import type { ServerColumns } from '../../schemas/ports/columns.ts';
import type { Log } from '../../schemas/ports/log.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { buildCreateTable, buildCreateView, type MaterializedView, type Table } from '../../schemas/tables/table.ts';

/** The parts of a declaration that define the table. */
export type TableSchema = Pick<
  Table,
  'columns' | 'engine' | 'partitionBy' | 'orderBy' | 'primaryKey' | 'indexes' | 'settings'
>;

const extractShape = ({
  columns,
  engine,
  partitionBy,
  orderBy,
  primaryKey,
  indexes,
  settings,
}: TableSchema): TableSchema => ({
  columns,
  ...(engine === undefined ? {} : { engine }),
  ...(partitionBy === undefined ? {} : { partitionBy }),
  orderBy,
  ...(primaryKey === undefined ? {} : { primaryKey }),
  ...(indexes === undefined ? {} : { indexes }),
  ...(settings === undefined ? {} : { settings }),
});

const formatComment = (shape: TableSchema): string => `declared: ${JSON.stringify(extractShape(shape))}`;
const parseComment = (comment: string): TableSchema | undefined =>
  comment.startsWith('declared: ') ? (JSON.parse(comment.slice('declared: '.length)) as TableSchema) : undefined;

const storeShape = (columns: ServerColumns, table: string, shape: TableSchema): Promise<void> =>
  columns.execute(`ALTER TABLE ${table} MODIFY COMMENT ${quoteString(formatComment(shape))}`);

/** Existing tables with the shape of their declaration; undefined for those of written migrations. */
const readShapes = async (columns: ServerColumns): Promise<ReadonlyMap<string, TableSchema | undefined>> => {
  const rows = await columns.query<{ name: string; comment: string }>(
    'SELECT name, comment FROM system.tables WHERE database = currentDatabase()',
  );
  return new Map(rows.map(({ name, comment }) => [name, parseComment(comment)]));
};

/** Returns whether a table without a written migration exists already. A new table is created from the current declaration. */
export const tableExists = async (columns: ServerColumns, table: string): Promise<boolean> =>
  (await readShapes(columns)).has(table);

/** Returns newly declared columns. Throws if anything else differs. */
const findAddedColumns = (table: Table, storedShape: TableSchema): string[] => {
  const reject = (problem: string): never => {
    throw new Error(
      `table ${table.name} cannot be changed to match its declaration: ${problem}. Columns are added automatically; for any other change, write a migration (sinks/migrations/README.md). If a newer program made this change, run that program`,
    );
  };
  for (const [name, type] of Object.entries(storedShape.columns)) {
    const declaredType = table.columns[name];
    if (declaredType === undefined) reject(`its column ${name} is not declared`);
    if (declaredType !== type) reject(`its column ${name} is ${type} and is declared as ${declaredType}`);
  }
  const { columns: _declared, ...declaredShape } = extractShape(table);
  const { columns: _known, ...storedFields } = extractShape(storedShape);
  for (const property of Object.keys({ ...declaredShape, ...storedFields }) as (keyof typeof declaredShape)[]) {
    const [actual, expected] = [JSON.stringify(storedFields[property]), JSON.stringify(declaredShape[property])];
    if (actual !== expected)
      reject(`its ${property} is ${actual ?? 'not set'} and is declared as ${expected ?? 'not set'}`);
  }
  return Object.keys(table.columns).filter((name) => !(name in storedShape.columns));
};

/**
 * Creates missing declared tables and views, and adds missing columns. Throws before any change if a declaration
 * differs otherwise. Idempotent, and safe in concurrent processes.
 */
export const migrateDeclaredTables = async (
  columns: ServerColumns,
  log: Log,
  tables: readonly Table[],
  views: readonly MaterializedView[] = [],
): Promise<void> => {
  const shapes = await readShapes(columns);
  const steps = tables.map((table) => {
    const storedShape = shapes.get(table.name);
    return {
      table,
      tableExistsAlready: shapes.has(table.name),
      added: storedShape === undefined ? [] : findAddedColumns(table, storedShape),
    };
  });
  for (const { table, tableExistsAlready: doesTableExist, added: addedColumns } of steps) {
    if (!doesTableExist) {
      await columns.execute(`${buildCreateTable(table)}\nCOMMENT ${quoteString(formatComment(table))}`);
      log.info({ table: table.name }, 'table created from its declaration');
    }
    if (addedColumns.length === 0) continue;
    const names = Object.keys(table.columns);
    for (const name of addedColumns) {
      const before = names[names.indexOf(name) - 1];
      const columnPosition = before === undefined ? 'FIRST' : `AFTER \`${before}\``;
      await columns.execute(
        `ALTER TABLE ${table.name} ADD COLUMN IF NOT EXISTS \`${name}\` ${table.columns[name]} ${columnPosition}`,
      );
    }
    await storeShape(columns, table.name, table);
    log.info({ table: table.name, columns: addedColumns }, 'columns added to a table');
  }
  const isDeclared = (name: string): boolean => tables.some((table) => table.name === name);
  for (const view of views.filter(({ from, to }) => isDeclared(from) && isDeclared(to))) {
    const { to, select, backfillColumns = [] } = view;
    const backfill = async (): Promise<void> => {
      if (backfillColumns.length > 0 && !shapes.has(view.name))
        await columns.execute(`INSERT INTO ${to} (${backfillColumns.join(', ')}) ${select}`);
    };
    // Backfill before and after the creation of the view, so that rows inserted in the meantime are not missed.
    await backfill();
    await columns.execute(buildCreateView(view));
    await backfill();
  }
};

/** For a written migration that changed a declared table: `change` converts the stored shape to the new one. */
export const changeSchema = async (
  columns: ServerColumns,
  table: string,
  change: (shape: TableSchema) => TableSchema,
): Promise<void> => {
  const shape = (await readShapes(columns)).get(table);
  if (shape === undefined) throw new Error(`no table ${table} was created from its declaration`);
  await storeShape(columns, table, change(shape));
};
