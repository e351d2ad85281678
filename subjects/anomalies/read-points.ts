/** What a detector asks when: steps that are complete, and before that the history that it learns from. */

import { defaultName } from '../../queries/aggregate/measures.ts';
import { everyGroup } from '../../queries/all-groups.ts';
import type { Answer, QueryContext } from '../../queries/answer.ts';
import { buildStepsContext, stepValues } from '../../queries/complete-steps.ts';
import type { Query } from '../../queries/query.ts';
import { hashOf } from '../../runtime/hash-of.ts';
import { type AnomalyPoints, maxSeries } from '../../schemas/anomalies.ts';
import { boundedLabels } from '../../schemas/bounded-labels.ts';
import { msOf } from '../alerts/durations.ts';
import type { DetectorFields } from './detector.ts';

const dayMs = 86_400_000;
/** History that is learnt: so long, and so many points of all series, but of each so many that it is known. */
const historyMs = 35 * dayMs;
const historyPoints = 5_000_000;
const minSteps = 700;
/** Points and steps of one question. */
const pointsAtOnce = 50_000;
const stepsAtOnce = 5000;
/** What lies further back is not caught up: it is a gap. */
const catchUpMs = dayMs;
/** What ended longer ago than this, or so many steps, tells of no beginning. */
const lateMs = 15 * 60_000;
const lateSteps = 3;

/**
 * Points that an organization may have scored in each half minute, those of history that is learnt and the others apart: a thread scores
 * those of several organizations, and what one asks for is what others wait for.
 */
export const pointsOfWindow = 200_000;
export const windowMs = 30_000;

/** How often a detector looks: once each step at least. */
export const evaluationIntervalMs = (stepMs: number): number => Math.min(30_000, stepMs);

/** So long a step waits for records that are on their way, where what landed is not up to its end. */
export const patienceMs = (stepMs: number): number => Math.min(300_000, Math.max(60_000, 3 * stepMs));

/** How long it takes to learn so much history, once it is the detector's turn. */
export const historyLeftMs = (leftMs: number, stepMs: number, series: number): number =>
  Math.ceil(((leftMs / stepMs) * Math.max(1, series)) / pointsOfWindow) * windowMs;

/** How the error begins of an answer that has not all series: those that it has are watched. */
export const notAll = 'not all series are watched';

/** How far a detector has asked. JSON. */
export interface Progress {
  readonly question: string;
  readonly learntFromMs: number;
  /** Where history ends. */
  readonly liveMs: number;
  readonly upToMs: number;
  /** Series of the last answer. */
  readonly series: number;
}

export interface Chunk {
  readonly fromMs: number;
  readonly toMs: number;
  readonly mode: AnomalyPoints['mode'];
}

type Timed = Pick<DetectorFields, 'step' | 'delay'>;

/** What is asked by which step, as a short text: another one has another past. */
export const questionOf = ({ query, step }: Pick<DetectorFields, 'query' | 'step'>): string =>
  hashOf(query, step).slice(0, 16);

/** The end of the last step that is complete. */
export const completeAt = ({ step, delay }: Timed, nowMs: number): number =>
  Math.floor((nowMs - msOf(delay)) / msOf(step)) * msOf(step);

/** Where a detector begins that has so many series; what is older than `keptFromMs` cannot be asked. */
export const beginning = (
  detector: Pick<DetectorFields, 'query' | 'step'>,
  {
    endMs,
    series,
    retainedFromMs,
  }: { readonly endMs: number; readonly series: number; readonly retainedFromMs: number },
): Progress => {
  const stepMs = msOf(detector.step);
  const affordable = Math.max(minSteps, Math.floor(historyPoints / Math.max(1, series)));
  const steps = Math.min(affordable, Math.floor(historyMs / stepMs));
  const fromMs = Math.max(endMs - steps * stepMs, Math.ceil(retainedFromMs / stepMs) * stepMs);
  const trainedFromMs = Math.min(fromMs, endMs);
  return { question: questionOf(detector), learntFromMs: trainedFromMs, liveMs: endMs, upToMs: trainedFromMs, series };
};

