/**
 * Queries the steps of the series that detectors monitor: first the learning history, then each step once complete.
 */

import { z } from 'zod';
import { getFreshness } from '../../queries/freshness.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import type { Query } from '../../queries/query.ts';
import type { ResultData } from '../../queries/query-result.ts';
import { getRetentionDays } from '../../queries/range.ts';
import { splitIntoParts } from '../../runtime/message-parts.ts';
import { TimeoutError } from '../../runtime/timeout.ts';
import { type AnomalyPoints, maxSeries } from '../../schemas/anomalies.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { anomalyDetectors, type StoredDetector } from '../../schemas/resources/anomaly-detector.ts';
import { topics } from '../../schemas/topics.ts';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { queryErrorMessage } from '../../subjects/alerts/run-query.ts';
import { createDetectorNoDataEvent } from '../../subjects/anomalies/anomaly-event.ts';
import { type DetectorFields, getMonitoredSignals, parseStoredDetector } from '../../subjects/anomalies/detector.ts';
import {
  type Chunk,
  createProgress,
  findCountingMeasures,
  getEvaluationIntervalMs,
  getIngestionWaitMs,
  getLastCompleteStepMs,
  getNextChunk,
  hashQuery,
  incompletePrefix,
  type Progress,
  toQueryRequest,
  toStepValues,
} from '../../subjects/anomalies/detector-progress.ts';
import {
  advanceDataState,
  type DataState,
  deleteEmptyResult,
  isDataOverdue,
  storeDataState,
} from '../../subjects/empty-results/empty-results.ts';
import { createQueuedBatchers } from '../alerts/rule-batchers.ts';
import { openTenantReader } from '../engine/open-tenant-reader.ts';
import { defineSchedule, type Run } from '../engine/schedule.ts';
import { BackFillQueue } from '../slos/back-fills.ts';
import { PointBudget } from './point-budget.ts';

/**
 * State saved for a detector: its query progress and the header of its messages, so that it can end after the detector
 * is deleted.
 */
interface SavedProgress extends Progress {
  readonly head: DetectorHeader;
  /** Whether the query has had data since it was last changed */
  readonly data?: DataState | undefined;
}
type DetectorHeader = Pick<AnomalyPoints, 'tenantId' | 'detectorId' | 'detector' | 'question' | 'stepMs'>;
type State = SavedProgress | null;

const emits = { points: topics.anomalyPoints, events: topics.events };
type Emit = Run<State, typeof emits>['emit'];

/**
 * Slots for detector queries. They are separate, so that alerts and users do not wait for detectors. Each
 * organization has one statement at a time.
 */
export const detectorLimits = { slots: 2, maxSlotsPerTenant: 1 } as const;
const getDetectorBatcher = createQueuedBatchers(detectorLimits);
const backFillQueue = new BackFillQueue();
const learningBudget = new PointBudget();
const watchingBudget = new PointBudget();
/** Timeout of one query, and time budget for the history of a run. */
const queryTimeoutMs = 25_000;
const historyRunMs = 15_000;
const hourMs = 3_600_000;
/** Number of recent steps queried to count the series before the history is queried. */
const probeSteps = 20;

interface DetectorContext {
  readonly detector: DetectorFields;
  readonly header: DetectorHeader;
  readonly reader: QueryReader;
  readonly dueMs: number;
  readonly signal: AbortSignal;
  runQuery(query: Query, options: ReturnType<typeof toQueryRequest>['context']): Promise<ResultData>;
}

const createHeader = (tenantId: string, detectorId: string, detector: DetectorFields): DetectorHeader => ({
  tenantId,
  detectorId,
  question: hashQuery(detector),
  stepMs: parseDurationMs(detector.step),
  detector: {
    name: detector.name,
    projectId: detector.projectId ?? '',
    labels: detector.labels,
    direction: detector.direction,
    leastChange: detector.minChange,
    falseAlarmsPerWeek: detector.falseAlarmsPerWeek,
    signals: [...getMonitoredSignals(detector)],
  },
});

