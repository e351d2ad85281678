/** Names that checks of an organization may reference, and the checks that use them */

import { z } from 'zod';
import { addToList } from '../../schemas/add-to-list.ts';
import type { StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import { maxChecks, syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { maxLocations, syntheticLocations } from '../../schemas/resources/synthetic-location.ts';
import type { SyntheticRunRequest } from '../../schemas/resources/synthetic-run-request.ts';
import { maxVariables, syntheticVariables } from '../../schemas/resources/synthetic-variable.ts';
import { CheckFields, listVariables } from './check.ts';
import type { ReferenceableNames } from './problems.ts';

/** A check as it is run */
export type IdentifiedCheck = CheckFields & Pick<StoredMetadata, 'id'> & Partial<Pick<StoredMetadata, 'createdAt'>>;

/** Stored fields, which may have no locations: a check whose only location was deleted runs nowhere. */
const StoredFields = CheckFields.extend({ locations: z.array(z.string()) });

/** Returns a stored check for execution; `undefined` if its form is unknown. */
export const parseCheck = (
  stored: object & Pick<StoredMetadata, 'id'> & Partial<Pick<StoredMetadata, 'createdAt'>>,
): IdentifiedCheck | undefined => {
  const fields = Object.fromEntries(Object.entries(stored).filter(([name]) => name in CheckFields.shape));
  const { data } = StoredFields.safeParse(fields);
  const { id, createdAt } = stored;
  return data === undefined ? undefined : { ...data, id, ...(createdAt !== undefined && { createdAt }) };
};

/** Returns the unsaved check of a trial run; `undefined` for a run of a saved check. */
export const parseUnsavedCheck = ({ checkId, tried }: SyntheticRunRequest): IdentifiedCheck | undefined =>
  tried && parseCheck({ ...tried, id: checkId });

/** Returns the locations and variables of an organization. */
export const readKnownNames = async (documents: TenantDocuments): Promise<ReferenceableNames> => {
  const [locations, variables] = await Promise.all([
    documents.collection(syntheticLocations).list({ limit: maxLocations }),
    documents.collection(syntheticVariables).list({ limit: maxVariables }),
  ]);
  return {
    locations: new Set(locations.items.map(({ id }) => id)),
    variables: new Map(variables.items.map(({ id, isSecret, hosts }) => [id, isSecret ? hosts : undefined])),
  };
};

/** Returns the checks of an organization whose form is known. */
export const readChecks = async (
  documents: TenantDocuments,
  filter: object = {},
): Promise<readonly IdentifiedCheck[]> => {
  const { items } = await documents
    .collection(syntheticChecks)
    .list({ filter: { ...filter }, sort: { name: 1 }, limit: maxChecks });
  return items.flatMap((stored) => parseCheck(stored) ?? []);
};

/** Returns the checks that use each variable. */
export const groupChecksByVariable = (
  checks: readonly IdentifiedCheck[],
): ReadonlyMap<string, readonly IdentifiedCheck[]> => {
  const checksByName = new Map<string, IdentifiedCheck[]>();
  for (const check of checks) for (const name of listVariables(check)) addToList(checksByName, name, check);
  return checksByName;
};
