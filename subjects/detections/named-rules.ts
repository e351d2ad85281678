/** Rules that correlations and filters reference */
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import { getDocumentNames, parseDocuments } from './deployment.ts';
import type { SigmaDocument } from './documents.ts';

const listReferencedRules = (document: SigmaDocument): readonly string[] =>
  document.kind === 'rule' || document.rules === 'any' ? [] : document.rules;

/** Returns, for each document, the referenced rules that are neither enabled nor in the same set of documents. */
export const findMissingRules = async (
  documents: readonly SigmaDocument[],
  otherDocuments: readonly SigmaDocument[],
  tenantDocuments: Pick<TenantDocuments, 'collection' | 'tenantId'>,
): Promise<(document: SigmaDocument) => string[]> => {
  const requiredNames = new Set(documents.flatMap(listReferencedRules));
  if (requiredNames.size === 0) return () => [];
  const availableNames = new Set(otherDocuments.flatMap((document) => getDocumentNames(document.id, document)));
  const enabledRules: { readonly id: string; readonly source: string }[] = [];
  for await (const { id, source } of iterateDocuments(tenantDocuments.collection(detectionRules), {
    filter: { enabled: true },
  }))
    enabledRules.push({ id, source });
  const parsedDocuments = await parseDocuments(
    tenantDocuments,
    enabledRules.map(({ source }) => source),
  );
  for (const [index, { id }] of enabledRules.entries()) {
    const document = parsedDocuments[index];
    for (const name of typeof document === 'object' ? getDocumentNames(id, document) : [id]) availableNames.add(name);
  }
  return (document) => listReferencedRules(document).filter((name) => !availableNames.has(name));
};
