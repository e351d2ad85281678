import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { CollectionDefinition, StoredMetadata, TenantDocuments } from '../../schemas/ports/documents.ts';
import type { SecurityTriage } from '../../schemas/resources/security-triage.ts';

export type StoredTriage = SecurityTriage & StoredMetadata;

/** Returns the decisions of an organization, by finding. */
export const readTriages = async (
  documents: Pick<TenantDocuments, 'collection'>,
  collection: CollectionDefinition<SecurityTriage>,
): Promise<ReadonlyMap<string, StoredTriage>> => {
  const triages = new Map<string, StoredTriage>();
  for await (const triage of iterateDocuments(documents.collection(collection), {})) triages.set(triage.id, triage);
  return triages;
};
