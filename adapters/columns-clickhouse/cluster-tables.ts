/** Creates tables in a second database that have the names of a server's tables and read all shards. */
import { quoteString } from '../../schemas/tables/literal.ts';
import { quoteName } from '../columns-sql/sql-literals.ts';
import type { Member } from './servers.ts';

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** Returns the columns of each table as DDL. */
const readTables = async (
  { local }: Member,
  database: string,
  engine: string,
): Promise<ReadonlyMap<string, string>> => {
  const rows = await local.select<ColumnRow>(
    `SELECT table, name, type FROM system.columns WHERE database = ${quoteString(database)} AND table IN (
  SELECT name FROM system.tables WHERE database = ${quoteString(database)} AND engine_full LIKE ${quoteString(engine)}) ORDER BY table, position`,
  );
  const tables = new Map<string, string>();
  for (const { table, name, type } of rows) {
    const precedingColumns = tables.get(table);
    tables.set(table, `${precedingColumns === undefined ? '' : `${precedingColumns}, `}${quoteName(name)} ${type}`);
  }
  return tables;
};

/**
 * Creates the tables that read all shards. Replaces tables whose columns differ from the server's own, or whose cluster
 * differs; they hold no data. Repeatable.
 */
export const createClusterTables = async (member: Member, cluster: string): Promise<void> => {
  const { local, whole } = member;
  await local.createDatabase(whole.database);
  const clusterTables = await readTables(member, whole.database, `Distributed(${quoteString(cluster)}, %`);
  for (const [table, columnsDdl] of await readTables(member, local.database, '%MergeTree%')) {
    if (clusterTables.get(table) === columnsDdl) continue;
    await local.runCommand(
      `CREATE OR REPLACE TABLE ${quoteName(whole.database)}.${quoteName(table)} (${columnsDdl})
ENGINE = Distributed(${quoteString(cluster)}, ${quoteString(local.database)}, ${quoteString(table)})`,
    );
  }
};
