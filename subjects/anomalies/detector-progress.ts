/** Determines what a detector queries: the history for learning first, then each complete step. */

import { getMeasureName } from '../../queries/aggregate/measures.ts';
import { withMaxGroups } from '../../queries/all-groups.ts';
import { buildStepsContext, toValuesByStep } from '../../queries/complete-steps.ts';
import type { Query } from '../../queries/query.ts';
import { listMeasures } from '../../queries/query-kind.ts';
import type { QueryContext, ResultData } from '../../queries/query-result.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import { type AnomalyPoints, maxSeries } from '../../schemas/anomalies.ts';
import { boundLabels } from '../../schemas/bounded-labels.ts';
import { parseDurationMs } from '../alerts/durations.ts';
import type { DetectorFields } from './detector.ts';

const dayMs = 86_400_000;
/**
 * Learned history: a duration and a maximum number of points over all series, with a minimum per series for learning.
 */
const historyMs = 35 * dayMs;
const maxHistoryPoints = 5_000_000;
const minSteps = 700;
/** Maximum points and steps of one query. */
const maxPointsPerQuery = 50_000;
const maxStepsPerQuery = 5000;
/** Maximum age of steps that are still queried after an interruption. Older steps become a gap. */
const catchUpMs = dayMs;
/** Age, and number of steps, after which a step is late: no anomaly is reported to begin in it. */
const lateAfterMs = 15 * 60_000;
const lateSteps = 3;

/**
 * Maximum points of an organization that are scored in each half minute, with a separate limit for learned history. One
 * thread scores the points of several organizations, so a large query of one delays the others.
 */
export const maxPointsPerWindow = 200_000;
export const windowMs = 30_000;

/** Returns the evaluation interval of a detector: at least once per step. */
export const getEvaluationIntervalMs = (stepMs: number): number => Math.min(30_000, stepMs);

/** Returns how long a step waits for delayed records, if not all data up to its end is stored. */
export const getIngestionWaitMs = (stepMs: number): number => Math.min(300_000, Math.max(60_000, 3 * stepMs));

/** Returns the expected time to learn the remaining history. */
export const estimateLearningMs = (remainingMs: number, stepMs: number, series: number): number =>
  Math.ceil(((remainingMs / stepMs) * Math.max(1, series)) / maxPointsPerWindow) * windowMs;

/** Prefix of the error message for a result that does not contain all series. The returned series are monitored. */
export const incompletePrefix = 'not all series are monitored';

/** Query progress of a detector, stored as JSON. */
export interface Progress {
  readonly question: string;
  readonly learntFromMs: number;
  /** End of the history. */
  readonly liveMs: number;
  readonly upToMs: number;
  /** Number of series in the last result. */
  readonly series: number;
}

export interface Chunk {
  readonly fromMs: number;
  readonly toMs: number;
  readonly mode: AnomalyPoints['mode'];
}

type StepSettings = Pick<DetectorFields, 'step' | 'delay'>;

/** Returns a hash of the query and its step. If it changes, the detector learns again. */
export const hashQuery = ({ query, step }: Pick<DetectorFields, 'query' | 'step'>): string =>
  computeHashId(query, step).slice(0, 16);

/** Returns the end of the last complete step. */
export const getLastCompleteStepMs = ({ step, delay }: StepSettings, nowMs: number): number =>
  Math.floor((nowMs - parseDurationMs(delay)) / parseDurationMs(step)) * parseDurationMs(step);

/**
 * Returns the initial progress of a detector with this number of series. Data before `retainedFromMs` cannot be
 * queried.
 */
