/** Shared by the suites of the columns contract: the harness of each adapter, and blocks that the engine generates. */
import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { Columns, NativeBlock } from '../../schemas/ports/columns.ts';
import { tenantTables } from '../../schemas/tables/index.ts';
import type { Table } from '../../schemas/tables/table.ts';
import { isComputed } from '../../sinks/native/rows.ts';

export interface ColumnsUnderTest {
  /** Migrated, and shared by all tests: each test uses its own tenants. */
  readonly columns: Columns;
  /** Result of a SELECT in Native. */
  native(select: string): Promise<Uint8Array>;
}

export interface ColumnsContract {
  /** Prefix of the test titles. */
  readonly name: string;
  under(): ColumnsUnderTest;
}

export const someTenant = (): string => `tenant-${randomUUID()}`;
export const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`;

/** Inserted columns, with their types without codec. */
export const insertedColumns = ({ columns }: Table): readonly { readonly name: string; readonly type: string }[] =>
  Object.entries(columns)
    .filter(([, declared]) => !isComputed(declared))
    .map(([name, declared]) => ({ name, type: declared.replace(/ CODEC\(.*\)$/, '') }));

export const tableNamed = (name: string): Table => {
  const table = tenantTables.find((candidate) => candidate.name === name);
  if (table === undefined) throw new Error(`no table ${name}`);
  return table;
};

/** Types whose values the generator cannot create, or that would scatter rows over partitions. */
const create = (name: string, type: string, values: Readonly<Record<string, string>>): string => {
  if (name in values) return `CAST(${values[name]} AS ${type}) AS ${name}`;
  if (name === 'received_at') return `CAST(toDateTime64('2026-03-01 10:00:00', 3, 'UTC') AS ${type}) AS received_at`;
  if (name === 'id') return `toString(number) AS id`;
  if (name === 'day') return `CAST('2026-03-01' AS ${type}) AS day`;
  return `CAST(random.${name} AS ${type}) AS ${name}`;
};
const plain = (type: string): string =>
  type.replace(/^SimpleAggregateFunction\(\w+, (.*)\)$/, '$1').replaceAll('LowCardinality(String)', 'String');

/** SELECT of random rows of a table, identical for one seed; `values` are SQL expressions (`number` counts rows). */
export const randomRows = (table: Table, values: Readonly<Record<string, string>>, rows = 100, seed = 1): string => {
  const columns = insertedColumns(table);
  const structure = columns.map(({ name, type }) => `${name} ${plain(type)}`).join(', ');
  return `SELECT ${columns.map(({ name, type }) => create(name, type, values)).join(', ')}
FROM (SELECT *, rowNumberInAllBlocks() AS number FROM generateRandom(${quoted(structure)}, ${seed}, 8, 3) LIMIT ${rows}) AS random`;
};

/** A block of a table with these rows, as several chunks of bytes. */
export const blockOf = async (
  { native }: ColumnsUnderTest,
  table: Table,
  values: Readonly<Record<string, string>>,
  rows = 100,
): Promise<NativeBlock> => {
  const bytes = await native(randomRows(table, values, rows));
  const middle = bytes.length >> 1;
  return {
    table: table.name,
    columns: insertedColumns(table),
    rows,
    chunks: [bytes.subarray(0, 1), bytes.subarray(1, middle), bytes.subarray(middle)],
  };
};

/** Number of rows of a tenant in a table. */
export const countOf = async ({ columns }: ColumnsUnderTest, table: string, tenant: string): Promise<number> => {
  const [row] = await columns
    .forTenant(tenant)
    .query<{ rows: string }>(`SELECT count() AS rows FROM ${table} WHERE tenant_id = {tenant:String}`);
  return Number(row?.rows);
};

/** Returns the rejection of a promise, and checks its class. */
export const failureOf = async <Failure extends Error>(
  t: ExecutionContext,
  promise: Promise<unknown>,
  instanceOf: new (...args: never[]) => Failure,
): Promise<Failure | undefined> =>
  (await t.throwsAsync(promise, { instanceOf: instanceOf as never })) as Failure | undefined;
