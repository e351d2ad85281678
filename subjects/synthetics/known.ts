/** What checks of an organization may name, and which checks name what. */
import { z } from 'zod';
import type { Stored, TenantDocuments } from '../../schemas/ports/documents.ts';
import { maxChecks, syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { maxLocations, syntheticLocations } from '../../schemas/resources/synthetic-location.ts';
import type { SyntheticRunRequest } from '../../schemas/resources/synthetic-run-request.ts';
import { maxVariables, syntheticVariables } from '../../schemas/resources/synthetic-variable.ts';
import { CheckFields, variablesOf } from './check.ts';
import type { Known } from './problems.ts';

/** A check as it is run. */
export type KnownCheck = CheckFields & Pick<Stored, 'id'>;

/** As it is stored: one whose only location was deleted runs nowhere. */
const StoredFields = CheckFields.extend({ locations: z.array(z.string()) });

/** A stored check as it is run; undefined where its form is not understood here. */
export const readCheck = (stored: object & Pick<Stored, 'id'>): KnownCheck | undefined => {
  const fields = Object.fromEntries(Object.entries(stored).filter(([name]) => name in CheckFields.shape));
  const { data } = StoredFields.safeParse(fields);
  return data === undefined ? undefined : { ...data, id: stored.id };
};

/** The check that is tried where one that is not saved was asked for; undefined where it was one that is. */
export const triedCheck = ({ checkId, tried }: SyntheticRunRequest): KnownCheck | undefined =>
  tried && readCheck({ ...tried, id: checkId });

/** Locations and variables of an organization. */
export const readKnown = async (documents: TenantDocuments): Promise<Known> => {
  const [locations, variables] = await Promise.all([
    documents.collection(syntheticLocations).list({ limit: maxLocations }),
    documents.collection(syntheticVariables).list({ limit: maxVariables }),
  ]);
  return {
    locations: new Set(locations.items.map(({ id }) => id)),
    variables: new Map(variables.items.map(({ id, isSecret, hosts }) => [id, isSecret ? hosts : undefined])),
  };
};

/** Checks of an organization that are understood. */
export const readChecks = async (documents: TenantDocuments, filter: object = {}): Promise<readonly KnownCheck[]> => {
  const { items } = await documents
    .collection(syntheticChecks)
    .list({ filter: { ...filter }, sort: { name: 1 }, limit: maxChecks });
  return items.flatMap((stored) => readCheck(stored) ?? []);
};

/** Which checks use each variable. */
export const usersOfVariables = (checks: readonly KnownCheck[]): ReadonlyMap<string, readonly KnownCheck[]> => {
  const users = new Map<string, KnownCheck[]>();
  for (const check of checks)
    for (const name of variablesOf(check)) users.set(name, [...(users.get(name) ?? []), check]);
  return users;
};
