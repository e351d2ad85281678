/** Rejects reads of an unknown project: an empty response would suggest a project without telemetry. */
import { computeEditDistance } from '../../schemas/edit-distance.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { licenseKeys } from '../../schemas/resources/license-key.ts';
import { projects } from '../../schemas/resources/project.ts';
import type { Caller } from '../callers/caller.ts';
import { ApiError } from '../errors.ts';
import type { Ports } from './ports.ts';

/** Limits of the comparison with the requested project, in projects and characters. */
const maxComparedProjects = 200;
const maxCharacters = 64;
const maxSuggestions = 5;

const normalizeForComparison = (text: string): string => text.slice(0, maxCharacters).toLowerCase();

/** Distance to a project: the request may contain its id, or its display name. */
const computeDistance = (projectId: string, { id, name }: { readonly id: string; readonly name: string }): number =>
  Math.min(
    ...[id, name].map((text) => computeEditDistance(normalizeForComparison(projectId), normalizeForComparison(text))),
  );

const requireProject = async (documents: TenantDocuments, projectId: string): Promise<void> => {
  const tenantProjects = documents.collection(projects);
  if ((await tenantProjects.find(projectId)) !== undefined) return;
  const keys = await documents.collection(licenseKeys).list({ filter: { projectId }, limit: 1 });
  if (keys.items.length > 0) return;
  const { items, nextCursor } = await tenantProjects.list({ limit: maxComparedProjects });
  const suggestions = items
    .map((project) => ({ id: project.id, distance: computeDistance(projectId, project) }))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, maxSuggestions)
    .map(({ id }) => id);
  const ellipsis = nextCursor !== null || items.length > suggestions.length ? ' …' : '';
  const message = `project ${projectId} does not exist in this organization; ${suggestions.length === 0 ? 'it has none' : `there are ${suggestions.join(', ')}${ellipsis}`}`;
  throw new ApiError('NOT_FOUND', message, { details: [{ path: 'projectId', message }] });
};

interface QueryPart {
  readonly projectId?: unknown;
  readonly scope?: unknown;
  readonly queries?: unknown;
}

/** Returns the projects in the query parameters, in a body, and in the queries of the body. */
const collectProjectIds = (...parts: readonly unknown[]): ReadonlySet<string> => {
  const projectIds = new Set<string>();
  for (const part of parts) {
    const { projectId, scope, queries } = (part ?? {}) as QueryPart;
    const [firstProjectId] = [projectId].flat();
    if (typeof firstProjectId === 'string' && firstProjectId !== '' && scope !== 'account')
      projectIds.add(firstProjectId);
    if (typeof queries === 'object')
      for (const id of collectProjectIds(...Object.values(queries ?? {}))) projectIds.add(id);
  }
  return projectIds;
};

/**
 * Throws `NOT_FOUND` for an unknown project, with the most similar ones. Data that the keys of a deleted project sent
 * stays readable within its retention.
 */
export const requireKnownProjects = async (
  { caller, query, body }: { readonly caller: Caller; readonly query: unknown; readonly body: unknown },
  { documents }: Pick<Ports, 'documents'>,
): Promise<void> => {
  for (const project of collectProjectIds(query, body))
    await requireProject(documents.forTenant(caller.tenantId), project);
};
