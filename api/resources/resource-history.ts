import { isDeepStrictEqual } from 'node:util';
import { deleteMatching } from '../../runtime/delete-matching.ts';
import { fieldsOf } from '../../runtime/stored-fields.ts';
import type { Stored, TenantDocuments } from '../../schemas/ports/documents.ts';
import {
  maxVersions,
  type ResourceVersion,
  resourceHistory,
  versionId,
} from '../../schemas/resources/resource-history.ts';

type Actor = ResourceVersion['actor'];

/** Whether a document that is about to be written equals the stored one. */
export const hasSameContent = (after: object, before: object & Stored): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(after)), fieldsOf(before));

/**
 * Stores a version that was just written, and deletes the oldest one beyond the limit. Call it within the transaction
 * of the write.
 */
export const storeVersion = async (
  documents: TenantDocuments,
  type: string,
  {
    before,
    after,
    actor,
  }: { readonly before?: (object & Stored) | undefined; readonly after: object & Stored; readonly actor: Actor },
): Promise<void> => {
  const history = documents.collection(resourceHistory);
  const { id, version } = after;
  // A document created outside operations (in a first start) has no version yet.
  if (before !== undefined && (await history.find(versionId(type, id, before.version))) === undefined)
    await history.insert(entryOf(type, before, null));
  await history.insert(entryOf(type, after, actor));
  if (version > maxVersions) await history.delete(versionId(type, id, version - maxVersions));
};

const entryOf = (type: string, document: object & Stored, actor: Actor): ResourceVersion & { readonly id: string } => ({
  id: versionId(type, document.id, document.version),
  resource: { type, id: document.id, version: document.version },
  at: document.updatedAt,
  actor,
  fields: fieldsOf(document),
});

/** Returns the stored versions of a resource, newest first. */
export const versionsOf = async (
  documents: TenantDocuments,
  type: string,
  id: string,
): Promise<readonly (ResourceVersion & Stored)[]> => {
  const filter = { 'resource.type': type, 'resource.id': id };
  const page = await documents
    .collection(resourceHistory)
    .list({ filter, sort: { 'resource.version': -1 }, limit: maxVersions });
  return page.items;
};

/** Returns one version of a resource; `undefined` if it never existed or is no longer stored. */
export const versionOf = (
  documents: TenantDocuments,
  type: string,
  id: string,
  version: number,
): Promise<(ResourceVersion & Stored) | undefined> =>
  documents.collection(resourceHistory).find(versionId(type, id, version));

/**
 * Deletes the versions of a deleted resource; the audit log retains its content. Call it within the transaction of the
 * deletion.
 */
export const forgetVersions = (documents: TenantDocuments, type: string, id: string): Promise<number> =>
  deleteMatching(documents.collection(resourceHistory), { 'resource.type': type, 'resource.id': id });