export const createProgress = (
  detector: Pick<DetectorFields, 'query' | 'step'>,
  {
    endMs,
    series,
    retainedFromMs,
  }: { readonly endMs: number; readonly series: number; readonly retainedFromMs: number },
): Progress => {
  const stepMs = parseDurationMs(detector.step);
  const affordable = Math.max(minSteps, Math.floor(maxHistoryPoints / Math.max(1, series)));
  const steps = Math.min(affordable, Math.floor(historyMs / stepMs));
  const fromMs = Math.max(endMs - steps * stepMs, Math.ceil(retainedFromMs / stepMs) * stepMs);
  const trainedFromMs = Math.min(fromMs, endMs);
  return { question: hashQuery(detector), learntFromMs: trainedFromMs, liveMs: endMs, upToMs: trainedFromMs, series };
};

interface ChunkOptions {
  readonly stepMs: number;
  /** End of the last complete step. */
  readonly endMs: number;
  readonly nowMs: number;
  /** Maximum steps, below the limit of a query. */
  readonly maxSteps?: number;
}

/** Returns the next range to query, up to the last complete step; `undefined` if there is none. */
export const getNextChunk = (
  progress: Progress,
  { stepMs, endMs, nowMs, maxSteps = maxStepsPerQuery }: ChunkOptions,
): Chunk | undefined => {
  const { liveMs, series } = progress;
  const isLearning = progress.upToMs < liveMs;
  const oldestMs = isLearning ? progress.upToMs : endMs - Math.floor(catchUpMs / stepMs) * stepMs;
  const fromMs = Math.max(progress.upToMs, Math.min(oldestMs, endMs - stepMs));
  if (fromMs >= endMs) return undefined;
  const steps = Math.max(1, Math.min(maxSteps, Math.floor(maxPointsPerQuery / Math.max(1, series))));
  const toMs = Math.min(fromMs + steps * stepMs, isLearning ? liveMs : endMs);
  const isLate = nowMs - toMs > Math.max(lateAfterMs, lateSteps * stepMs);
  return { fromMs, toMs, mode: isLearning ? 'learning' : isLate ? 'late' : 'now' };
};

/** Returns the query request for a range of steps. */
export const toQueryRequest = (
  { query, step }: Pick<DetectorFields, 'query' | 'step'>,
  { fromMs, toMs }: Pick<Chunk, 'fromMs' | 'toMs'>,
): { readonly query: Query; readonly context: QueryContext } => {
  const context = buildStepsContext(query, { fromMs, toMs, stepMs: parseDurationMs(step) });
  return { query: withMaxGroups(query, maxSeries), context };
};

const countingFunctions = new Set(['count', 'rate', 'distinct']);

/** Returns the measures that are 0 without records, by the names of their series in a result. */
export const findCountingMeasures = (query: Query, { series }: ResultData): string[] => {
  const names = [...new Set(series.map(({ name }) => name))];
  return names.filter((name) =>
    listMeasures(query).some((measure) => countingFunctions.has(measure.function) && getMeasureName(measure) === name),
  );
};

/** Returns the values of a result by step; null without a value, and for counts in unknown steps. */
export const toStepValues = (
  { query, step }: Pick<DetectorFields, 'query' | 'step'>,
  result: ResultData,
  {
    fromMs,
    toMs,
    counts,
    gaps,
  }: Pick<Chunk, 'fromMs' | 'toMs'> & { readonly counts: readonly string[]; readonly gaps: readonly number[] },
): AnomalyPoints['series'] => {
  const steps = { fromMs, toMs, stepMs: parseDurationMs(step) };
  const unknownSteps = new Set(gaps.map((startMs) => (startMs - fromMs) / steps.stepMs));
  return result.series.slice(0, maxSeries).map(({ name, unit, labels, points }) => {
    const valuesByStep = toValuesByStep(query, points, steps);
    const values = counts.includes(name)
      ? valuesByStep.map((value, index) => (unknownSteps.has(index) ? null : value))
      : valuesByStep;
    return {
      name: name.slice(0, 1024),
      unit: unit.slice(0, 64),
      labels: boundLabels(labels, { maxValueLength: 256, maxLabels: 32 }),
      values,
    };
  });
};
