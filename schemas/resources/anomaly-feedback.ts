import { defineCollection } from '../ports/documents.ts';

export const anomalyVerdicts = ['true', 'false'] as const;

/** Feedback about one anomaly. */
export interface AnomalyMark {
  readonly anomalyId: string;
  readonly verdict: (typeof anomalyVerdicts)[number];
  readonly direction: 'up' | 'down' | 'other';
  /** Difference from the expected value. */
  readonly change: number;
  /** Start of the anomaly. */
  readonly atMs: number;
  readonly markedAt: string;
  readonly by: string;
}

/** Feedback about the anomalies of one series of a detector. The ID is `buildFeedbackId`. */
export interface AnomalyFeedback {
  readonly detectorId: string;
  readonly series: string;
  readonly marks: readonly AnomalyMark[];
}

export const anomalyFeedback = defineCollection<AnomalyFeedback>({
  name: 'anomaly-feedback',
  indexes: [['detectorId']],
});

export const buildFeedbackId = (detectorId: string, series: string): string => `${detectorId}.${series}`;

/** Maximum number of marks of a series. The oldest are removed. */
export const maxMarks = 200;
