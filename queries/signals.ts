/** The signals whose records can be searched: where their records lie, and what they are called. */
import { type Field, logFields, spanFields } from '../schemas/records/fields.ts';
import type { SearchSignal } from './search/tree.ts';

interface SearchedSignal {
  readonly table: string;
  readonly fields: readonly Field<never>[];
  /** UCUM annotation of a count of them. */
  readonly unit: string;
}

export const signalTables: Readonly<Record<SearchSignal, SearchedSignal>> = {
  logs: { table: 'logs', fields: logFields, unit: '{record}' },
  traces: { table: 'spans', fields: spanFields, unit: '{span}' },
};
