import { z } from 'zod';
import type { TenantColumns } from '../schemas/ports/columns.ts';
import { Attributes, attributesOf } from './attributes.ts';
import { RowCache } from './row-cache.ts';

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

/** Resources that were read lately: an id is a hash of the attributes, so that what it names never changes. */
const known = new RowCache<Resource>(10_000);

/** The resources that a page names, by resource id. */
export const resourcesOf = async (
  columns: TenantColumns,
  resourceIds: Iterable<string>,
): Promise<ReadonlyMap<string, Resource>> => {
  const cache = known.of(columns);
  const found = new Map<string, Resource>();
  const missing: string[] = [];
  for (const id of new Set(resourceIds)) {
    const resource = cache.get(id);
    if (resource !== undefined) found.set(id, resource);
    // Ids come from our own rows; they are digits, and stand in the text so that the key's index serves.
    else if (/^\d{1,20}$/.test(id) && id !== '0') missing.push(id);
  }
  for (const [id, resource] of await readResources(columns, missing)) {
    cache.set(id, resource);
    found.set(id, resource);
  }
  return found;
};

const readResources = async (
  columns: TenantColumns,
  ids: readonly string[],
): Promise<readonly (readonly [string, Resource])[]> => {
  if (ids.length === 0) return [];
  const rows = await columns.query<Row>(
    `SELECT toString(resource_id) AS id, any(mapKeys(attributes)) AS keys, any(mapValues(attributes)) AS values,
      any(attribute_types) AS types, max(dropped_attributes) AS dropped, max(schema_url) AS url
    FROM resources WHERE tenant_id = {tenant:String} AND resource_id IN (${ids.join(', ')}) GROUP BY resource_id`,
    {},
    { ofEachServer: true },
  );
  return Array.from(
    Map.groupBy(rows, ({ id }) => id),
    ([id, same]) => {
      const { keys, values, types } = same[0] as Row;
      const schemaUrl =
        same
          .map(({ url }) => url)
          .toSorted()
          .at(-1) ?? '';
      const droppedAttributes = Math.max(...same.map(({ dropped }) => dropped));
      return [id, { attributes: attributesOf(keys, values, types), droppedAttributes, schemaUrl }] as const;
    },
  );
};
