/** Stores source maps within the limits of an organization. */
import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type SourceMap, sourceMapParts, sourceMaps } from '../../../schemas/resources/source-map.ts';
import type { PreparedMap } from './read-upload.ts';

/** Characters of a part, below the limit of a document */
const partLength = 1_000_000;

export interface MapOwner {
  readonly application: string;
  readonly release: string;
  /** Bundle id of the request; that of the bundle counts if it has one */
  readonly bundleId: string;
  readonly uploadedBy: string;
}

export type StoreOutcome = 'created' | 'replaced' | 'unchanged';

/** Deletes a map with its parts. */
export const deleteMap = async (
  documents: TenantDocuments,
  { id, parts }: SourceMap & StoredMetadata,
): Promise<void> => {
  for (let part = 0; part < parts; part++) await documents.collection(sourceMapParts).delete(`${id}-${part}`);
  await documents.collection(sourceMaps).delete(id);
};

/** Stores a map in place of that of the same file. Must run in a transaction. */
export const storeMap = async (
  documents: TenantDocuments,
  { application, release, bundleId: requestedBundleId, uploadedBy }: MapOwner,
  { content, name: _, ...map }: PreparedMap,
): Promise<StoreOutcome> => {
  const bundleId = map.bundleId || requestedBundleId;
  const { items } = await documents
    .collection(sourceMaps)
    .list({ filter: { application, release, bundleId, file: map.file }, limit: 1 });
  const [previous] = items;
  if (previous?.contentHash === map.contentHash && previous.debugId === map.debugId) return 'unchanged';
  if (previous !== undefined) await deleteMap(documents, previous);
  const parts = Math.max(1, Math.ceil(content.length / partLength));
  const { id } = await documents.collection(sourceMaps).insert({
    application,
    release,
    file: map.file,
    baseName: map.file.slice(map.file.lastIndexOf('/') + 1),
    debugId: map.debugId,
    bundleId,
    contentHash: map.contentHash,
    sources: map.sources,
    bytes: map.bytes,
    storedBytes: content.length,
    parts,
    uploadedBy,
  });
  for (let part = 0; part < parts; part++)
    await documents.collection(sourceMapParts).insert({
      id: `${id}-${part}`,
      mapId: id,
      part,
      content: content.slice(part * partLength, (part + 1) * partLength),
    });
  return previous === undefined ? 'created' : 'replaced';
};

export interface StoreLimits {
  readonly maxMaps: number;
  readonly maxBytes: number;
}

/** Returns the oldest maps that exceed the limits of an organization. */
export const listExcessMaps = async (
  documents: TenantDocuments,
  { maxMaps, maxBytes }: StoreLimits,
): Promise<(SourceMap & StoredMetadata)[]> => {
  const excess: (SourceMap & StoredMetadata)[] = [];
  let [maps, bytes] = [0, 0];
  for await (const map of iterateDocuments(documents.collection(sourceMaps), { sort: { createdAt: -1 } })) {
    maps++;
    bytes += map.storedBytes;
    if (maps > maxMaps || bytes > maxBytes) excess.push(map);
  }
  return excess;
};
