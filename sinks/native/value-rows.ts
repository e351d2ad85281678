import { PermanentError } from '../../schemas/errors.ts';
import type { TableRow } from '../../schemas/tables/row.ts';
import type { Table } from '../../schemas/tables/table.ts';
import { createTableWriters, isComputed, type TableWriters } from './rows.ts';
import { createValueColumn, type ValueColumn } from './values.ts';

interface ColumnWriter {
  readonly name: string;
  readonly column: ValueColumn;
  readonly isShared: boolean;
}

/** Builds rows of a table from plain objects. For tables with few rows per message. */
export class ValueRows<const Declared extends Table> {
  readonly rows: TableWriters;
  readonly #writers: readonly ColumnWriter[];

  /** `sharedColumns` are columns whose values are passed separately from a row. */
  constructor(table: Declared, sharedColumns: readonly string[] = []) {
    this.#writers = Object.entries(table.columns)
      .filter(([, type]) => !isComputed(type))
      .map(([name, type]) => ({ name, column: createValueColumn(type), isShared: sharedColumns.includes(name) }));
    const columns = this.#writers.map(({ name, column }) => [name, column.column] as const);
    this.rows = createTableWriters(table, Object.fromEntries(columns));
  }

  /** Throws a `PermanentError` for a value that its column cannot represent. The row is then incomplete. */
  push(row: TableRow<Declared>): void {
    this.pushWithShared(row, {});
  }

  /** Like `push`, with the values of the shared columns. */
  pushWithShared(row: object, sharedValues: object): void {
    for (const { name, column, isShared } of this.#writers) {
      try {
        column.push(((isShared ? sharedValues : row) as Readonly<Record<string, unknown>>)[name]);
      } catch (cause) {
        if (!(cause instanceof PermanentError)) throw cause;
        throw new PermanentError(cause.reason, `column ${name}: ${cause.message}`, { cause });
      }
    }
  }
}
