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

/** Whether a document that is about to be written says what is stored. */
export const hasSameContent = (after: object, before: object & Stored): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(after)), fieldsOf(before));

/** Keeps a version that was just written, and lets go of the one that is now too old. Within the transaction of the write. */
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
  // What was made by something else than an operation (a first start) has no version yet.
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

/** Versions of a resource that are kept, newest first. */
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

/** One version of a resource; `undefined` when it never was or is no longer kept. */
export const versionOf = (
  documents: TenantDocuments,
  type: string,
  id: string,
  version: number,
): Promise<(ResourceVersion & Stored) | undefined> =>
  documents.collection(resourceHistory).find(versionId(type, id, version));

/** The versions go with their resource; the audit log keeps what it was. Within the transaction that removes it. */
export const forgetVersions = (documents: TenantDocuments, type: string, id: string): Promise<number> =>
  deleteMatching(documents.collection(resourceHistory), { 'resource.type': type, 'resource.id': id });
