/** Stores the vectors of an organization, so that they need not be computed again after a restart or in another process. */
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { passageVectors } from '../../../schemas/resources/runbook.ts';
import type { Vector } from '../../../subjects/runbooks/vectors.ts';

/** Vectors younger than this are not deleted: they may belong to passages that this process has not read yet. */
const minDeletionAgeMs = 300_000;
/** Documents per page; each has tens of kilobytes. */
const pageSize = 50;

/** Stores the vectors of one response as a document. Another process may have stored the same vectors already. */
export const storeVectors = async (
  documents: TenantDocuments,
  model: string,
  vectors: readonly (readonly [key: string, vector: Vector])[],
): Promise<void> => {
  const encodedVectors = vectors.map(([key, vector]) => [key, Buffer.from(vector).toString('base64')] as const);
  await documents.collection(passageVectors).insert({ model, vectors: encodedVectors });
};

/** Returns the vectors of passages, and deletes those that belong to no passage or to another model. */
export const readVectors = async (
  documents: TenantDocuments,
  { model, keys, nowMs }: { readonly model: string; readonly keys: ReadonlySet<string>; readonly nowMs: number },
  onVector: (key: string, vector: Vector) => void,
): Promise<void> => {
  const vectorCollection = documents.collection(passageVectors);
  const staleIds: string[] = [];
  for await (const { id, createdAt, model: vectorModel, vectors } of iterateDocuments(vectorCollection, {
    limit: pageSize,
  })) {
    const usedVectors = vectorModel === model ? vectors.filter(([key]) => keys.has(key)) : [];
    for (const [key, vector] of usedVectors) onVector(key, Int8Array.from(Buffer.from(vector, 'base64')));
    if (usedVectors.length === 0 && nowMs - Date.parse(createdAt) > minDeletionAgeMs) staleIds.push(id);
  }
  for (const id of staleIds) await vectorCollection.delete(id);
};
