/** Finds attributes that no stored document references. */
import { iterateDocuments } from '../../runtime/documents-in.ts';
import type { CollectionDefinition, TenantDocuments } from '../../schemas/ports/documents.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { anomalyDetectors } from '../../schemas/resources/anomaly-detector.ts';
import { dashboards } from '../../schemas/resources/dashboard.ts';
import { detectionFields, detectionRules } from '../../schemas/resources/detection-rule.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { savedQueries } from '../../schemas/resources/saved-query.ts';
import { slos } from '../../schemas/resources/slo.ts';

/** Collections whose documents may reference an attribute, each with a plural name for messages. */
const searchedCollections: readonly (readonly [what: string, collection: CollectionDefinition<object>])[] = [
  ['saved queries', savedQueries],
  ['dashboards', dashboards],
  ['alert rules', alertRules],
  ['recording rules', recordingGroups],
  ['objectives', slos],
  ['detectors', anomalyDetectors],
  ['detection rules', detectionRules],
  ['their fields', detectionFields],
];

/** Returns the PromQL label name of a key. */
const toPromqlLabel = (key: string): string => key.replace(/[^A-Za-z0-9_]/g, '_');

/**
 * Returns the keys that no document contains, and a text with the number of scanned documents. A key that occurs in
 * a document by coincidence is omitted from the result.
 */
export const findUnreferencedAttributes = async (
  documents: Pick<TenantDocuments, 'collection'>,
  keys: readonly string[],
): Promise<{ readonly keys: readonly string[]; readonly scannedText: string }> => {
  const unreferencedKeys = new Set(keys);
  const counts: string[] = [];
  for (const [collectionName, collection] of searchedCollections) {
    let count = 0;
    for await (const document of iterateDocuments(documents.collection(collection))) {
      count++;
      const text = JSON.stringify(document);
      for (const key of unreferencedKeys)
        if (text.includes(key) || text.includes(toPromqlLabel(key))) unreferencedKeys.delete(key);
    }
    counts.push(`${count} ${collectionName}`);
  }
  return { keys: keys.filter((key) => unreferencedKeys.has(key)), scannedText: counts.join(', ') };
};
