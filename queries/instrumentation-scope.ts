import { z } from 'zod';
import { Attributes, decodeValue } from './attributes.ts';

/** Instrumentation scope of a record, as returned in results. */
export const InstrumentationScope = z.strictObject({
  name: z.string(),
  version: z.string(),
  attributes: Attributes,
  droppedAttributes: z.int().describe('Number of attributes dropped by the sender'),
  schemaUrl: z.string(),
});
type InstrumentationScope = z.output<typeof InstrumentationScope>;

export interface ScopeRow {
  readonly scope_name: string;
  readonly scope_version: string;
  readonly scope_attributes: string;
  readonly scope_dropped_attributes: number;
  readonly scope_schema_url: string;
}

export const scopeColumns = 'scope_name, scope_version, scope_attributes, scope_dropped_attributes, scope_schema_url';

export const toInstrumentationScope = (row: ScopeRow): InstrumentationScope => ({
  name: row.scope_name,
  version: row.scope_version,
  attributes: parseJsonAttributes(row.scope_attributes),
  droppedAttributes: row.scope_dropped_attributes,
  schemaUrl: row.scope_schema_url,
});

/** Parses attributes stored as JSON, empty for none. */
export const parseJsonAttributes = (json: string): Attributes =>
  json === '' ? {} : (decodeValue(json, 'j') as Attributes);
