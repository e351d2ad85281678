/** Which attributes are named by nothing that is kept here. */
import { documentsIn } from '../../runtime/documents-in.ts';
import type { CollectionDefinition, TenantDocuments } from '../../schemas/ports/documents.ts';
import { alertRules } from '../../schemas/resources/alert-rule.ts';
import { anomalyDetectors } from '../../schemas/resources/anomaly-detector.ts';
import { dashboards } from '../../schemas/resources/dashboard.ts';
import { detectionFields, detectionRules } from '../../schemas/resources/detection-rule.ts';
import { recordingGroups } from '../../schemas/resources/recording-group.ts';
import { savedQueries } from '../../schemas/resources/saved-query.ts';
import { slos } from '../../schemas/resources/slo.ts';

/** Everything that may name an attribute, in the plural, for people. */
const holders: readonly (readonly [what: string, collection: CollectionDefinition<object>])[] = [
  ['saved queries', savedQueries],
  ['dashboards', dashboards],
  ['alert rules', alertRules],
  ['recording rules', recordingGroups],
  ['objectives', slos],
  ['detectors', anomalyDetectors],
  ['detection rules', detectionRules],
  ['their fields', detectionFields],
];

/** As PromQL names a label. */
const labelOf = (key: string): string => key.replace(/[^A-Za-z0-9_]/g, '_');

/**
 * Those of some keys that no document has anywhere in its text: a text that names one by chance can only make one too few. With how many
 * documents were looked at.
 */
export const unnamedAttributes = async (
  documents: Pick<TenantDocuments, 'collection'>,
  keys: readonly string[],
): Promise<{ readonly keys: readonly string[]; readonly searchedIn: string }> => {
  const left = new Set(keys);
  const counts: string[] = [];
  for (const [what, collection] of holders) {
    let count = 0;
    for await (const document of documentsIn(documents.collection(collection))) {
      count++;
      const text = JSON.stringify(document);
      for (const key of left) if (text.includes(key) || text.includes(labelOf(key))) left.delete(key);
    }
    counts.push(`${count} ${what}`);
  }
  return { keys: keys.filter((key) => left.has(key)), searchedIn: counts.join(', ') };
};
