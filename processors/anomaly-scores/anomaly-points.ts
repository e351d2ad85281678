/**
 * Queries the steps of the series that detectors watch: the learning history first, then each step once it is complete.
 */
import { z } from 'zod';
import type { Answer } from '../../queries/answer.ts';
import { freshnessOf } from '../../queries/freshness.ts';
import type { QueryReading } from '../../queries/promql/reading.ts';
import type { Query } from '../../queries/query.ts';
import { retentionDaysOf } from '../../queries/range.ts';
import { TimeoutError } from '../../runtime/timeout.ts';
import { type AnomalyPoints, maxSeries } from '../../schemas/anomalies.ts';
import { anomalyDetectors } from '../../schemas/resources/anomaly-detector.ts';
import { topics } from '../../schemas/topics.ts';
import { msOf } from '../../subjects/alerts/durations.ts';
import { messageOf } from '../../subjects/alerts/run-query.ts';
import { type DetectorFields, readDetector, signalsWatched } from '../../subjects/anomalies/detector.ts';
import {
  beginning,
  type Chunk,
  completeAt,
  countsOf,
  evaluationIntervalMs,
  inParts,
  landingWaitMs,
  nextChunk,
  notAll,
  type Progress,
  questionOf,
  toQueryRequest,
  valuesOf,
} from '../../subjects/anomalies/read-points.ts';
import { openQueuedAnswers } from '../alerts/rule-answers.ts';
import { defineSchedule, type Run } from '../engine/schedule.ts';
import { tenantReading } from '../engine/tenant-reading.ts';
import { BackFills } from '../slos/back-fills.ts';
import { PointBudget } from './point-budget.ts';

/**
 * State saved for a detector: its query progress and the header of its messages, so that it can end after the detector
 * is deleted.
 */
interface SavedProgress extends Progress {
  readonly head: Head;
}
type Head = Pick<AnomalyPoints, 'tenantId' | 'detectorId' | 'detector' | 'question' | 'stepMs'>;
type State = SavedProgress | null;

const emits = { points: topics.anomalyPoints };
type Emit = Run<State, typeof emits>['emit'];

/**
 * Slots for detector queries. They are separate, so that neither alerts nor people wait for detectors; each
 * organization has one statement at a time.
 */
export const detectorLimits = { slots: 2, slotsPerTenant: 1 } as const;
const detectorAnswers = openQueuedAnswers(detectorLimits);
const histories = new BackFills();
const learning = new PointBudget();
const watching = new PointBudget();
/** Timeout of one query, and time budget for the history of a run. */
const answerMs = 25_000;
const historyRunMs = 15_000;
const hourMs = 3_600_000;
/** Number of recent steps queried to count the series before the history is queried. */
const probeSteps = 20;

interface DetectorContext {
  readonly detector: DetectorFields;
  readonly head: Head;
  readonly reading: QueryReading;
  readonly dueMs: number;
  readonly signal: AbortSignal;
  runQuery(query: Query, options: ReturnType<typeof toQueryRequest>['context']): Promise<Answer>;
}

const headOf = (tenantId: string, detectorId: string, detector: DetectorFields): Head => ({
  tenantId,
  detectorId,
  question: questionOf(detector),
  stepMs: msOf(detector.step),
  detector: {
    name: detector.name,
    projectId: detector.projectId ?? '',
    labels: detector.labels,
    direction: detector.direction,
    leastChange: detector.minChange,
    falseAlarmsPerWeek: detector.falseAlarmsPerWeek,
    signals: [...signalsWatched(detector)],
  },
});

/** Builds the part of every message of a run that is not about its steps. */
const toHeader = (
  head: Head,
  { learntFromMs: trainedFromMs, liveMs, series, upToMs }: Progress,
  checkedAtMs: number,
) => ({
  ...head,
  lookMs: checkedAtMs,
  learntFromMs: trainedFromMs,
  learnsUntilMs: upToMs < liveMs ? liveMs : null,
  seriesCount: series,
});