/** Builds the fields that all messages of a run share. */
const toHeader = (
  header: DetectorHeader,
  { learntFromMs: trainedFromMs, liveMs, series, upToMs }: Progress,
  checkedAtMs: number,
) => ({
  ...header,
  lookMs: checkedAtMs,
  learntFromMs: trainedFromMs,
  learnsUntilMs: upToMs < liveMs ? liveMs : null,
  seriesCount: series,
});

const endMessage = (progress: SavedProgress, checkedAtMs: number): AnomalyPoints => ({
  ...toHeader(progress.head, progress, checkedAtMs),
  fromMs: progress.upToMs,
  toMs: progress.upToMs,
  mode: 'over',
  part: 0,
  isLast: true,
  counts: [],
  gaps: [],
  error: '',
  series: [],
});

/**
 * Returns the steps in which no record of the telemetry signal was received. A source or pipeline was down then, so
 * absent groups cannot be counted as 0.
 */
const findGaps = async (
  { detector, runQuery }: DetectorContext,
  chunk: Chunk,
  counts: readonly string[],
): Promise<number[]> => {
  const { query, step } = detector;
  if (counts.length === 0 || chunk.mode === 'learning' || !('measures' in query)) return [];
  const countQuery: Query = {
    kind: 'aggregate',
    signal: query.signal,
    measures: [{ function: 'count' }],
    groupBy: [],
    limit: 1,
  };
  const request = toQueryRequest({ query: countQuery, step }, chunk);
  const { series } = await runQuery(request.query, request.context);
  const timesWithData = new Set(series.flatMap(({ points }) => points.flatMap(([at, value]) => (value ? [at] : []))));
  const stepMs = parseDurationMs(step);
  const starts = Array.from(
    { length: (chunk.toMs - chunk.fromMs) / stepMs },
    (_, index) => chunk.fromMs + index * stepMs,
  );
  return starts.filter((start) => !timesWithData.has(start));
};

/**
 * Returns whether records of a step may still be in transit, because the sinks have not reached its end. A tenant that
 * sends nothing is not waited for long.
 */
const isAwaitingData = async (
  { detector, reader, dueMs }: DetectorContext,
  { toMs, mode }: Chunk,
): Promise<boolean> => {
  const sinceMs = dueMs - toMs - parseDurationMs(detector.delay);
  if (mode !== 'now' || sinceMs > getIngestionWaitMs(parseDurationMs(detector.step))) return false;
  const freshness = await getFreshness(detector.query, reader);
  return 'landedUpTo' in freshness && Date.parse(freshness.landedUpTo) < toMs;
};

/** Queries a range of steps and emits them. Returns the number of points to score. */
const emitChunk = async (
  context: DetectorContext,
  progress: Progress,
  chunk: Chunk,
  emit: Emit,
): Promise<{ readonly next: Progress; readonly points: number }> => {
  const { detector, header, dueMs } = context;
  const { query, context: options } = toQueryRequest(detector, chunk);
  const queryResult = await context.runQuery(query, options);
  const truncation = queryResult.partial.find(({ code }) => code !== 'delay');
  // There are more series than estimated, so fewer steps are queried at once.
  if (truncation !== undefined && progress.series < maxSeries && chunk.toMs - chunk.fromMs > header.stepMs)
    return { next: { ...progress, series: maxSeries }, points: 0 };
  const counts = findCountingMeasures(query, queryResult);
  const gaps = await findGaps(context, chunk, counts);
  const series = toStepValues(detector, queryResult, { ...chunk, counts, gaps });
  const knownSeriesCount = chunk.mode === 'learning' ? Math.max(progress.series, series.length) : series.length;
  const next = { ...progress, upToMs: chunk.toMs, series: knownSeriesCount };
  const error =
    truncation === undefined
      ? ''
      : queryResult.series.length >= maxSeries || truncation.code === 'groups'
        ? `${incompletePrefix}: ${truncation.message}`
        : `the query returned a partial result: ${truncation.message}`;
  const parts = splitIntoParts(series);
  for (const [part, seriesPart] of parts.entries())
    emit.points({
      ...toHeader(header, next, dueMs),
      fromMs: chunk.fromMs,
      toMs: chunk.toMs,
      mode: chunk.mode,
      part,
      isLast: part === parts.length - 1,
      counts,
      gaps,
      error,
      series: seriesPart,
    });
  // Known series that are absent count as 0 and are scored too. Nothing is scored if the query returned nothing.
  const scored = series.length === 0 ? 0 : knownSeriesCount;
  return { next, points: scored * ((chunk.toMs - chunk.fromMs) / header.stepMs) };
};

