/** API calls of the anomalies area */
import type { z } from 'zod';
import type { listAnomalies, showAnomaly } from '../../../api/groups/ai/anomalies.ts';
import type { detectAnomalies } from '../../../api/groups/ai/detect.ts';
import type { detectorResource } from '../../../api/groups/ai/detector.ts';
import type { markAnomaly } from '../../../api/groups/ai/feedback.ts';
import type { DetectorFields } from '../../../subjects/anomalies/detector.ts';
import { type Answered, callOf, creationOf, listOf, replacementOf, type ViewOf } from '../../client/call.ts';

export const anomaliesCall = callOf<typeof listAnomalies>('GET', '/api/ai/anomalies');
export const anomalyCall = callOf<typeof showAnomaly>('GET', '/api/ai/anomalies/{id}');
export const feedbackCall = callOf<typeof markAnomaly>('POST', '/api/ai/anomalies/{id}/feedback');
export const detectCall = callOf<typeof detectAnomalies>('POST', '/api/ai/detect');
export const detectorsCall = listOf<typeof detectorResource>('/api/ai/detectors');
export const createDetectorCall = creationOf<typeof detectorResource, typeof DetectorFields>('/api/ai/detectors');
export const replaceDetectorCall = replacementOf<typeof detectorResource, typeof DetectorFields>(
  '/api/ai/detectors/{id}',
);

export type Anomaly = Answered<typeof listAnomalies>['items'][number];
export type AnomalyDetails = Answered<typeof showAnomaly>;
export type Detector = ViewOf<typeof detectorResource>;
/** Writable fields of a detector */
export type DetectorInput = z.input<typeof DetectorFields>;
