/**
 * Caches steps of expressions that are queried repeatedly as time advances, for example by dashboard panels.
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
  type BlockFingerprints,
  findFirstChangeMs,
  type SelectorRead,
  selectFingerprints,
} from './fetch/block-fingerprints.ts';
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
  readonly fingerprints: BlockFingerprints;
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
  /** Returns the complete result, given an evaluation that starts at `fromMs` or earlier, and caches it for the next
   * query. */
  complete(evaluatedSeries: EvaluationResult, fromMs: number): EvaluationResult;
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

const toCacheKey = ({
  scope: { translation, projectId, onlySource },
  expression,
  window: { stepMs, lookbackMs },
}: StepsKey): string => JSON.stringify([stepMs, lookbackMs, expression, translation, projectId, onlySource]);

/**
 * Returns the length of the time blocks whose fingerprints are compared. Like steps, blocks begin at multiples of their
 * length.
 */
export const getBlockLengthMs = ({ stepMs }: EvaluationWindow): number => stepsPerBlock * stepMs;

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

const computeLastStepMs = ({ startMs, endMs, stepMs }: EvaluationWindow): number =>
  startMs + Math.floor((endMs - startMs) / stepMs) * stepMs;

/** Returns the current state of the query, for the next evaluation. */
const buildState = (
  { window, reads }: StepsQuery,
  storedFingerprints: BlockFingerprints,
  evaluatedMs: number,
): RecordedState => ({
  window,
  evaluatedMs,
  origins: describeOrigins(reads),
  fingerprints: selectFingerprints(reads, storedFingerprints, getBlockLengthMs(window)),
});

/** Returns the first step that may differ from the cached ones. */
const findFirstChangedStepMs = ({ window, reads }: StepsQuery, before: CachedSteps, now: BlockFingerprints): number => {
  const { stepMs, endMs } = window;
  let first = computeLastStepMs(before.window) + stepMs;
  for (const read of reads) {
    // How much later than its own time a step reads; negative if it reads only earlier samples.
    const aheadMs = read.window.toMs - endMs;
    const recordedFingerprints = { before: before.fingerprints, beforeToMs: before.window.endMs + aheadMs, now };
    first = Math.min(first, findFirstChangeMs(read, recordedFingerprints, getBlockLengthMs(window)) - aheadMs);
  }
  return Math.ceil(first / stepMs) * stepMs;
};

/** Returns the samples from one time on and before another. */
const sliceSeries = (series: MatrixSeries, fromMs: number, toMs: number): MatrixSeries => {
  const findIndex = (timeMs: number): number => {
    const index = series.times.findIndex((time) => time >= timeMs);
    return index < 0 ? series.times.length : index;
  };
  const [from, to] = [findIndex(fromMs), findIndex(toMs)];
  return { ...series, times: series.times.slice(from, to), values: series.values.slice(from, to) };
};

const concatenate = (left: Float64Array, right: Float64Array): Float64Array => {
  const joined = new Float64Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
};

/** Merges cached and evaluated series, in the order of their labels. */
const mergeCached = (
  cachedSeries: readonly MatrixSeries[],
  evaluated: readonly MatrixSeries[],
): readonly MatrixSeries[] => {
  const toLabelsKey = ({ labels }: MatrixSeries): string => JSON.stringify(labels);
  const nonEmptySeries = cachedSeries.filter(({ times }) => times.length > 0);
  const seriesByLabels = new Map(nonEmptySeries.map((series) => [toLabelsKey(series), series]));
  const cachedCount = seriesByLabels.size;
  for (const series of evaluated) {
    const cachedSeries = seriesByLabels.get(toLabelsKey(series));
    const times = concatenate(cachedSeries?.times ?? emptyValues, series.times);
    seriesByLabels.set(toLabelsKey(series), {
      ...series,
      times,
      values: concatenate(cachedSeries?.values ?? emptyValues, series.values),
    });
  }
  return seriesByLabels.size === cachedCount ? [...seriesByLabels.values()] : sortByLabels(seriesByLabels.values());
};

