/**
 * Caches steps of expressions that are queried repeatedly as time advances, as by panels.
 *
 * A step depends only on the samples in its windows, not on the start of the range. Steps before the first time block
 * with changed data are therefore unchanged, and only later steps are evaluated. Late and erased samples, new series
 * and renamed series all count as changes.
 */
import { RowCache } from '../row-cache.ts';
import { sortByLabels } from './engine/labels.ts';
import type { MatrixSeries } from './engine/result.ts';
import type { EvaluationWindow } from './evaluation/messages.ts';
import {
  findFirstChangeMs,
  type PieceFingerprints,
  type SelectorRead,
  selectFingerprints,
} from './fetch/landed-pieces.ts';
import type { Scope } from './fetch/scope.ts';
import type { EvaluationResult, ParsedQuery } from './index.ts';
import { type DurationPart, type Expression, getAllParts } from './syntax/tree.ts';

/** An expression over a window, and the reads of its selectors for the series that are known now. */
export interface StepsQuery {
  readonly scope: Scope;
  readonly expression: string;
  readonly window: EvaluationWindow;
  readonly reads: readonly SelectorRead[];
}

/** State recorded for an expression before its evaluation. */
interface RecordedState {
  readonly window: EvaluationWindow;
  /** Metrics that are read, and their translation to series. */
  readonly origins: string;
  readonly fingerprints: PieceFingerprints;
  /** Last complete evaluation, in monotonic milliseconds of the process. */
  readonly evaluatedMs: number;
}

interface CachedSteps extends RecordedState {
  readonly series: readonly MatrixSeries[];
}

/** Cached state of a query before its evaluation. */
export interface CachedStepsReader {
  /** First step to evaluate: the window's first if nothing is cached, after its end if everything is. */
  readonly fromMs: number;
  /** Returns the answer, given an evaluation that starts at `fromMs` or earlier, and caches it for the next query. */
  answer(evaluated: EvaluationResult, fromMs: number): EvaluationResult;
}

/** Maximum bytes of the cache, for all organizations. */
const maxBytes = 64 * 1024 * 1024;
/** Number of steps per time block: with fewer, fewer steps are evaluated again, but more fingerprints are compared. */
const stepsPerBlock = 16;
/**
 * Changed samples with equal number and checksum in one time block would not be detected, so entries expire after this
 * time, however often they are used.
 */
const cacheTtlMs = 900_000;

const estimateBytes = ({ series, fingerprints }: CachedSteps): number =>
  series.reduce((sum, { times, labels }) => sum + 16 * times.length + 200 + 100 * Object.keys(labels).length, 0) +
  100 * fingerprints.size;

const stepsCache = new RowCache<CachedSteps>(maxBytes, estimateBytes);
/** Fingerprints recorded before expressions that another thread evaluates. */
const recordedStates = new RowCache<RecordedState>(2_000);

type StepsKey = Pick<StepsQuery, 'scope' | 'expression' | 'window'>;

const cacheKey = ({
  scope: { translation, projectId, onlySource },
  expression,
  window: { stepMs, lookbackMs },
}: StepsKey): string => JSON.stringify([stepMs, lookbackMs, expression, translation, projectId, onlySource]);

/**
 * Returns the length of the time blocks whose fingerprints are compared. Like steps, blocks begin at multiples of their
 * length.
 */
export const blockLengthMs = ({ stepMs }: EvaluationWindow): number => stepsPerBlock * stepMs;

const windowFunctions = new Set(['start', 'end', 'range', 'step', 'info']);

const dependsOnWindow = (node: Expression | DurationPart): boolean =>
  ((node.kind === 'selector' || node.kind === 'subquery') && node.at !== undefined) ||
  (node.kind === 'duration' && node.operator === 'range') ||
  (node.kind === 'call' && windowFunctions.has(node.signature.name)) ||
  getAllParts(node).some(dependsOnWindow);

/** Returns whether each step of an expression is equal in every window that includes it. */
export const hasCacheableSteps = ({ expression }: ParsedQuery, { startMs, stepMs }: EvaluationWindow): boolean =>
  stepMs > 0 && startMs % stepMs === 0 && !dependsOnWindow(expression);

/**
 * Returns whether a read has only numbers or bucket counts. The reset hint of a native histogram depends on the
 * previous one, which is not part of every read.
 */
const readsOnlyNumbers = ({ sources }: SelectorRead): boolean =>
  sources.every(({ part, tables }) => part !== 'native' && !(part === 'value' && tables.includes('histograms')));

const describeOrigins = (reads: readonly SelectorRead[]): string =>
  JSON.stringify(
    reads.map(({ sources }) =>
      [
        ...new Set(sources.map(({ metric, part, tables, isDelta }) => JSON.stringify([metric, part, tables, isDelta]))),
      ].sort(),
    ),
  );

const lastStepMs = ({ startMs, endMs, stepMs }: EvaluationWindow): number =>
  startMs + Math.floor((endMs - startMs) / stepMs) * stepMs;

/** Returns the current state of the query, for the next evaluation. */
const buildState = ({ window, reads }: StepsQuery, landed: PieceFingerprints, evaluatedMs: number): RecordedState => ({
  window,
  evaluatedMs,
  origins: describeOrigins(reads),
  fingerprints: selectFingerprints(reads, landed, blockLengthMs(window)),
});

