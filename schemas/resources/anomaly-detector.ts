import { defineCollection } from '../ports/documents.ts';

/**
 * A detector of anomalies as it is stored. What may stand in it is declared where it is understood (`subjects/anomalies/detector.ts`), in the
 * version of queries that is stored beside it.
 */
export interface StoredDetector {
  readonly name: string;
  readonly enabled: boolean;
  readonly projectId: string | null;
  readonly query: object;
  readonly queryVersion: number;
  readonly step: string;
}

export const anomalyDetectors = defineCollection<StoredDetector>({
  name: 'anomaly-detectors',
  unique: [['name']],
  indexes: [['projectId']],
});

/** Of an organization. */
export const maxDetectors = 200;
