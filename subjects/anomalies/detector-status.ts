/** Status of detectors and their rate of false alarms, from stored evaluations and anomalies. */
import { z } from 'zod';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { AnomalyFeedback } from '../../schemas/resources/anomaly-feedback.ts';
import { anomalyEvaluationsTable } from '../../schemas/tables/anomalies.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { DetectorFields } from './detector.ts';
import {
  estimateLearningMs,
  getIngestionWaitMs,
  getLastCompleteStepMs,
  hashQuery,
  incompletePrefix,
} from './detector-progress.ts';

const weekMs = 604_800_000;
const dayMs = 86_400_000;
/** Period in which false alarms are counted. */
const ratePeriodMs = 4 * weekMs;
/** Tolerance for the query interval and the ingestion delay. */
const toleranceMs = 180_000;

export const detectorStates = ['off', 'waiting', 'learning', 'watching', 'behind', 'failed'] as const;

export const DetectorStatus = z.strictObject({
  state: z
    .enum(detectorStates)
    .describe(
      'off: disabled; waiting: just created; learning: too little history to report anomalies; watching: active; behind: steps are not scored in time; failed: its query fails, with the reason in error',
    ),
  learningUntil: z.iso.datetime().nullable().describe('Expected end of learning; `null` if it does not learn'),
  trainedFrom: z.iso
    .datetime()
    .nullable()
    .describe(
      'Start of the learned history: five weeks ago, or later if the retention is shorter or the series have more than 5 million points',
    ),
  series: z.int().describe('Number of monitored series'),
  learning: z.int().describe('Number of these series with too little history'),
  lastStep: z.iso.datetime().nullable().describe('End of the last scored step'),
  lagSeconds: z
    .number()
    .nullable()
    .describe('Time in seconds since the end of the first complete step without a score; 0 if all are scored'),
  open: z.int().describe('Number of ongoing anomalies'),
  rate: z
    .strictObject({
      perWeek: z.number().nullable().describe('Alarms per week that were not marked as true; `null` with a reason'),
      reason: z.string().nullable(),
      alarms: z.int(),
      truePositives: z.int(),
      falsePositives: z.int(),
      weeks: z.number().describe('Monitored weeks, of the last four'),
    })
    .describe('Actual rate of false alarms, to compare with falseAlarmsPerWeek'),
  error: z.string().nullable(),
});
export type DetectorStatus = z.output<typeof DetectorStatus>;

/** Status of a detector, without its alarm rate. */
export type DetectorSnapshot = Omit<DetectorStatus, 'rate'>;

interface EvaluationRow {
  readonly id: string;
  readonly query_hash: string;
  readonly up_to: string;
  readonly watched_from: string;
  readonly learns_until: string;
  readonly trained_from: string;
  readonly scoring_from: string;
  readonly series: number;
  readonly learning: number;
  readonly unmonitored: number;
  readonly ongoing: number;
  readonly error: string;
}

/** The last evaluation of each detector, by ID. */
const readEvaluations = async (
  { columns }: Pick<TenantReader, 'columns'>,
  ids: readonly string[],
): Promise<Map<string, EvaluationRow>> => {
  const rows = await columns.query<EvaluationRow & Record<string, unknown>>(
    `SELECT detector_id AS id, question AS query_hash, toString(up_to_ms) AS up_to, toString(watched_from_ms) AS watched_from,
      toString(learns_until_ms) AS learns_until, toString(learnt_from_ms) AS trained_from, toString(speaks_from_ms) AS scoring_from,
      series, learning, refused AS unmonitored, open AS ongoing, error
    FROM ${anomalyEvaluationsTable.name} FINAL WHERE tenant_id = {tenant:String} AND detector_id IN {ids:Array(String)}`,
    { ids: [...ids] },
  );
  return new Map(rows.map((row) => [row.id, row]));
};

const readAlarms = async (
  { columns, nowMs }: Pick<TenantReader, 'columns' | 'nowMs'>,
  ids: readonly string[],
): Promise<Map<string, ReadonlySet<string>>> => {
  const rows = await columns.query<{ detector: string; anomalies: string[] }>(
    `SELECT detector_id AS detector, groupUniqArray(100000)(id) AS anomalies FROM anomalies
    WHERE tenant_id = {tenant:String} AND time >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      AND detector_id IN {ids:Array(String)} GROUP BY detector`,
    { since: String(Math.trunc(nowMs) - ratePeriodMs), ids: [...ids] },
  );
  return new Map(rows.map(({ detector, anomalies }) => [detector, new Set(anomalies)]));
};

const computeAlarmRate = (
  alarms: ReadonlySet<string>,
  feedback: readonly AnomalyFeedback[],
  { watchedFromMs, upToMs, nowMs }: { watchedFromMs: number; upToMs: number; nowMs: number },
): DetectorStatus['rate'] => {
  const marks = feedback.flatMap((entry) => entry.marks).filter(({ anomalyId }) => alarms.has(anomalyId));
  const countMarks = (verdict: string): number => marks.filter((mark) => mark.verdict === verdict).length;
  const watchedMs = watchedFromMs === 0 ? 0 : Math.max(0, upToMs - Math.max(watchedFromMs, nowMs - ratePeriodMs));
  const counts = { alarms: alarms.size, truePositives: countMarks('true'), falsePositives: countMarks('false') };
  const weeks = watchedMs / weekMs;
  return watchedMs < dayMs
    ? { ...counts, weeks, perWeek: null, reason: 'it has been running for less than a day' }
    : { ...counts, weeks, perWeek: (alarms.size - counts.truePositives) / weeks, reason: null };
};

