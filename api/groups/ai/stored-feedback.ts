import { iterateDocuments } from '../../../runtime/documents-in.ts';
import type { Filter, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type AnomalyFeedback, anomalyFeedback } from '../../../schemas/resources/anomaly-feedback.ts';

/** Maximum number of entries per read */
const maxEntries = 10_000;

/** Returns the feedback on the anomalies that match a filter. */
export const readFeedback = async (
  documents: Pick<TenantDocuments, 'collection'>,
  filter: Filter,
): Promise<readonly AnomalyFeedback[]> => {
  const entries: AnomalyFeedback[] = [];
  for await (const each of iterateDocuments(documents.collection(anomalyFeedback), { filter })) {
    entries.push(each);
    if (entries.length >= maxEntries) break;
  }
  return entries;
};