/** Returns the initial progress of a detector that has not queried yet, or whose query has changed. */
const startProgress = async (context: DetectorContext): Promise<Progress> => {
  const { detector, reader, dueMs } = context;
  const endMs = getLastCompleteStepMs(detector, dueMs);
  const days = Math.min(...getMonitoredSignals(detector).map((signal) => getRetentionDays(reader.plan, signal)));
  const earliestMs = dueMs - days * 24 * hourMs + hourMs;
  const stepMs = parseDurationMs(detector.step);
  const fromMs = Math.max(endMs - probeSteps * stepMs, Math.ceil(earliestMs / stepMs) * stepMs);
  const probe = toQueryRequest(detector, { fromMs: Math.min(fromMs, endMs - stepMs), toMs: endMs });
  const { series } = await context.runQuery(probe.query, probe.context);
  return createProgress(detector, { endMs, series: series.length, retainedFromMs: earliestMs });
};

/** Learns history while the time budget of the organization lasts, then queries the completed steps. */
const advanceDetector = async (
  context: DetectorContext,
  from: Progress,
  emit: Emit,
  save: (progress: Progress) => void,
): Promise<void> => {
  const { detector, dueMs } = context;
  const [stepMs, endMs] = [parseDurationMs(detector.step), getLastCompleteStepMs(detector, dueMs)];
  const { tenantId } = context.reader.columns;
  let progress = from;
  const untilMs = performance.now() + historyRunMs;
  const advance = async (isLearning: boolean): Promise<void> => {
    const budget = isLearning ? learningBudget : watchingBudget;
    // Over budget, a detector that already monitors queries one step per run, and catches up later.
    for (let isFirst = !isLearning; performance.now() < untilMs; isFirst = false) {
      const isWithinBudget = budget.hasRemaining(tenantId, dueMs);
      if (!isWithinBudget && !isFirst) return;
      const chunk = getNextChunk(progress, { stepMs, endMs, nowMs: dueMs, ...(!isWithinBudget && { maxSteps: 1 }) });
      if (chunk === undefined || (chunk.mode === 'learning') !== isLearning || (await isAwaitingData(context, chunk)))
        return;
      const { next, points } = await emitChunk(context, progress, chunk, emit);
      progress = next;
      budget.consume(tenantId, dueMs, points);
      save(progress);
    }
  };
  if (progress.upToMs < progress.liveMs) await backFillQueue.runQueued(tenantId, untilMs, () => advance(true));
  await advance(false);
};

interface DataContext extends Pick<Run<State, typeof emits>, 'tenantId' | 'dueMs' | 'state' | 'emit' | 'ports'> {
  readonly document: StoredDetector & StoredMetadata;
  readonly question: string;
  /** Undefined if the query failed */
  readonly hasData: boolean | undefined;
}