/** Contents of an evaluation; times are 0 if absent. */
interface Evaluation extends Pick<EvaluationRow, 'series' | 'learning' | 'unmonitored' | 'ongoing' | 'error'> {
  readonly isKnown: boolean;
  readonly upToMs: number;
  readonly learnsUntilMs: number;
  readonly trainedFromMs: number;
  readonly scoringFromMs: number;
}

const noEvaluation: Evaluation = {
  isKnown: false,
  series: 0,
  learning: 0,
  unmonitored: 0,
  ongoing: 0,
  error: '',
  upToMs: 0,
  learnsUntilMs: 0,
  trainedFromMs: 0,
  scoringFromMs: 0,
};

const toEvaluation = (row: EvaluationRow): Evaluation => ({
  isKnown: true,
  series: row.series,
  learning: row.learning,
  unmonitored: row.unmonitored,
  ongoing: row.ongoing,
  error: row.error,
  upToMs: Number(row.up_to),
  learnsUntilMs: Number(row.learns_until),
  trainedFromMs: Number(row.trained_from),
  scoringFromMs: Number(row.scoring_from),
});

const describeUnmonitored = ({ unmonitored, series }: Evaluation): string =>
  `${unmonitored} series beyond these ${series} are not monitored: the maximum is 10,000 per detector and 30,000 per organization`;

type ExistingDetector = DetectorFields & { readonly id: string; readonly createdAt: string };

/** Returns the time since the end of the first complete step without a score. */
const computeLagMs = (detector: ExistingDetector, { upToMs }: Evaluation, nowMs: number): number => {
  const endMs = getLastCompleteStepMs(detector, nowMs);
  return Math.max(0, endMs - (upToMs || Math.max(Date.parse(detector.createdAt), endMs - dayMs)));
};

const determineState = (detector: ExistingDetector, evaluation: Evaluation, lagMs: number): DetectorStatus['state'] => {
  const stepMs = parseDurationMs(detector.step);
  const isLearningHistory = evaluation.learnsUntilMs > 0;
  if (!detector.enabled) return 'off';
  // If only some series exceed the limits, the others are monitored.
  if (evaluation.error !== '' && !evaluation.error.startsWith(incompletePrefix)) return 'failed';
  if (!isLearningHistory && lagMs > Math.max(toleranceMs, 2 * getIngestionWaitMs(stepMs)) + stepMs) return 'behind';
  if (!evaluation.isKnown) return 'waiting';
  return isLearningHistory || evaluation.scoringFromMs > 0 ? 'learning' : 'watching';
};

const estimateLearningEndMs = ({ step }: ExistingDetector, evaluation: Evaluation, nowMs: number): number => {
  if (evaluation.learnsUntilMs === 0) return evaluation.scoringFromMs;
  return (
    nowMs + estimateLearningMs(evaluation.learnsUntilMs - evaluation.upToMs, parseDurationMs(step), evaluation.series)
  );
};

const isoTimeOrNull = (ms: number): string | null => (ms === 0 ? null : new Date(ms).toISOString());

/** Returns the status of a detector from its last evaluation. An evaluation of a different query is ignored. */
const toSnapshot = (detector: ExistingDetector, row: EvaluationRow | undefined, nowMs: number): DetectorSnapshot => {
  const evaluation = row?.query_hash === hashQuery(detector) ? toEvaluation(row) : noEvaluation;
  const lagMs = computeLagMs(detector, evaluation, nowMs);
  const state = determineState(detector, evaluation, lagMs);
  const { series, learning, ongoing, upToMs } = evaluation;
  return {
    state,
    series,
    learning,
    open: ongoing,
    lastStep: isoTimeOrNull(upToMs),
    trainedFrom: isoTimeOrNull(evaluation.trainedFromMs),
    learningUntil: state === 'learning' ? isoTimeOrNull(estimateLearningEndMs(detector, evaluation, nowMs)) : null,
    lagSeconds: state === 'off' || evaluation.learnsUntilMs > 0 ? null : lagMs / 1000,
    error: evaluation.error || (evaluation.unmonitored > 0 ? describeUnmonitored(evaluation) : null),
  };
};

/** Returns the statuses of detectors in order, without alarm rates. */
export const readSnapshots = async (
  reader: TenantReader,
  detectors: readonly ExistingDetector[],
): Promise<readonly DetectorSnapshot[]> => {
  if (detectors.length === 0) return [];
  const evaluations = await readEvaluations(
    reader,
    detectors.map(({ id }) => id),
  );
  return detectors.map((detector) => toSnapshot(detector, evaluations.get(detector.id), reader.nowMs));
};

/** Returns the statuses of detectors in order, including alarm rates. */
export const readStatuses = async (
  reader: TenantReader,
  detectors: readonly ExistingDetector[],
  feedback: readonly AnomalyFeedback[],
): Promise<DetectorStatus[]> => {
  if (detectors.length === 0) return [];
  const ids = detectors.map(({ id }) => id);
  const [evaluations, alarms] = await Promise.all([readEvaluations(reader, ids), readAlarms(reader, ids)]);
  const { nowMs } = reader;
  return detectors.map((detector) => {
    const evaluation = evaluations.get(detector.id);
    const detectorFeedback = feedback.filter(({ detectorId }) => detectorId === detector.id);
    const rate = computeAlarmRate(alarms.get(detector.id) ?? new Set(), detectorFeedback, {
      watchedFromMs: Number(evaluation?.watched_from ?? 0),
      upToMs: Number(evaluation?.up_to ?? 0),
      nowMs,
    });
    return { ...toSnapshot(detector, evaluation, nowMs), rate };
  });
};
