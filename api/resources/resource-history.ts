import { isDeepStrictEqual } from 'node:util';
import { deleteMatching } from '../../runtime/delete-matching.ts';
import { getFields } from '../../runtime/stored-fields.ts';
import type { StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import {
  buildVersionId,
  maxVersions,
  type ResourceVersion,
  resourceHistory,
} from '../../schemas/resources/resource-history.ts';

type Actor = ResourceVersion['actor'];

/** Whether a document that is about to be written equals the stored one. */
export const hasSameContent = (after: object, before: object & StoredMetadata): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(after)), getFields(before));

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
  }: {
    readonly before?: (object & StoredMetadata) | undefined;
    readonly after: object & StoredMetadata;
    readonly actor: Actor;
  },
): Promise<void> => {
  const history = documents.collection(resourceHistory);
  const { id, version } = after;
  // A document created outside operations (in a first start) has no version yet.
  if (before !== undefined && (await history.find(buildVersionId(type, id, before.version))) === undefined)
    await history.insert(toVersionEntry(type, before, null));
  await history.insert(toVersionEntry(type, after, actor));
  if (version > maxVersions) await history.delete(buildVersionId(type, id, version - maxVersions));
};

const toVersionEntry = (
  type: string,
  document: object & StoredMetadata,
  actor: Actor,
): ResourceVersion & { readonly id: string } => ({
  id: buildVersionId(type, document.id, document.version),
  resource: { type, id: document.id, version: document.version },
  at: document.updatedAt,
  actor,
  fields: getFields(document),
});

/** Returns the stored versions of a resource, newest first. */
export const readVersions = async (
  documents: TenantDocuments,
  type: string,
  id: string,
): Promise<readonly (ResourceVersion & StoredMetadata)[]> => {
  const filter = { 'resource.type': type, 'resource.id': id };
  const page = await documents
    .collection(resourceHistory)
    .list({ filter, sort: { 'resource.version': -1 }, limit: maxVersions });
  return page.items;
};

/** Returns one version of a resource; `undefined` if it never existed or is no longer stored. */
export const readVersion = (
  documents: TenantDocuments,
  type: string,
  id: string,
  version: number,
): Promise<(ResourceVersion & StoredMetadata) | undefined> =>
  documents.collection(resourceHistory).find(buildVersionId(type, id, version));

/**
 * Deletes the versions of a deleted resource; the audit log retains its content. Call it within the transaction of the
 * deletion.
 */
export const deleteVersions = (documents: TenantDocuments, type: string, id: string): Promise<number> =>
  deleteMatching(documents.collection(resourceHistory), { 'resource.type': type, 'resource.id': id });