/** Returns whether the detector has had data after a run, and reports it if not. */
const trackData = async ({
  document,
  question,
  hasData,
  tenantId,
  dueMs,
  state,
  emit,
  ports,
}: DataContext): Promise<DataState | undefined> => {
  const before = state?.question === question ? state.data : 'no';
  const after = advanceDataState(before, hasData, isDataOverdue(document.updatedAt, dueMs));
  await storeDataState(ports.documents.forTenant(tenantId), ['anomaly-detector', document.id], {
    before: state?.data,
    after,
  });
  if (after === 'reported' && before === 'no')
    emit.events(createDetectorNoDataEvent(document, { tenantId, atMs: dueMs, question }));
  return after;
};

/** Returns the reason why a query failed, for users. */
const describeError = (error: unknown): string =>
  error instanceof TimeoutError || (error as Error | undefined)?.name === 'TimeoutError'
    ? 'the query timed out'
    : queryErrorMessage(error).slice(0, 4096);

/**
 * Schedule with one unit of work per detector. Progress is saved with the emitted messages, so each step is emitted
 * once.
 */
export const anomalyPoints = defineSchedule({
  name: 'anomaly-points',
  summary: 'Queries the steps of the series that detectors watch.',
  entitlement: 'ai',
  collection: anomalyDetectors,
  // Detectors with long steps learn history between steps, and a disabled detector ends its anomalies soon.
  everyMs: ({ step }) => getEvaluationIntervalMs(parseDurationMs(step)),
  batchMs: 5000,
  missed: 'skip',
  state: { version: 1, schema: z.custom<State>(), empty: (): State => null },
  emits,
  // Their queries wait in a queue.
  concurrency: { total: 1000, perTenant: 200 },
  budgetMs: 55_000,
  async run(document, { tenantId, dueMs, state, emit, signal, ports }) {
    if (!document.enabled) {
      if (state === null) return null;
      emit.points(endMessage(state, dueMs));
      await deleteEmptyResult(ports.documents.forTenant(tenantId), 'anomaly-detector', document.id);
      return null;
    }
    const detector = parseStoredDetector(document);
    if (detector === undefined)
      throw new Error(
        `the format of the detector ${document.id}, version ${document.queryVersion}, is not supported here`,
      );
    const reader = await openTenantReader(ports, tenantId, Math.max(dueMs, Date.now()));
    if (reader === undefined) return state;
    const batcher = getDetectorBatcher(ports.columns, tenantId);
    const header = createHeader(tenantId, document.id, detector);
    const context: DetectorContext = {
      detector,
      header,
      reader,
      dueMs,
      signal,
      runQuery: (query, options) =>
        batcher.run(query, reader, options, {
          signal: AbortSignal.any([signal, AbortSignal.timeout(queryTimeoutMs)]),
          dueMs,
        }),
    };
    let progress: Progress | null = state?.question === header.question ? state : null;
    let hasData: boolean | undefined;
    const save = (next: Progress): void => {
      progress = next;
      hasData = hasData === true || next.series > 0;
    };
    try {
      if (progress === null) save(await startProgress(context));
      if (progress !== null) await advanceDetector(context, progress, emit, save);
    } catch (error) {
      signal.throwIfAborted();
      if (hasData === false) hasData = undefined;
      const lastProgress = progress ?? { question: header.question, learntFromMs: 0, liveMs: 0, upToMs: 0, series: 0 };
      emit.points({
        ...toHeader(header, lastProgress, dueMs),
        fromMs: lastProgress.upToMs,
        toMs: lastProgress.upToMs,
        mode: 'now',
        part: 0,
        isLast: true,
        counts: [],
        gaps: [],
        error: describeError(error),
        series: [],
      });
    }
    if (progress === null) return state;
    const { question } = header;
    const data = await trackData({ document, question, hasData, tenantId, dueMs, state, emit, ports });
    return { ...(progress satisfies Progress), head: header, ...(data !== undefined && { data }) };
  },
  async removed({ state, nowMs, emit }) {
    if (state !== null) emit.points(endMessage(state, nowMs));
  },
});
