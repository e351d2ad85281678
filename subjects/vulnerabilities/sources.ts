/** Stored sources: heads, and contents in parts. */

import { iterateDocuments } from '../../runtime/documents-in.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import type { StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import {
  type VulnerabilitySource,
  type VulnerabilitySourceKind,
  vulnerabilitySourceParts,
  vulnerabilitySources,
} from '../../schemas/resources/vulnerability-source.ts';

type Collections = Pick<TenantDocuments, 'collection'>;
export type StoredSource = VulnerabilitySource & StoredMetadata;

const maxPartBytes = 600_000;
/** Maximum number of sources of an organization: every list reads all of them. */
export const maxSources = 10_000;

export const computeSourceId = (kind: VulnerabilitySourceKind, scanner: string, target: string): string =>
  computeHashId('vulnerability-source', kind, scanner, target);

const toPartId = (sourceId: string, revision: number, part: number): string => `${sourceId}.${revision}.${part}`;

/** Returns the heads of all sources. */
export const listSources = async (
  documents: Collections,
  filter?: Record<string, unknown>,
): Promise<StoredSource[]> => {
  const sources: StoredSource[] = [];
  const options = filter === undefined ? {} : { filter };
  for await (const source of iterateDocuments(documents.collection(vulnerabilitySources), options))
    sources.push(source);
  return sources;
};

/** Returns the content of a source; undefined if it was replaced meanwhile. */
export const readSourceContent = async (
  documents: Collections,
  { id, revision, parts }: StoredSource,
): Promise<Uint8Array | undefined> => {
  const contents: Buffer[] = [];
  for (let part = 0; part < parts; part++) {
    const found = await documents.collection(vulnerabilitySourceParts).find(toPartId(id, revision, part));
    if (found === undefined) return undefined;
    contents.push(Buffer.from(found.content, 'base64'));
  }
  return Buffer.concat(contents);
};

/** Writes a new revision of a source in a transaction, and removes the parts of the former one. */
export const writeSource = async (
  documents: Collections,
  head: Omit<VulnerabilitySource, 'revision' | 'parts'>,
  content: Uint8Array,
  before: StoredSource | undefined,
): Promise<StoredSource> => {
  const id = computeSourceId(head.kind, head.scanner, head.target);
  const revision = (before?.revision ?? 0) + 1;
  const partCollection = documents.collection(vulnerabilitySourceParts);
  const parts = Math.max(1, Math.ceil(content.length / maxPartBytes));
  for (let part = 0; part < parts; part++)
    await partCollection.insert({
      id: toPartId(id, revision, part),
      sourceId: id,
      revision,
      part,
      content: Buffer.from(content.subarray(part * maxPartBytes, (part + 1) * maxPartBytes)).toString('base64'),
    });
  for (let part = 0; part < (before?.parts ?? 0); part++)
    await partCollection.delete(toPartId(id, before?.revision ?? 0, part));
  const fields = { ...head, revision, parts };
  const sources = documents.collection(vulnerabilitySources);
  return before === undefined ? sources.insert({ id, ...fields }) : sources.replace(id, fields, before.version);
};