const ended = (progress: SavedProgress, checkedAtMs: number): AnomalyPoints => ({
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
 * Returns steps in which nothing at all was received of the telemetry signal. A source or pipeline was down then, so
 * absent groups cannot be counted as 0.
 */
const gapsIn = async (
  { detector, runQuery }: DetectorContext,
  chunk: Chunk,
  counts: readonly string[],
): Promise<number[]> => {
  const { query, step } = detector;
  if (counts.length === 0 || chunk.mode === 'learning' || !('measures' in query)) return [];
  const all: Query = {
    kind: 'aggregate',
    signal: query.signal,
    measures: [{ function: 'count' }],
    groupBy: [],
    limit: 1,
  };
  const request = toQueryRequest({ query: all, step }, chunk);
  const { series } = await runQuery(request.query, request.context);
  const some = new Set(series.flatMap(({ points }) => points.flatMap(([at, value]) => (value ? [at] : []))));
  const stepMs = msOf(step);
  const starts = Array.from(
    { length: (chunk.toMs - chunk.fromMs) / stepMs },
    (_, index) => chunk.fromMs + index * stepMs,
  );
  return starts.filter((start) => !some.has(start));
};

/**
 * Returns whether records of a step may still be in transit, because the sinks have not reached its end. A tenant that
 * sends nothing is not waited for long.
 */
const isOnItsWay = async ({ detector, reading, dueMs }: DetectorContext, { toMs, mode }: Chunk): Promise<boolean> => {
  const sinceMs = dueMs - toMs - msOf(detector.delay);
  if (mode !== 'now' || sinceMs > landingWaitMs(msOf(detector.step))) return false;
  const freshness = await freshnessOf(detector.query, reading);
  return 'landedUpTo' in freshness && Date.parse(freshness.landedUpTo) < toMs;
};

/** Queries a range of steps and emits them. Returns the number of points to score. */
const emitChunk = async (
  context: DetectorContext,
  progress: Progress,
  chunk: Chunk,
  emit: Emit,
): Promise<{ readonly next: Progress; readonly points: number }> => {
  const { detector, head, dueMs } = context;
  const { query, context: options } = toQueryRequest(detector, chunk);
  const answer = await context.runQuery(query, options);
  const cut = answer.partial.find(({ code }) => code !== 'delay');
  // There are more series than estimated, so fewer steps are queried at once.
  if (cut !== undefined && progress.series < maxSeries && chunk.toMs - chunk.fromMs > head.stepMs)
    return { next: { ...progress, series: maxSeries }, points: 0 };
  const counts = countsOf(query, answer);
  const gaps = await gapsIn(context, chunk, counts);
  const series = valuesOf(detector, answer, { ...chunk, counts, gaps });
  const known = chunk.mode === 'learning' ? Math.max(progress.series, series.length) : series.length;
  const next = { ...progress, upToMs: chunk.toMs, series: known };
  const error =
    cut === undefined
      ? ''
      : answer.series.length >= maxSeries || cut.code === 'groups'
        ? `${notAll}: ${cut.message}`
        : `the query was answered in part: ${cut.message}`;
  const parts = inParts(series);
  for (const [part, own] of parts.entries())
    emit.points({
      ...toHeader(head, next, dueMs),
      fromMs: chunk.fromMs,
      toMs: chunk.toMs,
      mode: chunk.mode,
      part,
      isLast: part === parts.length - 1,
      counts,
      gaps,
      error,
      series: own,
    });
  // Known series that are absent count as 0 and are scored too. Nothing is scored if the query returned nothing.
  const scored = series.length === 0 ? 0 : known;
  return { next, points: scored * ((chunk.toMs - chunk.fromMs) / head.stepMs) };
};

/** Returns the initial progress of a detector that has not queried yet, or whose query has changed. */
const begun = async (context: DetectorContext): Promise<Progress> => {
  const { detector, reading, dueMs } = context;
  const endMs = completeAt(detector, dueMs);
  const days = Math.min(...signalsWatched(detector).map((each) => retentionDaysOf(reading.plan, each)));
  const earliestMs = dueMs - days * 24 * hourMs + hourMs;
  const stepMs = msOf(detector.step);
  const fromMs = Math.max(endMs - probeSteps * stepMs, Math.ceil(earliestMs / stepMs) * stepMs);
  const probe = toQueryRequest(detector, { fromMs: Math.min(fromMs, endMs - stepMs), toMs: endMs });
  const { series } = await context.runQuery(probe.query, probe.context);
  return beginning(detector, { endMs, series: series.length, retainedFromMs: earliestMs });
};

/** Learns history while the time budget of the organization lasts, then queries the completed steps. */
const advanceDetector = async (
  context: DetectorContext,
  from: Progress,
  emit: Emit,
  save: (progress: Progress) => void,
): Promise<void> => {
  const { detector, dueMs } = context;
  const [stepMs, endMs] = [msOf(detector.step), completeAt(detector, dueMs)];
  const { tenantId } = context.reading.columns;
  let progress = from;
  const untilMs = performance.now() + historyRunMs;
  const advance = async (learns: boolean): Promise<void> => {
    const budget = learns ? learning : watching;
    // Over budget, a detector that watches processes one step per run; it catches up later.
    for (let isFirst = !learns; performance.now() < untilMs; isFirst = false) {
      const isWithin = budget.has(tenantId, dueMs);
      if (!isWithin && !isFirst) return;
      const chunk = nextChunk(progress, { stepMs, endMs, nowMs: dueMs, ...(!isWithin && { maxSteps: 1 }) });
      if (chunk === undefined || (chunk.mode === 'learning') !== learns || (await isOnItsWay(context, chunk))) return;
      const { next, points } = await emitChunk(context, progress, chunk, emit);
      progress = next;
      budget.consume(tenantId, dueMs, points);
      save(progress);
    }
  };
  if (progress.upToMs < progress.liveMs) await histories.runQueued(tenantId, untilMs, () => advance(true));
  await advance(false);
};

/** Returns why a query failed, as text for people. */
const errorOf = (error: unknown): string =>
  error instanceof TimeoutError || (error as Error | undefined)?.name === 'TimeoutError'
    ? 'the query timed out'
    : messageOf(error).slice(0, 4096);

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
  everyMs: ({ step }) => evaluationIntervalMs(msOf(step)),
  batchMs: 5000,
  missed: 'skip',
  state: { version: 1, schema: z.custom<State>(), empty: (): State => null },
  emits,
  // Their queries wait in a queue.
  atOnce: { total: 1000, perTenant: 200 },
  budgetMs: 55_000,
  async run(document, { tenantId, dueMs, state, emit, signal, ports }) {
    if (!document.enabled) {
      if (state !== null) emit.points(ended(state, dueMs));
      return null;
    }
    const detector = readDetector(document);
    if (detector === undefined)
      throw new Error(
        `the format of the detector ${document.id}, version ${document.queryVersion}, is not supported here`,
      );
    const reading = await tenantReading(ports, tenantId, Math.max(dueMs, Date.now()));
    if (reading === undefined) return state;
    const answers = detectorAnswers(ports.columns, tenantId);
    const head = headOf(tenantId, document.id, detector);
    const context: DetectorContext = {
      detector,
      head,
      reading,
      dueMs,
      signal,
      runQuery: (query, options) =>
        answers.run(query, reading, options, {
          signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
          dueMs,
        }),
    };
    let progress: Progress | null = state?.question === head.question ? state : null;
    try {
      progress ??= await begun(context);
      await advanceDetector(context, progress, emit, (next) => {
        progress = next;
      });
    } catch (error) {
      signal.throwIfAborted();
      const known = progress ?? { question: head.question, learntFromMs: 0, liveMs: 0, upToMs: 0, series: 0 };
      emit.points({
        ...toHeader(head, known, dueMs),
        fromMs: known.upToMs,
        toMs: known.upToMs,
        mode: 'now',
        part: 0,
        isLast: true,
        counts: [],
        gaps: [],
        error: errorOf(error),
        series: [],
      });
    }
    return progress === null ? state : { ...(progress satisfies Progress), head };
  },
  async removed({ state, nowMs, emit }) {
    if (state !== null) emit.points(ended(state, nowMs));
  },
});
