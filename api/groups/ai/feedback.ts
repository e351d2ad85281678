import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  type AnomalyFeedback,
  type AnomalyMark,
  anomalyFeedback,
  anomalyVerdicts,
  buildFeedbackId,
  maxMarks,
} from '../../../schemas/resources/anomaly-feedback.ts';
import { computeAdjustments } from '../../../subjects/anomalies/feedback.ts';
import { findAnomaly, type StoredAnomaly } from '../../../subjects/anomalies/read-anomalies.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { anomalyParams } from './anomalies.ts';

const FeedbackResult = z.strictObject({
  anomalyId: z.string(),
  verdict: z.enum(anomalyVerdicts).nullable(),
  minChange: z.number().describe('A smaller change of this series in the same direction is no longer an anomaly'),
  factor: z.number().describe('Factor for the allowed rate of false alarms'),
});

const createMark = (anomaly: StoredAnomaly, verdict: AnomalyMark['verdict'], by: string, at: number): AnomalyMark => ({
  anomalyId: anomaly.id,
  verdict,
  direction: anomaly.direction,
  change: anomaly.value - (anomaly.before ?? anomaly.value),
  atMs: anomaly.beginMs,
  markedAt: new Date(at).toISOString(),
  by,
});

const toFeedbackResult = ({ id, direction }: StoredAnomaly, feedback: Pick<AnomalyFeedback, 'marks'>) => {
  const { minChange: minChanges, factor } = computeAdjustments(feedback);
  const verdict = feedback.marks.find((mark) => mark.anomalyId === id)?.verdict ?? null;
  return { anomalyId: id, verdict, minChange: minChanges[direction], factor: factor[direction] };
};

export const markAnomaly = defineOperation({
  method: 'POST',
  path: '/api/ai/anomalies/{id}/feedback',
  operationId: 'markAnomaly',
  summary: 'Give feedback on an anomaly: false raises the threshold for similar changes of its series, true lowers it',
  role: 'editor',
  audit: 'anomaly.mark',
  params: anomalyParams,
  body: z.strictObject({
    verdict: z.enum(anomalyVerdicts).nullable().describe('null: withdraw the feedback and its effect'),
  }),
  response: FeedbackResult,
  async handler({ caller, params, body, change }, ports) {
    const anomaly = await findAnomaly(createQueryReader(caller, ports), params.id);
    if (anomaly === undefined) throw createNotFoundError('anomaly');
    const { detectorId, key } = anomaly;
    const id = buildFeedbackId(detectorId, key);
    return change(async (scope) => {
      const feedbackCollection = scope.forTenant(caller.tenantId).collection(anomalyFeedback);
      const before = await feedbackCollection.find(id);
      const existingMarks = before?.marks ?? [];
      const otherMarks = existingMarks.filter((mark) => mark.anomalyId !== anomaly.id);
      const { verdict } = body;
      const marks =
        verdict === null
          ? otherMarks
          : [...otherMarks, createMark(anomaly, verdict, caller.actor.id, ports.clock.now())].slice(-maxMarks);
      const [resultBefore, resultAfter] = [
        toFeedbackResult(anomaly, { marks: existingMarks }),
        toFeedbackResult(anomaly, { marks }),
      ];
      if (isDeepStrictEqual(resultBefore, resultAfter)) {
        scope.markUnchanged();
        return resultAfter;
      }
      const fields = { detectorId, series: key, marks };
      if (before === undefined) await feedbackCollection.insert({ id, ...fields });
      else await feedbackCollection.replace(id, fields, before.version);
      scope.record({ id: anomaly.id, name: anomaly.detectorName, before: resultBefore, after: resultAfter });
      return resultAfter;
    });
  },
});
