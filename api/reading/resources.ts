import type { TenantColumns } from '../../schemas/columns.ts';
import { type Attributes, attributesOf } from './attributes.ts';

interface Row {
  readonly id: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly types: string;
}

/** Attributes of the resources that a page names, by resource id. */
export const resourcesOf = async (
  columns: TenantColumns,
  resourceIds: Iterable<string>,
): Promise<ReadonlyMap<string, Attributes>> => {
  // Ids come from our own rows; they are digits, and stand in the text so that the key's index serves.
  const ids = [...new Set(resourceIds)].filter((id) => /^\d{1,20}$/.test(id) && id !== '0');
  if (ids.length === 0) return new Map();
  const rows = await columns.query<Row>(
    `SELECT toString(resource_id) AS id, any(mapKeys(attributes)) AS keys, any(mapValues(attributes)) AS values,
      any(attribute_types) AS types
    FROM resources WHERE tenant_id = {tenant:String} AND resource_id IN (${ids.join(', ')}) GROUP BY resource_id`,
  );
  return new Map(rows.map(({ id, keys, values, types }) => [id, attributesOf(keys, values, types)]));
};

/** For records whose resource row has not landed yet. */
export const noAttributes: Attributes = Object.freeze({});
