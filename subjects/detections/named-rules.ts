/** Rules that correlations and filters reference */
import { documentsIn } from '../../runtime/documents-in.ts';
import type { TenantDocuments } from '../../schemas/ports/documents.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import { namesOf, parseDocuments } from './deployed.ts';
import type { SigmaDocument } from './documents.ts';

const namedBy = (document: SigmaDocument): readonly string[] =>
  document.kind === 'rule' || document.rules === 'any' ? [] : document.rules;

/** Returns, for each document, the referenced rules that are neither enabled nor in the same set of documents. */
export const missingRules = async (
  documents: readonly SigmaDocument[],
  others: readonly SigmaDocument[],
  own: Pick<TenantDocuments, 'collection' | 'tenantId'>,
): Promise<(document: SigmaDocument) => string[]> => {
  const requiredNames = new Set(documents.flatMap(namedBy));
  if (requiredNames.size === 0) return () => [];
  const known = new Set(others.flatMap((document) => namesOf(document.id, document)));
  const enabled: { readonly id: string; readonly source: string }[] = [];
  for await (const { id, source } of documentsIn(own.collection(detectionRules), { filter: { enabled: true } }))
    enabled.push({ id, source });
  const read = await parseDocuments(
    own,
    enabled.map(({ source }) => source),
  );
  for (const [index, { id }] of enabled.entries()) {
    const document = read[index];
    for (const name of typeof document === 'object' ? namesOf(id, document) : [id]) known.add(name);
  }
  return (document) => namedBy(document).filter((name) => !known.has(name));
};
