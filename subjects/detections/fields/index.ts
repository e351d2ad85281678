/** The built-in field tables. More specific tables precede general ones, so that their names are tried first. */
import { agentTables } from './agents.ts';
import { cloudTables } from './cloud.ts';
import { linuxTables } from './linux.ts';
import { networkTables } from './network.ts';
import { schemaTables } from './schemas.ts';
import type { FieldTable } from './table.ts';
import { windowsTables } from './windows.ts';

export const fieldTables: readonly FieldTable[] = [
  ...agentTables,
  ...windowsTables,
  ...linuxTables,
  ...cloudTables,
  ...networkTables,
  ...schemaTables,
];

/**
 * Returns a tenant's tables followed by the built-in tables; a tenant table replaces a built-in table of the same name.
 */
export const mergeTables = (tenantTables: readonly FieldTable[]): readonly FieldTable[] =>
  tenantTables.length === 0
    ? fieldTables
    : [...tenantTables, ...fieldTables.filter(({ name }) => !tenantTables.some((table) => table.name === name))];
