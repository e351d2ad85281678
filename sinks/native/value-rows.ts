import { PermanentError } from '../../schemas/errors.ts';
import type { RowOf } from '../../schemas/tables/row.ts';
import type { Table } from '../../schemas/tables/table.ts';
import { isComputed, type Rows, rowsOf } from './rows.ts';
import { type ValueColumn, valueColumn } from './values.ts';

/** Rows of a table from plain objects. For tables that get few rows a message. */
export class ValueRows<const Declared extends Table> {
  readonly rows: Rows;
  readonly #writers: readonly (readonly [name: string, writer: ValueColumn])[];

  constructor(table: Declared) {
    this.#writers = Object.entries(table.columns)
      .filter(([, type]) => !isComputed(type))
      .map(([name, type]) => [name, valueColumn(type)] as const);
    this.rows = rowsOf(table, Object.fromEntries(this.#writers.map(([name, { column }]) => [name, column])));
  }

  /** Throws a `PermanentError` for a value that its column cannot hold; the row is then unfinished. */
  push(row: RowOf<Declared>): void {
    const values: Readonly<Record<string, unknown>> = row;
    for (const [name, writer] of this.#writers) {
      try {
        writer.push(values[name]);
      } catch (cause) {
        if (!(cause instanceof PermanentError)) throw cause;
        throw new PermanentError(cause.reason, `column ${name}: ${cause.message}`, { cause });
      }
    }
  }
}
