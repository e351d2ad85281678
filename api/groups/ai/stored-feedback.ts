import { documentsIn } from '../../../runtime/documents-in.ts';
import type { Filter, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type AnomalyFeedback, anomalyFeedback } from '../../../schemas/resources/anomaly-feedback.ts';

/** More is not read at once. */
const maxRead = 10_000;

/** What was said of the anomalies that a filter chooses. */
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