interface Next {
  readonly stepMs: number;
  /** Of the last complete step. */
  readonly endMs: number;
  readonly nowMs: number;
  /** Fewer steps than a question may be about. */
  readonly maxSteps?: number;
}

/** What is asked next, up to the last complete step; `undefined` where that was. */
export const nextChunk = (
  progress: Progress,
  { stepMs, endMs, nowMs, maxSteps = stepsAtOnce }: Next,
): Chunk | undefined => {
  const { liveMs, series } = progress;
  const isLearning = progress.upToMs < liveMs;
  const oldestMs = isLearning ? progress.upToMs : endMs - Math.floor(catchUpMs / stepMs) * stepMs;
  const fromMs = Math.max(progress.upToMs, Math.min(oldestMs, endMs - stepMs));
  if (fromMs >= endMs) return undefined;
  const steps = Math.max(1, Math.min(maxSteps, Math.floor(pointsAtOnce / Math.max(1, series))));
  const toMs = Math.min(fromMs + steps * stepMs, isLearning ? liveMs : endMs);
  const isLate = nowMs - toMs > Math.max(lateMs, lateSteps * stepMs);
  return { fromMs, toMs, mode: isLearning ? 'learning' : isLate ? 'late' : 'now' };
};

/** The question about some steps. */
export const toQueryRequest = (
  { query, step }: Pick<DetectorFields, 'query' | 'step'>,
  { fromMs, toMs }: Pick<Chunk, 'fromMs' | 'toMs'>,
): { readonly query: Query; readonly context: QueryContext } => {
  const context = buildStepsContext(query, { fromMs, toMs, stepMs: msOf(step) });
  return { query: everyGroup(query, maxSeries), context };
};

const counting = new Set(['count', 'rate', 'distinct']);

/** Measures that are 0 where there are no records, by the names that an answer gives their series. */
export const countsOf = (query: Query, { series }: Answer): string[] => {
  if (query.kind !== 'aggregate') return [];
  const names = [...new Set(series.map(({ name }) => name))];
  return names.filter((name) =>
    query.measures.some((measure) => counting.has(measure.function) && (measure.as ?? defaultName(measure)) === name),
  );
};

/** The values of an answer by step; null where there is none, and of counts where nothing is known. */
export const valuesOf = (
  { query, step }: Pick<DetectorFields, 'query' | 'step'>,
  answer: Answer,
  {
    fromMs,
    toMs,
    counts,
    gaps,
  }: Pick<Chunk, 'fromMs' | 'toMs'> & { readonly counts: readonly string[]; readonly gaps: readonly number[] },
): AnomalyPoints['series'] => {
  const steps = { fromMs, toMs, stepMs: msOf(step) };
  const unknown = new Set(gaps.map((startMs) => (startMs - fromMs) / steps.stepMs));
  return answer.series.slice(0, maxSeries).map(({ name, unit, labels, points }) => {
    const known = stepValues(query, points, steps);
    const values = counts.includes(name) ? known.map((value, index) => (unknown.has(index) ? null : value)) : known;
    return {
      name: name.slice(0, 1024),
      unit: unit.slice(0, 64),
      labels: boundedLabels(labels, { value: 256, max: 32 }),
      values,
    };
  });
};

/** Characters of the series of one value: a message takes a megabyte. */
const partSize = 128 * 1024;

/** Series in parts that messages can hold; one part where there are none. */
export const inParts = (series: AnomalyPoints['series']): AnomalyPoints['series'][] => {
  const parts: AnomalyPoints['series'][] = [[]];
  let size = 0;
  for (const one of series) {
    const own = JSON.stringify(one).length;
    if (size > 0 && size + own > partSize) {
      parts.push([]);
      size = 0;
    }
    size += own;
    parts.at(-1)?.push(one);
  }
  return parts;
};
