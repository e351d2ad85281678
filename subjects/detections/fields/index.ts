/** The tables that come with the platform. More specific ones come first: their names are looked for first. */
import { cloudTables } from './cloud.ts';
import { linuxTables } from './linux.ts';
import { networkTables } from './network.ts';
import { schemaTables } from './schemas.ts';
import type { FieldTable } from './table.ts';
import { windowsTables } from './windows.ts';

export const fieldTables: readonly FieldTable[] = [
  ...windowsTables,
  ...linuxTables,
  ...cloudTables,
  ...networkTables,
  ...schemaTables,
];

/** The platform's tables with a tenant's own before them; one of the same name takes a table's place. */
export const withOwnTables = (own: readonly FieldTable[]): readonly FieldTable[] =>
  own.length === 0
    ? fieldTables
    : [...own, ...fieldTables.filter(({ name }) => !own.some((table) => table.name === name))];
