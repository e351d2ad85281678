/** The signals whose records can be searched: where their records lie, and what they are called. */
import { type Field, logFields, spanFields } from '../schemas/records/fields.ts';
import { foundSignals, signalFields } from '../schemas/tables/found-signals.ts';
import type { QuerySignal } from './search/tree.ts';

interface SearchedSignal {
  readonly table: string;
  /** What stands behind FROM instead of the table; it goes by the table's name, and reads `{from:Int64}` and `{to:Int64}`. */
  readonly from?: string;
  readonly fields: readonly Field<never>[];
  /** UCUM annotation of a count of them. */
  readonly unit: string;
}

export const signalTables: Readonly<Record<QuerySignal, SearchedSignal>> = {
  logs: { table: 'logs', fields: logFields, unit: '{record}' },
  traces: { table: 'spans', fields: spanFields, unit: '{span}' },
  detections: { table: 'signals', from: foundSignals, fields: signalFields, unit: '{signal}' },
};
