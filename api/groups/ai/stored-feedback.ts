import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import { type AnomalyFeedback, anomalyFeedback } from '../../../schemas/resources/anomaly-feedback.ts';

/** The newest are read. */
const mostRead = 10_000;

/** What was said of the anomalies of a detector, or of all. */
export const feedbackOf = async (
  documents: Pick<TenantDocuments, 'collection'>,
  detectorId?: string,
): Promise<readonly AnomalyFeedback[]> => {
  const stored = documents.collection(anomalyFeedback);
  const found: AnomalyFeedback[] = [];
  let after: string | undefined;
  do {
    const page = await stored.list({
      ...(detectorId !== undefined && { filter: { detectorId } }),
      ...{ limit: 1000, ...(after !== undefined && { after }) },
    });
    found.push(...page.items);
    after = page.nextCursor ?? undefined;
  } while (after !== undefined && found.length < mostRead);
  return found;
};
