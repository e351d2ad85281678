import { defineCollection } from '../ports/documents.ts';

export const anomalyVerdicts = ['true', 'false'] as const;

/** What somebody said of an anomaly. */
export interface AnomalyMark {
  readonly anomalyId: string;
  readonly verdict: (typeof anomalyVerdicts)[number];
  readonly direction: 'up' | 'down' | 'other';
  /** How far it was from what was expected. */
  readonly change: number;
  /** When it began. */
  readonly atMs: number;
  readonly markedAt: string;
  readonly by: string;
}

/** What was said of the anomalies of one series of a detector. The id is `feedbackId`. */
export interface AnomalyFeedback {
  readonly detectorId: string;
  readonly series: string;
  readonly marks: readonly AnomalyMark[];
}

export const anomalyFeedback = defineCollection<AnomalyFeedback>({
  name: 'anomaly-feedback',
  indexes: [['detectorId']],
});

export const feedbackId = (detectorId: string, series: string): string => `${detectorId}.${series}`;

/** Of a series: the oldest make room. */
export const maxMarks = 200;
