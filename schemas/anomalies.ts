/** Messages of anomaly detection: points for the scorer, scores, anomalies, and the progress of each detector. */
import { z } from 'zod';

/** Signs of an anomaly in a series. Each sign has its own history. */
export const anomalySigns = ['up', 'down', 'jumpUp', 'jumpDown', 'driftUp', 'driftDown', 'noise', 'flat'] as const;

export const detectorDirections = ['both', 'up', 'down'] as const;

/** Maximum number of series of one detector, and of all detectors of an organization. */
export const maxSeries = 10_000;
export const maxSeriesTotal = 30_000;

const nullableNumber = z.number().nullable();
const labelsSchema = z.record(z.string().max(256), z.string().max(1024));

/**
 * Steps of some series of a detector. The values of one evaluation are split into parts, of which the last is marked.
 * They include the scoring parameters, so that scores depend only on the topic.
 */
export const AnomalyPoints = z.strictObject({
  tenantId: z.string(),
  detectorId: z.string(),
  detector: z.strictObject({
    name: z.string(),
    projectId: z.string().describe('Project ID; empty for the entire organization'),
    labels: labelsSchema,
    direction: z.enum(detectorDirections),
    leastChange: z.number().nonnegative(),
    falseAlarmsPerWeek: z
      .number()
      .positive()
      .describe('Expected false alarms per week over all series of the detector'),
    signals: z.array(z.string()).describe('Telemetry signals that the query reads'),
  }),
  question: z.string().describe('Hash of the query and the step; a new value restarts learning'),
  stepMs: z.int().positive(),
  fromMs: z.int().describe('Start of the first step'),
  toMs: z.int().describe('End of the last step'),
  lookMs: z.int().describe('Time of the evaluation'),
  mode: z
    .enum(['learning', 'late', 'now', 'over'])
    .describe(
      '`learning`: history, without anomalies; `late`: evaluated late after a gap, without new anomalies; `over`: the detector is disabled or deleted',
    ),
  part: z.int().nonnegative(),
  isLast: z.boolean(),
  counts: z.array(z.string()).describe('Measures whose value is 0 for a step of a known series without records'),
  gaps: z.array(z.int()).describe('Starts of steps without any records, whose values are unknown'),
  learntFromMs: z.int().describe('Start of the learned history'),
  learnsUntilMs: z.int().nullable().describe('End of the history learned so far; `null` once learning is complete'),
  seriesCount: z.int().nonnegative().describe('Number of series in the result'),
  error: z
    .string()
    .max(4096)
    .describe('Reason why the query failed, completely or for some series; empty if it succeeded'),
  series: z.array(
    z.strictObject({
      name: z.string().max(1024),
      unit: z.string().max(64),
      labels: labelsSchema,
      values: z.array(nullableNumber),
    }),
  ),
});
export type AnomalyPoints = z.output<typeof AnomalyPoints>;

/** Scores of series of a detector. */
export const AnomalyScores = z.strictObject({
  tenantId: z.string(),
  detectorId: z.string(),
  series: z.array(
    z.strictObject({
      key: z.string(),
      points: z.array(
        z
          .tuple([z.int(), z.number(), nullableNumber, nullableNumber, nullableNumber, z.number(), z.boolean()])
          .describe(
            'Start of the step, value, expected value, lower bound, upper bound, score, and whether the value is anomalous',
          ),
      ),
    }),
  ),
});
export type AnomalyScores = z.output<typeof AnomalyScores>;

/**
 * An anomaly began, became worse, or ended. Contains its complete current state: a later change replaces an earlier
 * one.
 */
export const AnomalyChange = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string(),
  change: z.enum(['begin', 'worse', 'end']),
  number: z.int().positive().describe('Sequence number of the change of the anomaly'),
  detectorId: z.string(),
  detectorName: z.string(),
  detectorLabels: labelsSchema,
  signals: z.array(z.string()),
  stepMs: z.int().positive(),
  key: z.string().describe('Key of the series'),
  name: z.string(),
  unit: z.string(),
  labels: labelsSchema,
  sign: z.enum(anomalySigns).describe('The rarest sign of the anomaly'),
  direction: z.enum(['up', 'down', 'other']),
  atMs: z.int().describe('Time of the change'),
  beginMs: z.int(),
  endMs: z.int().nullable().describe('End of the anomaly; `null` while it is ongoing'),
  why: z.enum(['', 'over', 'changed', 'gone']).describe('Reason for the end; empty if the series returned to normal'),
  score: z.number().describe('Highest score'),
  peakMs: z.int().describe('Time of the greatest deviation from the value expected at the start'),
  value: z.number(),
  expected: nullableNumber,
  low: nullableNumber,
  high: nullableNumber,
  before: nullableNumber.describe('Value expected at the start'),
});
export type AnomalyChange = z.output<typeof AnomalyChange>;

/**
 * Progress of a detector. A later evaluation replaces it. Processes of two versions exchange it during an upgrade, so
 * field names do not change.
 */
export const AnomalyEvaluation = z.strictObject({
  tenantId: z.string(),
  detectorId: z.string(),
  question: z.string().describe('Hash of the query and the step'),
  lookMs: z.int().describe('Time of the evaluation'),
  number: z.int().nonnegative().describe('Sequence number of the evaluation of the detector'),
  upToMs: z.int().describe('End of the last scored step; 0 if there is none'),
  stepMs: z.int().positive(),
  watchedFromMs: z
    .int()
    .nullable()
    .describe('Since when the detector reports anomalies; `null` while it learns history'),
  learnsUntilMs: z.int().nullable().describe('End of the history learned so far'),
  learntFromMs: z.int().describe('Start of the learned history'),
  series: z.int().nonnegative(),
  learning: z.int().nonnegative().describe('Series with too little history'),
  speaksFromMs: z.int().nullable().describe('When the first series will have enough history, if none has'),
  refused: z.int().nonnegative().describe('Series that are not scored because of the limit'),
  open: z.int().nonnegative().describe('Ongoing anomalies'),
  error: z.string().max(4096),
});
export type AnomalyEvaluation = z.output<typeof AnomalyEvaluation>;

/** Days that scores and anomalies are retained, regardless of the plan's retention. */
export const scoresRetentionDays = 35;
export const anomaliesRetentionDays = 400;
