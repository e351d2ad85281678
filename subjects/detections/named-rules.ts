/** Rules that correlations and filters reference */
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import { documentNames, parseDocuments } from './deployed.ts';
import type { SigmaDocument } from './documents.ts';

const referencedRules = (document: SigmaDocument): readonly string[] =>
  document.kind === 'rule' || document.rules === 'any' ? [] : document.rules;

/** Returns, for each document, the referenced rules that are neither enabled nor in the same set of documents. */
export const findMissingRules = async (
  documents: readonly SigmaDocument[],
  others: readonly SigmaDocument[],
  own: Pick<TenantDocuments, 'collection' | 'tenantId'>,
): Promise<(document: SigmaDocument) => string[]> => {
  const requiredNames = new Set(documents.flatMap(referencedRules));
  if (requiredNames.size === 0) return () => [];
  const availableNames = new Set(others.flatMap((document) => documentNames(document.id, document)));
  const enabled: { readonly id: string; readonly source: string }[] = [];
  for await (const { id, source } of iterateDocuments(own.collection(detectionRules), { filter: { enabled: true } }))
    enabled.push({ id, source });
  const parsedDocuments = await parseDocuments(
    own,
    enabled.map(({ source }) => source),
  );
  for (const [index, { id }] of enabled.entries()) {
    const document = parsedDocuments[index];
    for (const name of typeof document === 'object' ? documentNames(id, document) : [id]) availableNames.add(name);
  }
  return (document) => referencedRules(document).filter((name) => !availableNames.has(name));
};
