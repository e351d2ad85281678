import { z } from 'zod';
import type { TenantColumns } from '../schemas/ports/columns.ts';
import { Attributes, attributesOf } from './attributes.ts';

interface Row {
  readonly id: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly types: string;
  readonly dropped: number;
  readonly url: string;
}

/** What a sender says of itself. */
export interface Resource {
  readonly attributes: Attributes;
  /** Attributes that the sender left out. */
  readonly droppedAttributes: number;
  readonly schemaUrl: string;
}

/** Fields of a resource in the answers that carry one. */
export const resourceFields = {
  resource: Attributes,
  resourceDroppedAttributes: z.int().describe('Number of resource attributes that the sender dropped'),
  resourceSchemaUrl: z.string(),
} as const;

export const resourceFieldsOf = ({ attributes, droppedAttributes, schemaUrl }: Resource = nothing) => ({
  resource: attributes,
  resourceDroppedAttributes: droppedAttributes,
  resourceSchemaUrl: schemaUrl,
});

/** For records whose resource row has not landed yet. */
const nothing: Resource = { attributes: Object.freeze({}), droppedAttributes: 0, schemaUrl: '' };

/** The resources that a page names, by resource id. */
export const resourcesOf = async (
  columns: TenantColumns,
  resourceIds: Iterable<string>,
): Promise<ReadonlyMap<string, Resource>> => {
  // Ids come from our own rows; they are digits, and stand in the text so that the key's index serves.
  const ids = [...new Set(resourceIds)].filter((id) => /^\d{1,20}$/.test(id) && id !== '0');
  if (ids.length === 0) return new Map();
  const rows = await columns.query<Row>(
    `SELECT toString(resource_id) AS id, any(mapKeys(attributes)) AS keys, any(mapValues(attributes)) AS values,
      any(attribute_types) AS types, max(dropped_attributes) AS dropped, max(schema_url) AS url
    FROM resources WHERE tenant_id = {tenant:String} AND resource_id IN (${ids.join(', ')}) GROUP BY resource_id`,
  );
  return new Map(
    rows.map(({ id, keys, values, types, dropped, url }) => [
      id,
      { attributes: attributesOf(keys, values, types), droppedAttributes: dropped, schemaUrl: url },
    ]),
  );
};
