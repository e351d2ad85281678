/** API calls of the anomalies area */
import type { z } from 'zod';
import type { listAnomalies, showAnomaly } from '../../../api/groups/ai/anomalies.ts';
import type { detectAnomalies } from '../../../api/groups/ai/detect.ts';
import type { detectorResource } from '../../../api/groups/ai/detector.ts';
import type { markAnomaly } from '../../../api/groups/ai/feedback.ts';
import type { DetectorFields } from '../../../subjects/anomalies/detector.ts';
import {
  declareCall,
  declareCreateCall,
  declareListCall,
  declareReplaceCall,
  type ResourceView,
  type ResponseBody,
} from '../../client/call.ts';

export const anomaliesCall = declareCall<typeof listAnomalies>('GET', '/api/ai/anomalies');
export const anomalyCall = declareCall<typeof showAnomaly>('GET', '/api/ai/anomalies/{id}');
export const sendFeedbackCall = declareCall<typeof markAnomaly>('POST', '/api/ai/anomalies/{id}/feedback');
export const detectAnomaliesCall = declareCall<typeof detectAnomalies>('POST', '/api/ai/detect');
export const detectorsCall = declareListCall<typeof detectorResource>('/api/ai/detectors');
export const createDetectorCall = declareCreateCall<typeof detectorResource, typeof DetectorFields>(
  '/api/ai/detectors',
);
export const replaceDetectorCall = declareReplaceCall<typeof detectorResource, typeof DetectorFields>(
  '/api/ai/detectors/{id}',
);

export type Anomaly = ResponseBody<typeof listAnomalies>['items'][number];
export type AnomalyDetails = ResponseBody<typeof showAnomaly>;
export type Detector = ResourceView<typeof detectorResource>;
/** Writable fields of a detector */
export type DetectorInput = z.input<typeof DetectorFields>;
