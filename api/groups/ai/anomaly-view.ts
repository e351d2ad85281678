import { z } from 'zod';
import { anomalyText } from '../../../queries/anomalies/anomaly-text.ts';
import { timesAWeek } from '../../../queries/anomalies/scorer.ts';
import { anomalySigns } from '../../../schemas/anomalies.ts';
import { type AnomalyFeedback, anomalyVerdicts } from '../../../schemas/resources/anomaly-feedback.ts';
import type { StoredAnomaly } from '../../../subjects/anomalies/stored.ts';

const bound = z.number().nullable();
const labels = z.record(z.string(), z.string());

/** An anomaly as answers tell of it. */
export const AnomalyView = z.strictObject({
  id: z.string(),
  detectorId: z.string(),
  detectorName: z.string(),
  projectId: z.string().describe('Empty for the whole organization'),
  series: z.strictObject({ key: z.string(), name: z.string(), unit: z.string(), labels }),
  labels: labels.describe('Of the detector'),
  begin: z.iso.datetime(),
  end: z.iso.datetime().nullable().describe('null: it lasts'),
  reason: z
    .enum(['', 'over', 'changed', 'gone'])
    .describe(
      'Why it ended, where its series did not end it: the detector was switched off, asks something else, or the series is gone',
    ),
  sign: z.enum(anomalySigns).describe('What was rarest about it'),
  direction: z.enum(['up', 'down', 'other']),
  score: z.number().describe('The highest: the probability that a week of the past has nothing so unusual'),
  timesPerWeek: z.number().describe('How often a week so much is to be expected'),
  peakAt: z.iso.datetime().describe('Where it was furthest from what was expected; the values are of there'),
  value: z.number(),
  expected: bound,
  low: bound,
  high: bound,
  change: bound.describe('From what was expected where it began'),
  text: z.string(),
  verdict: z.enum(anomalyVerdicts).nullable().describe('What somebody said of it'),
});

const timeOf = (ms: number): string => new Date(ms).toISOString();

export const anomalyView = (
  anomaly: StoredAnomaly,
  feedback: readonly Pick<AnomalyFeedback, 'marks'>[],
): z.output<typeof AnomalyView> => {
  const { id, detectorId, detectorName, projectId, key, name, unit, labels: own, score, value, before } = anomaly;
  const mark = feedback.flatMap(({ marks }) => marks).find(({ anomalyId }) => anomalyId === id);
  return {
    id,
    detectorId,
    detectorName,
    projectId,
    series: { key, name, unit, labels: { ...own } },
    labels: { ...anomaly.detectorLabels },
    begin: timeOf(anomaly.beginMs),
    end: anomaly.endMs === null ? null : timeOf(anomaly.endMs),
    reason: anomaly.why,
    sign: anomaly.sign,
    direction: anomaly.direction,
    score,
    timesPerWeek: timesAWeek(score),
    peakAt: timeOf(anomaly.peakMs),
    value,
    expected: anomaly.expected,
    low: anomaly.low,
    high: anomaly.high,
    change: before === null ? null : value - before,
    text: anomalyText(anomaly),
    verdict: mark?.verdict ?? null,
  };
};
