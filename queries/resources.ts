import { z } from 'zod';
import type { TenantColumns } from '../schemas/ports/columns.ts';
import { Attributes, decodeAttributes } from './attributes.ts';
import { RowCache } from './row-cache.ts';

interface Row {
  readonly id: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly types: string;
  readonly dropped: number;
  readonly url: string;
}

/** The sender of records, as described by its resource attributes. */
export interface Resource {
  readonly attributes: Attributes;
  /** Number of attributes that the sender dropped. */
  readonly droppedAttributes: number;
  readonly schemaUrl: string;
}

/** Response fields of a resource. */
export const resourceFields = {
  resource: Attributes,
  resourceDroppedAttributes: z.int().describe('Number of resource attributes dropped by the sender'),
  resourceSchemaUrl: z.string(),
} as const;

export const toResourceFields = ({ attributes, droppedAttributes, schemaUrl }: Resource = emptyResource) => ({
  resource: attributes,
  resourceDroppedAttributes: droppedAttributes,
  resourceSchemaUrl: schemaUrl,
});

/** For records whose resource row is not stored yet. */
const emptyResource: Resource = { attributes: Object.freeze({}), droppedAttributes: 0, schemaUrl: '' };

/** Cache of resources: an id is a hash of the attributes, so its content never changes. */
const resourceCache = new RowCache<Resource>(10_000);

/** Returns the resources of a page, by resource id. */
export const getResources = async (
  columns: TenantColumns,
  resourceIds: Iterable<string>,
): Promise<ReadonlyMap<string, Resource>> => {
  const cache = resourceCache.forTenant(columns);
  const resources = new Map<string, Resource>();
  const missingIds: string[] = [];
  for (const id of new Set(resourceIds)) {
    const resource = cache.get(id);
    if (resource !== undefined) resources.set(id, resource);
    // Ids are digits from stored rows, so they can be inlined in the statement, which the key's index requires.
    else if (/^\d{1,20}$/.test(id) && id !== '0') missingIds.push(id);
  }
  for (const [id, resource] of await readResources(columns, missingIds)) {
    cache.set(id, resource);
    resources.set(id, resource);
  }
  return resources;
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
    { runsOnEachServer: true },
  );
  return Array.from(
    Map.groupBy(rows, ({ id }) => id),
    ([id, resourceRows]) => {
      const { keys, values, types } = resourceRows[0] as Row;
      const schemaUrl =
        resourceRows
          .map(({ url }) => url)
          .toSorted()
          .at(-1) ?? '';
      const droppedAttributes = Math.max(...resourceRows.map(({ dropped }) => dropped));
      return [id, { attributes: decodeAttributes(keys, values, types), droppedAttributes, schemaUrl }] as const;
    },
  );
};
