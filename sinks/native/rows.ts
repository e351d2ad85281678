import type { Table } from '../../schemas/tables/table.ts';
import type { Column } from './column.ts';
import { getVarintSize, writeVarint } from './strings.ts';

/** One table's part of a batch, as one contiguous Native block. */
export interface EncodedBlock {
  readonly table: string;
  readonly declaration: Table;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: number;
  readonly bytes: Uint8Array;
}

/** Column writers of one table. */
export interface TableWriters {
  readonly table: Table;
  readonly columns: ReadonlyMap<string, Column>;
}

/** Columns that the engine computes itself. */
export const isComputed = (type: string): boolean => /\b(?:MATERIALIZED|ALIAS|DEFAULT|EPHEMERAL)\b/.test(type);

/** Returns the writers in table order. Throws if they do not match the table's declaration. */
export const createTableWriters = (table: Table, writers: Readonly<Record<string, Column>>): TableWriters => {
  const columns = new Map<string, Column>();
  for (const [name, type] of Object.entries(table.columns)) {
    const writer = writers[name];
    if (writer !== undefined) columns.set(name, writer);
    else if (!isComputed(type)) throw new Error(`the scanner of table ${table.name} writes no column ${name}`);
  }
  for (const name of Object.keys(writers)) {
    if (!columns.has(name)) throw new Error(`table ${table.name} has no column ${name}`);
  }
  return { table, columns };
};

/** Returns the number of appended rows. Throws if the columns disagree, which is a bug of the scanner. */
export const countRows = ({ table, columns }: TableWriters): number => {
  let rows = -1;
  for (const [name, column] of columns) {
    if (rows === -1) rows = column.rows;
    if (column.rows !== rows) {
      throw new Error(`column ${name} of table ${table.name} has ${column.rows} rows where others have ${rows}`);
    }
  }
  return rows;
};

/**
 * Encodes the block: counts, then each column's name, type and values. Without a client revision, the format
 * contains neither block properties nor custom-serialization markers. `allocate` returns memory of at least the requested
 * size.
 */
export const encodeBlock = (rows: TableWriters, allocate: (bytes: number) => Uint8Array): EncodedBlock => {
  const count = countRows(rows);
  const columnHeaders = [...rows.columns].map(([name, column]) => ({
    column,
    name: Buffer.from(name, 'utf8'),
    type: Buffer.from(column.type, 'utf8'),
  }));
  let size = getVarintSize(columnHeaders.length) + getVarintSize(count);
  for (const { column, name, type } of columnHeaders) {
    size += getVarintSize(name.length) + name.length + getVarintSize(type.length) + type.length;
    size += column.prefixSize + column.computeSize();
  }
  const memory = allocate(size);
  let position = writeVarint(memory, writeVarint(memory, 0, columnHeaders.length), count);
  for (const { column, name, type } of columnHeaders) {
    position = writeVarint(memory, position, name.length);
    memory.set(name, position);
    position = writeVarint(memory, position + name.length, type.length);
    memory.set(type, position);
    position = column.write(memory, column.writePrefix(memory, position + type.length));
  }
  return {
    table: rows.table.name,
    declaration: rows.table,
    columns: [...rows.columns].map(([name, { type }]) => ({ name, type })),
    rows: count,
    bytes: memory.subarray(0, position),
  };
};
