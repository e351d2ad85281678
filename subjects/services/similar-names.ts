/** Names of services similar to one that does not exist. */
import type { TenantReader } from '../../queries/tenant-reader.ts';

/** Limits of the comparison */
const maxServices = 1000;
const maxCharacters = 128;
const maxSuggestions = 5;

const normalize = (name: string): string => name.slice(0, maxCharacters).toLowerCase();

/** 0 for the name without its namespace, 1 for names that contain the text, and the other way round */
const rank = (service: string, requested: string): number => {
  const name = normalize(service);
  if (name.endsWith(`/${requested}`) || requested.endsWith(`/${name}`)) return 0;
  return name.includes(requested) || requested.includes(name) ? 1 : Number.POSITIVE_INFINITY;
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
