/** Refuses reads of a project that there is not: an answer without anything would look like one without telemetry. */
import { editDistance } from '../../schemas/edit-distance.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { licenseKeys } from '../../schemas/resources/license-key.ts';
import { projects } from '../../schemas/resources/project.ts';
import type { Caller } from '../callers/caller.ts';
import { ApiError } from '../errors.ts';
import type { Ports } from './ports.ts';

/** Those that are compared with what was asked for, by so many characters. */
const maxCompared = 200;
const maxCharacters = 64;
const maxNamed = 5;

const comparable = (text: string): string => text.slice(0, maxCharacters).toLowerCase();

/** One of these is what was asked for: the id, or what people call it. */
const distanceTo = (projectId: string, { id, name }: { readonly id: string; readonly name: string }): number =>
  Math.min(...[id, name].map((each) => editDistance(comparable(projectId), comparable(each))));

const refuseUnknown = async (documents: TenantDocuments, projectId: string): Promise<void> => {
  const known = documents.collection(projects);
  if ((await known.find(projectId)) !== undefined) return;
  const keys = await documents.collection(licenseKeys).list({ filter: { projectId: projectId }, limit: 1 });
  if (keys.items.length > 0) return;
  const { items, nextCursor } = await known.list({ limit: maxCompared });
  const named = items
    .map((project) => ({ id: project.id, distance: distanceTo(projectId, project) }))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, maxNamed)
    .map(({ id }) => id);
  const more = nextCursor !== null || items.length > named.length ? ' …' : '';
  const message = `there is no project ${projectId} in this organization; ${named.length === 0 ? 'it has none' : `there are ${named.join(', ')}${more}`}`;
  throw new ApiError('NOT_FOUND', message, { details: [{ path: 'projectId', message }] });
};

interface QuestionPart {
  readonly projectId?: unknown;
  readonly scope?: unknown;
  readonly queries?: unknown;
}

/** The projects of a question: of its query, of a body that asks, and of the queries in it. Empty stands for none. */
const requestedProjects = (...parts: readonly unknown[]): ReadonlySet<string> => {
  const projectIds = new Set<string>();
  for (const part of parts) {
    const { projectId, scope, queries } = (part ?? {}) as QuestionPart;
    const [first] = [projectId].flat();
    if (typeof first === 'string' && first !== '' && scope !== 'account') projectIds.add(first);
    if (typeof queries === 'object')
      for (const id of requestedProjects(...Object.values(queries ?? {}))) projectIds.add(id);
  }
  return projectIds;
};

/**
 * `NOT_FOUND` for a project that there is not, with those most like it. What a deleted project has sent, by its keys, can be read as long as
 * it is kept.
 */
export const refuseUnknownProjects = async (
  { caller, query, body }: { readonly caller: Caller; readonly query: unknown; readonly body: unknown },
  { documents }: Pick<Ports, 'documents'>,
): Promise<void> => {
  for (const project of requestedProjects(query, body)) await refuseUnknown(documents.of(caller.tenantId), project);
};
