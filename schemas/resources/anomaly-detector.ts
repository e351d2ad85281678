import { defineCollection } from '../ports/documents.ts';

/**
 * A stored anomaly detector. `subjects/anomalies/detector.ts` declares its schema, in the query version that is stored
 * with the detector.
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

/** Maximum number of detectors of an organization. */
export const maxDetectors = 200;
