import { z } from 'zod';
import { anomalySigns } from '../../../schemas/anomalies.ts';
import { type AnomalyFeedback, anomalyVerdicts } from '../../../schemas/resources/anomaly-feedback.ts';
import type { StoredAnomaly } from '../../../subjects/anomalies/read-anomalies.ts';
import { describeAnomaly } from '../../../subjects/anomalies/scores/anomaly-text.ts';
import { computeWeeklyOccurrences } from '../../../subjects/anomalies/scores/scorer.ts';

const NullableNumber = z.number().nullable();
const labels = z.record(z.string(), z.string());

/** An anomaly in API responses */
export const AnomalyView = z.strictObject({
  id: z.string(),
  detectorId: z.string(),
  detectorName: z.string(),
  projectId: z.string().describe('Empty for the whole organization'),
  series: z.strictObject({ key: z.string(), name: z.string(), unit: z.string(), labels }),
  labels: labels.describe('Labels of the detector'),
  begin: z.iso.datetime(),
  end: z.iso.datetime().nullable().describe('null while it is in progress'),
  reason: z
    .enum(['', 'over', 'changed', 'gone'])
    .describe(
      'Why it ended, if its series did not return to normal: the detector was disabled, its query changed, or the series disappeared',
    ),
  sign: z.enum(anomalySigns).describe('Most unusual aspect'),
  direction: z.enum(['up', 'down', 'other']),
  score: z.number().describe('Highest score: the probability that in a typical past week nothing was as unusual'),
  timesPerWeek: z.number().describe('Expected number of equally unusual events per week'),
  peakAt: z.iso
    .datetime()
    .describe('Time of the largest deviation from the expected value; the values are from this time'),
  value: z.number(),
  expected: NullableNumber,
  low: NullableNumber,
  high: NullableNumber,
  change: NullableNumber.describe('Deviation from the expected value at its start'),
  text: z.string(),
  verdict: z.enum(anomalyVerdicts).nullable().describe('Feedback of a user'),
});

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

export const toAnomalyView = (
  anomaly: StoredAnomaly,
  feedback: readonly Pick<AnomalyFeedback, 'marks'>[],
): z.output<typeof AnomalyView> => {
  const {
    id,
    detectorId,
    detectorName,
    projectId,
    key,
    name,
    unit,
    labels: seriesLabels,
    score,
    value,
    before: valueBefore,
  } = anomaly;
  const userFeedback = feedback.flatMap(({ marks }) => marks).find(({ anomalyId }) => anomalyId === id);
  return {
    id,
    detectorId,
    detectorName,
    projectId,
    series: { key, name, unit, labels: { ...seriesLabels } },
    labels: { ...anomaly.detectorLabels },
    begin: toIsoTime(anomaly.beginMs),
    end: anomaly.endMs === null ? null : toIsoTime(anomaly.endMs),
    reason: anomaly.why,
    sign: anomaly.sign,
    direction: anomaly.direction,
    score,
    timesPerWeek: computeWeeklyOccurrences(score),
    peakAt: toIsoTime(anomaly.peakMs),
    value,
    expected: anomaly.expected,
    low: anomaly.low,
    high: anomaly.high,
    change: valueBefore === null ? null : value - valueBefore,
    text: describeAnomaly(anomaly),
    verdict: userFeedback?.verdict ?? null,
  };
};
