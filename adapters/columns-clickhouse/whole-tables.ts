/** Tables with the same names as a server's tables, in a second database, that read all shards. */
import { quote } from '../../schemas/tables/literal.ts';
import { quoteName } from '../columns-sql/sql-literals.ts';
import type { Member } from './servers.ts';

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** Table → its columns as DDL */
const tablesIn = async ({ local }: Member, database: string, engine: string): Promise<ReadonlyMap<string, string>> => {
  const rows = await local.select<ColumnRow>(
    `SELECT table, name, type FROM system.columns WHERE database = ${quote(database)} AND table IN (
  SELECT name FROM system.tables WHERE database = ${quote(database)} AND engine_full LIKE ${quote(engine)}) ORDER BY table, position`,
  );
  const tables = new Map<string, string>();
  for (const { table, name, type } of rows) {
    const before = tables.get(table);
    tables.set(table, `${before === undefined ? '' : `${before}, `}${quoteName(name)} ${type}`);
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
  const made = await tablesIn(member, whole.database, `Distributed(${quote(cluster)}, %`);
  for (const [table, declared] of await tablesIn(member, local.database, '%MergeTree%')) {
    if (made.get(table) === declared) continue;
    await local.command(
      `CREATE OR REPLACE TABLE ${quoteName(whole.database)}.${quoteName(table)} (${declared})
ENGINE = Distributed(${quote(cluster)}, ${quote(local.database)}, ${quote(table)})`,
    );
  }
};
