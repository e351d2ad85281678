/** What detectors watch and find: points on their way to the scorer, scores, anomalies, and how far each detector is. */
import { z } from 'zod';

/** What is watched of a series, each with a past of its own. */
export const anomalySigns = ['up', 'down', 'jumpUp', 'jumpDown', 'driftUp', 'driftDown', 'noise', 'flat'] as const;

export const detectorDirections = ['both', 'up', 'down'] as const;

/** Series of one detector, and of all detectors of an organization. */
export const maxSeries = 10_000;
export const maxSeriesTotal = 30_000;

const value = z.number().nullable();
const label = z.record(z.string().max(256), z.string().max(1024));

/**
 * Steps of some series of a detector. The values of one look are told in parts, of which the last says so. What scoring goes by is in it, so
 * that scores follow from what lies on the topic alone.
 */
export const AnomalyPoints = z.strictObject({
  tenantId: z.string(),
  detectorId: z.string(),
  detector: z.strictObject({
    name: z.string(),
    projectId: z.string().describe('Empty for the whole organization'),
    labels: label,
    direction: z.enum(detectorDirections),
    leastChange: z.number().nonnegative(),
    falseAlarmsPerWeek: z.number().positive().describe('Of all its series together'),
    signals: z.array(z.string()).describe('That its query reads'),
  }),
  question: z.string().describe('Of what is asked, and by which step: another one is learnt anew'),
  stepMs: z.int().positive(),
  fromMs: z.int().describe('Start of the first step'),
  toMs: z.int().describe('End of the last step'),
  lookMs: z.int().describe('When it was asked'),
  mode: z
    .enum(['learning', 'late', 'now', 'over'])
    .describe(
      'learning: history, which tells nothing; late: caught up after a gap, where nothing begins; over: the detector is off or gone',
    ),
  part: z.int().nonnegative(),
  isLast: z.boolean(),
  counts: z.array(z.string()).describe('Measures of which a step of a known series without records is 0'),
  gaps: z.array(z.int()).describe('Starts of steps in which there was no record at all: nothing is known of them'),
  learntFromMs: z.int().describe('Where the history begins that was learnt'),
  learnsUntilMs: z.int().nullable().describe('Up to where history is learnt yet; null once it is'),
  seriesCount: z.int().nonnegative().describe('Of the answer'),
  error: z.string().max(4096).describe('Why it could not be asked, or not for all series; empty where it could'),
  series: z.array(
    z.strictObject({ name: z.string().max(1024), unit: z.string().max(64), labels: label, values: z.array(value) }),
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
          .tuple([z.int(), z.number(), value, value, value, z.number(), z.boolean()])
          .describe('Start of the step, value, expected, low, high, score, whether it is anomalous'),
      ),
    }),
  ),
});
export type AnomalyScores = z.output<typeof AnomalyScores>;

/** An anomaly began, became worse, or ended: all that is known of it then. A later change replaces an earlier one. */
export const AnomalyChange = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string(),
  change: z.enum(['begin', 'worse', 'end']),
  number: z.int().positive().describe('Of the changes of the anomaly'),
  detectorId: z.string(),
  detectorName: z.string(),
  detectorLabels: label,
  signals: z.array(z.string()),
  stepMs: z.int().positive(),
  key: z.string().describe('Of the series'),
  name: z.string(),
  unit: z.string(),
  labels: label,
  sign: z.enum(anomalySigns).describe('What was rarest about it'),
  direction: z.enum(['up', 'down', 'other']),
  atMs: z.int().describe('Of the change'),
  beginMs: z.int(),
  endMs: z.int().nullable().describe('null: it lasts'),
  why: z.enum(['', 'over', 'changed', 'gone']).describe('Why it ended, where the series did not end it'),
  score: z.number().describe('The highest'),
  peakMs: z.int().describe('Where it was furthest from what was expected where it began'),
  value: z.number(),
  expected: value,
  low: value,
  high: value,
  before: value.describe('What was expected where it began'),
});
export type AnomalyChange = z.output<typeof AnomalyChange>;

/** How far a detector is. A later look replaces it. */
export const AnomalyEvaluation = z.strictObject({
  tenantId: z.string(),
  detectorId: z.string(),
  question: z.string(),
  lookMs: z.int(),
  number: z.int().nonnegative().describe('Of the looks of a detector'),
  upToMs: z.int().describe('End of the last step that was scored; 0 where none was'),
  stepMs: z.int().positive(),
  watchedFromMs: z.int().nullable().describe('Since when it tells of anomalies; null while it learns history'),
  learnsUntilMs: z.int().nullable().describe('Up to where history is learnt yet'),
  learntFromMs: z.int(),
  series: z.int().nonnegative(),
  learning: z.int().nonnegative().describe('Series of which too little is known yet'),
  speaksFromMs: z.int().nullable().describe('When the first of them will be known well enough, where none is'),
  refused: z.int().nonnegative().describe('Series that are not scored, as there are too many'),
  open: z.int().nonnegative().describe('Anomalies that last'),
  error: z.string().max(4096),
});
export type AnomalyEvaluation = z.output<typeof AnomalyEvaluation>;

/** Days that scores, and anomalies, are kept, whatever the plan keeps. */
export const scoresRetentionDays = 35;
export const anomaliesRetentionDays = 400;
