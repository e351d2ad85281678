/** The tables that come with the platform. */
import type { FieldTable } from './table.ts';
import { windowsTables } from './windows.ts';

export const fieldTables: readonly FieldTable[] = [...windowsTables];
