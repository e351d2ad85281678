/** Storage policy of tables: fast disks for new rows, other disks for old rows. */
import { allTables } from '../../schemas/tables/index.ts';
import { quote } from '../../schemas/tables/literal.ts';
import { ageColumnOf, type Table } from '../../schemas/tables/table.ts';
import { quoteName } from '../columns-sql/sql-literals.ts';
import type { ClickhouseServer } from './server.ts';

export interface Storage {
  /** Name in `system.storage_policies`; the policy has a volume `cold` and the disks of existing tables. */
  readonly policy: string;
  readonly coldAfterDays: number;
}

/** The TTL rule that moves old rows, in the engine's spelling. */
export const coldRule = (table: Table, { coldAfterDays }: Storage): string =>
  `toDateTime(${ageColumnOf(table)}) + toIntervalDay(${coldAfterDays}) TO VOLUME 'cold'`;

interface StoredTable {
  readonly name: string;
  readonly policy: string;
  readonly made: string;
}

/** Applies the policy to the tables that grow with time. Repeatable; existing parts move in the background. */
export const storeBy = async (server: ClickhouseServer, storage: Storage): Promise<void> => {
  const rows = await server.select<StoredTable>(
    `SELECT name, storage_policy AS policy, create_table_query AS made FROM system.tables WHERE database = ${quote(server.database)}`,
  );
  const stored = new Map(rows.map((row) => [row.name, row]));
  for (const table of allTables) {
    const found = stored.get(table.name);
    if (found === undefined || table.retention === 'never') continue;
    const name = quoteName(table.name);
    const rule = coldRule(table, storage);
    if (found.policy !== storage.policy)
      await server.command(`ALTER TABLE ${name} MODIFY SETTING storage_policy = ${quote(storage.policy)}`);
    if (!found.made.includes(rule)) await server.command(`ALTER TABLE ${name} MODIFY TTL ${rule}`);
  }
};