const emptyValues = new Float64Array(0);

/** Empty result, if no step remains to be evaluated. */
export const emptyEvaluation: EvaluationResult = {
  value: { type: 'matrix', series: [] },
  warnings: [],
  infos: [],
  samples: { total: 0, peak: 0, perStep: emptyValues },
};

/** Results with warnings are not cached, because their steps are unknown, and neither are native histograms. */
const storeSteps = (request: StepsKey, state: RecordedState, { value, warnings }: EvaluationResult): void => {
  if (value.type !== 'matrix' || warnings.length > 0) return;
  if (value.series.some(({ histograms }) => histograms.length > 0)) return;
  stepsCache.forTenant(request.scope.columns).set(toCacheKey(request), { ...state, series: value.series });
};

/** Returns whether the cache has an entry for a query, which may be outdated. */
export const hasCachedSteps = (request: StepsKey): boolean =>
  stepsCache.forTenant(request.scope.columns).get(toCacheKey(request)) !== undefined;

/** Returns the cache entry of a query if it covers steps of its window; `storedFingerprints` must be current. */
const findCached = (
  query: StepsQuery,
  storedFingerprints: BlockFingerprints,
): { readonly cached: CachedSteps; readonly fromMs: number } | undefined => {
  const { scope, window, reads } = query;
  const cached = stepsCache.forTenant(scope.columns).get(toCacheKey(query));
  if (cached === undefined || performance.now() - cached.evaluatedMs >= cacheTtlMs) return undefined;
  if (cached.window.startMs > window.startMs || cached.origins !== describeOrigins(reads)) return undefined;
  const fromMs = findFirstChangedStepMs(query, cached, storedFingerprints);
  return fromMs > window.startMs ? { cached, fromMs } : undefined;
};

/** Returns a query's cached steps. `storedFingerprints` must be read after the query arrived and before its data. */
export const readCachedSteps = (query: StepsQuery, storedFingerprints: BlockFingerprints): CachedStepsReader => {
  const { window, reads } = query;
  if (!reads.every(readsOnlyNumbers)) return { fromMs: window.startMs, complete: (evaluated) => evaluated };
  const cachedMatch = findCached(query, storedFingerprints);
  const state = buildState(query, storedFingerprints, cachedMatch?.cached.evaluatedMs ?? performance.now());
  return {
    fromMs: cachedMatch?.fromMs ?? window.startMs,
    complete(evaluated, fromMs) {
      const { value } = evaluated;
      const cachedSeries =
        cachedMatch?.cached.series.map((series) => sliceSeries(series, window.startMs, fromMs)) ?? [];
      const combined: EvaluationResult =
        value.type === 'matrix' && fromMs > window.startMs
          ? { ...evaluated, value: { type: 'matrix', series: mergeCached(cachedSeries, value.series) } }
          : evaluated;
      storeSteps(query, state, combined);
      return combined;
    },
  };
};

/** Records the fingerprints before a query that runs alone. */
export const recordFingerprints = (query: StepsQuery, storedFingerprints: BlockFingerprints): void => {
  if (query.reads.every(readsOnlyNumbers))
    recordedStates
      .forTenant(query.scope.columns)
      .set(toCacheKey(query), buildState(query, storedFingerprints, performance.now()));
};

/** Returns a function that caches the result of a query that runs alone. Must be called before any data is read for
 * it. */
export const createStepsWriter = (request: StepsKey): ((evaluated: EvaluationResult) => void) => {
  const recordedState = recordedStates.forTenant(request.scope.columns).get(toCacheKey(request));
  const isSameWindow =
    recordedState?.window.startMs === request.window.startMs && recordedState.window.endMs === request.window.endMs;
  return (evaluated) => {
    if (recordedState !== undefined && isSameWindow) storeSteps(request, recordedState, evaluated);
  };
};