/** Returns the first step that may differ from the cached ones. */
const firstChangedStepMs = ({ window, reads }: StepsQuery, before: CachedSteps, now: PieceFingerprints): number => {
  const { stepMs, endMs } = window;
  let first = lastStepMs(before.window) + stepMs;
  for (const read of reads) {
    // How much later than its own time a step reads; negative if it reads only earlier samples.
    const aheadMs = read.window.toMs - endMs;
    const known = { before: before.fingerprints, beforeToMs: before.window.endMs + aheadMs, now };
    first = Math.min(first, findFirstChangeMs(read, known, blockLengthMs(window)) - aheadMs);
  }
  return Math.ceil(first / stepMs) * stepMs;
};

/** Returns the samples from one time on and before another. */
const sliceSeries = (series: MatrixSeries, fromMs: number, toMs: number): MatrixSeries => {
  const placeOf = (timeMs: number): number => {
    const place = series.times.findIndex((time) => time >= timeMs);
    return place < 0 ? series.times.length : place;
  };
  const [from, to] = [placeOf(fromMs), placeOf(toMs)];
  return { ...series, times: series.times.slice(from, to), values: series.values.slice(from, to) };
};

const concatenate = (left: Float64Array, right: Float64Array): Float64Array => {
  const all = new Float64Array(left.length + right.length);
  all.set(left);
  all.set(right, left.length);
  return all;
};

/** Merges cached and evaluated series, in the order of their labels. */
const mergeCached = (earlier: readonly MatrixSeries[], evaluated: readonly MatrixSeries[]): readonly MatrixSeries[] => {
  const nameOf = ({ labels }: MatrixSeries): string => JSON.stringify(labels);
  const nonEmptySeries = earlier.filter(({ times }) => times.length > 0);
  const all = new Map(nonEmptySeries.map((series) => [nameOf(series), series]));
  const before = all.size;
  for (const series of evaluated) {
    const cachedSeries = all.get(nameOf(series));
    const times = concatenate(cachedSeries?.times ?? none, series.times);
    all.set(nameOf(series), { ...series, times, values: concatenate(cachedSeries?.values ?? none, series.values) });
  }
  return all.size === before ? [...all.values()] : sortByLabels(all.values());
};

const none = new Float64Array(0);

/** Empty result, if no step remains to be evaluated. */
export const nothingEvaluated: EvaluationResult = {
  value: { type: 'matrix', series: [] },
  warnings: [],
  infos: [],
  samples: { total: 0, peak: 0, perStep: none },
};

/** Results with warnings are not cached, because their steps are unknown, and neither are native histograms. */
const storeSteps = (request: StepsKey, known: RecordedState, { value, warnings }: EvaluationResult): void => {
  if (value.type !== 'matrix' || warnings.length > 0) return;
  if (value.series.some(({ histograms }) => histograms.length > 0)) return;
  stepsCache.forTenant(request.scope.columns).set(cacheKey(request), { ...known, series: value.series });
};

/** Returns whether the cache has an entry for a query, which may be outdated. */
export const hasCachedSteps = (request: StepsKey): boolean =>
  stepsCache.forTenant(request.scope.columns).get(cacheKey(request)) !== undefined;

/** Returns the cache entry of a query if it covers steps of its window; `landed` has the current fingerprints. */
const findCached = (
  question: StepsQuery,
  landed: PieceFingerprints,
): { readonly before: CachedSteps; readonly fromMs: number } | undefined => {
  const { scope, window, reads } = question;
  const before = stepsCache.forTenant(scope.columns).get(cacheKey(question));
  if (before === undefined || performance.now() - before.evaluatedMs >= cacheTtlMs) return undefined;
  if (before.window.startMs > window.startMs || before.origins !== describeOrigins(reads)) return undefined;
  const fromMs = firstChangedStepMs(question, before, landed);
  return fromMs > window.startMs ? { before, fromMs } : undefined;
};

/** Returns the cached steps of a query. `landed` must be read after the query arrived and before its data is read. */
export const readCachedSteps = (question: StepsQuery, landed: PieceFingerprints): CachedStepsReader => {
  const { window, reads } = question;
  if (!reads.every(readsOnlyNumbers)) return { fromMs: window.startMs, answer: (evaluated) => evaluated };
  const found = findCached(question, landed);
  const state = buildState(question, landed, found?.before.evaluatedMs ?? performance.now());
  return {
    fromMs: found?.fromMs ?? window.startMs,
    answer(evaluated, fromMs) {
      const { value } = evaluated;
      const earlier = found?.before.series.map((series) => sliceSeries(series, window.startMs, fromMs)) ?? [];
      const combined: EvaluationResult =
        value.type === 'matrix' && fromMs > window.startMs
          ? { ...evaluated, value: { type: 'matrix', series: mergeCached(earlier, value.series) } }
          : evaluated;
      storeSteps(question, state, combined);
      return combined;
    },
  };
};

/** Records the fingerprints before a query that runs alone. */
export const recordFingerprints = (question: StepsQuery, landed: PieceFingerprints): void => {
  if (question.reads.every(readsOnlyNumbers))
    recordedStates
      .forTenant(question.scope.columns)
      .set(cacheKey(question), buildState(question, landed, performance.now()));
};

/** Returns a function that caches the answer of a query that runs alone. Call this before any data is read for it. */
export const createStepsWriter = (request: StepsKey): ((evaluated: EvaluationResult) => void) => {
  const known = recordedStates.forTenant(request.scope.columns).get(cacheKey(request));
  const isSame = known?.window.startMs === request.window.startMs && known.window.endMs === request.window.endMs;
  return (evaluated) => {
    if (known !== undefined && isSame) storeSteps(request, known, evaluated);
  };
};
