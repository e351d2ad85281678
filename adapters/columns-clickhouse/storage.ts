/** Storage policy of tables: fast disks for new rows, other disks for old rows. */
import { allTables } from '../../schemas/tables/index.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { getAgeColumn, type Table } from '../../schemas/tables/table.ts';
import { quoteName } from '../columns-sql/sql-literals.ts';
import type { ClickhouseServer } from './server.ts';

export interface Storage {
  /** Name in `system.storage_policies`; the policy has a volume `cold` and the disks of existing tables. */
  readonly policy: string;
  readonly coldAfterDays: number;
}

/** The TTL rule that moves old rows, in the engine's spelling. */
export const toColdRule = (table: Table, { coldAfterDays }: Storage): string =>
  `toDateTime(${getAgeColumn(table)}) + toIntervalDay(${coldAfterDays}) TO VOLUME 'cold'`;

interface StoredTable {
  readonly name: string;
  readonly policy: string;
  readonly made: string;
}

/** Applies the policy to the tables that grow with time. Repeatable; existing parts move in the background. */
export const applyStoragePolicy = async (server: ClickhouseServer, storage: Storage): Promise<void> => {
  const rows = await server.select<StoredTable>(
    `SELECT name, storage_policy AS policy, create_table_query AS made FROM system.tables WHERE database = ${quoteString(server.database)}`,
  );
  const tablesByName = new Map(rows.map((row) => [row.name, row]));
  for (const table of allTables) {
    const storedTable = tablesByName.get(table.name);
    if (storedTable === undefined || table.retention === 'never') continue;
    const name = quoteName(table.name);
    const rule = toColdRule(table, storage);
    if (storedTable.policy !== storage.policy)
      await server.runCommand(`ALTER TABLE ${name} MODIFY SETTING storage_policy = ${quoteString(storage.policy)}`);
    if (!storedTable.made.includes(rule)) await server.runCommand(`ALTER TABLE ${name} MODIFY TTL ${rule}`);
  }
};
