import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { licenseKeys } from '../../../schemas/resources/license-key.ts';
import { projects } from '../../../schemas/resources/project.ts';

const named = { project: projects, key: licenseKeys } as const;

/** Names of groups: of projects and keys that are still there, by id; of all else, what they are called by. */
export const nameGroups = async (
  documents: TenantDocuments,
  by: 'none' | 'signal' | 'project' | 'key' | 'service',
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (by !== 'project' && by !== 'key') return new Map(ids.map((id) => [id, id]));
  const { items } = await documents
    .collection<{ name: string }>(named[by])
    .list({ filter: { id: { $in: ids } }, limit: ids.length + 1 });
  return new Map(items.map(({ id, name }) => [id, name]));
};
