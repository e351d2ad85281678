import { documentsIn } from '../../../runtime/documents-in.ts';
import type { Filter, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type AnomalyFeedback, anomalyFeedback } from '../../../schemas/resources/anomaly-feedback.ts';

/** Maximum number of entries per read */
const maxRead = 10_000;

/** Returns the feedback on the anomalies that match a filter. */
export const feedbackOf = async (
  documents: Pick<TenantDocuments, 'collection'>,
  filter: Filter,
): Promise<readonly AnomalyFeedback[]> => {
  const found: AnomalyFeedback[] = [];
  for await (const each of documentsIn(documents.collection(anomalyFeedback), { filter })) {
    found.push(each);
    if (found.length >= maxRead) break;
  }
  return found;
};
