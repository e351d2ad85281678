/** Names of services similar to one that does not exist. */
import type { TenantReader } from '../../queries/reading.ts';
import { computeEditDistance } from '../../schemas/edit-distance.ts';

/** Limits of the comparison */
const maxServices = 1000;
const maxCharacters = 128;
const maxSuggestions = 5;
/** Edits in relation to the length of the name */
const maxDistanceShare = 0.4;

const normalize = (name: string): string => name.slice(0, maxCharacters).toLowerCase();

/** 0 for the name without its namespace, then names that contain the text, then names with few different characters. */
const rank = (service: string, requested: string): number => {
  const name = normalize(service);
  if (name.endsWith(`/${requested}`) || requested.endsWith(`/${name}`)) return 0;
  if (name.includes(requested) || requested.includes(name)) return 1;
  const ownName = name.slice(name.lastIndexOf('/') + 1);
  const distance = Math.min(computeEditDistance(name, requested), computeEditDistance(ownName, requested));
  return distance <= maxDistanceShare * requested.length ? 1 + distance : Number.POSITIVE_INFINITY;
};

/** Returns at most five names of services with telemetry, the most similar first; empty if none is similar. */
export const findSimilarServices = async ({ columns }: TenantReader, requested: string): Promise<readonly string[]> => {
  const rows = await columns.query<{ service: string }>(
    `SELECT DISTINCT service FROM resources WHERE tenant_id = {tenant:String} AND service != '' LIMIT ${maxServices}`,
  );
  return rows
    .map(({ service }) => ({ service, rank: rank(service, normalize(requested)) }))
    .filter((candidate) => Number.isFinite(candidate.rank))
    .toSorted((left, right) => left.rank - right.rank || (left.service < right.service ? -1 : 1))
    .slice(0, maxSuggestions)
    .map(({ service }) => service);
};
