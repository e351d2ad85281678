import { computeHashId } from '../../runtime/hash-id.ts';
import {
  type AnomalyChange,
  type AnomalyEvaluation,
  type AnomalyPoints,
  type AnomalyScores,
  maxSeries,
  maxSeriesTotal,
} from '../../schemas/anomalies.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { anomalyFeedback, buildFeedbackId } from '../../schemas/resources/anomaly-feedback.ts';
import { topics } from '../../schemas/topics.ts';
import { toPlatformEvent } from '../../subjects/anomalies/anomaly-event.ts';
import { advanceEpisode, type Change, type Episode } from '../../subjects/anomalies/episodes.ts';
import { computeAdjustments } from '../../subjects/anomalies/feedback.ts';
import { getSignDirection } from '../../subjects/anomalies/scores/anomaly-text.ts';
import { getLearningTimeMs, isLearning, type Point, scoreSeries } from '../../subjects/anomalies/scores/scorer.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import {
  type WatchedDetector,
  type WatchedDetectors,
  type WatchedSeries,
  watchedDetectors,
} from './watched-detectors.ts';

const dayMs = 86_400_000;
/** Time without data after which the anomaly of a series ends and the series is forgotten. */
const maxSilenceMs = dayMs;
const forgetAfterMs = 14 * dayMs;

const emits = {
  scores: topics.anomalyScores,
  changes: topics.anomalies,
  checks: topics.anomalyEvaluations,
  events: topics.events,
};
const follows = { feedback: anomalyFeedback };
type StepContext = Context<typeof emits, typeof follows, WatchedDetectors>;
type Scores = AnomalyScores['series'][number]['points'];

/** Returns the key of a series, from its name and labels. */
export const computeSeriesKey = ({ name, labels }: Pick<WatchedSeries, 'name' | 'labels'>): string =>
  computeHashId(
    name,
    Object.entries(labels).toSorted(([left], [right]) => (left < right ? -1 : 1)),
  ).slice(0, 16);

const emitChange = (
  points: AnomalyPoints,
  key: string,
  { name, unit, labels }: WatchedSeries,
  {
    episode,
    change,
    atMs,
    why: reason = '',
  }: { episode: Episode; change: Change; atMs: number; why?: AnomalyChange['why'] },
  emit: StepContext['emit'],
): void => {
  const { detector, detectorId, tenantId, stepMs } = points;
  const { beginMs, peak, score, sign, before, told: reportedCount } = episode;
  const anomalyChange: AnomalyChange = {
    tenantId,
    projectId: detector.projectId,
    change,
    detectorId,
    stepMs,
    key,
    name,
    unit,
    sign,
    why: reason,
    detectorName: detector.name,
    detectorLabels: detector.labels,
    signals: detector.signals,
    id: `${detectorId}.${key}.${beginMs.toString(36)}`,
    number: change === 'end' ? reportedCount + 1 : reportedCount,
    labels: { ...labels },
    direction: getSignDirection(sign),
    atMs,
    beginMs,
    endMs: change === 'end' ? atMs : null,
    score,
    before,
    peakMs: peak.timeMs,
    value: peak.value,
    expected: peak.expected,
    low: peak.low,
    high: peak.high,
  };
  emit.changes(anomalyChange);
  emit.events(toPlatformEvent(anomalyChange));
};

/** Ends the anomaly of a series, if there is one, for a reason other than its points. */
const endAnomaly = (
  points: AnomalyPoints,
  key: string,
  series: WatchedSeries,
  reason: AnomalyChange['why'],
  emit: StepContext['emit'],
): void => {
  const { episode } = series;
  series.episode = undefined;
  if (episode === undefined || episode.told === 0) return;
  emitChange(
    points,
    key,
    series,
    { episode, change: 'end', atMs: Math.max(series.upToMs, points.toMs), why: reason },
    emit,
  );
};

/** Scores the points of a series in order, and emits changes of its anomaly. */
const scorePoints = (
  points: AnomalyPoints,
  key: string,
  series: WatchedSeries,
  values: readonly Point[],
  allowedPerWeek: number,
  { emit, follows: { feedback } }: StepContext,
): Scores => {
  const { mode, detector } = points;
  const { minChange: min, factor } = computeAdjustments(feedback.get(buildFeedbackId(points.detectorId, key)));
  const falseAlarmsPerWeek = allowedPerWeek * Math.max(factor.up, factor.down, factor.other);
  const { state, scored: scores } = scoreSeries(values, { falseAlarmsPerWeek }, series.scorerState);
  series.scorerState = state;
  const options = {
    mode,
    direction: detector.direction,
    minChange: {
      up: Math.max(detector.leastChange, min.up),
      down: Math.max(detector.leastChange, min.down),
      other: Math.max(detector.leastChange, min.other),
    },
    allowedPerWeek: {
      up: allowedPerWeek * factor.up,
      down: allowedPerWeek * factor.down,
      other: allowedPerWeek * factor.other,
    },
  };
  const rows: Scores = [];
  for (const [index, pointScore] of scores.entries()) {
    const value = values[index]?.[1] ?? null;
    if (value === null) continue;
    const previousEpisode = series.episode;
    const { episode, change } = advanceEpisode(previousEpisode, pointScore, value, options);
    series.episode = episode;
    const reportedEpisode = change === 'end' ? previousEpisode : episode;
    if (change !== undefined && reportedEpisode !== undefined)
      emitChange(points, key, series, { episode: reportedEpisode, change, atMs: pointScore.timeMs }, emit);
    rows.push([
      pointScore.timeMs,
      value,
      pointScore.expected,
      pointScore.low,
      pointScore.high,
      pointScore.score,
      (episode?.told ?? 0) > 0,
    ]);
  }
  return rows;
};

/** Returns points for the steps of a series that a query result omits: 0 for a count, null for gaps in the data. */
const absentPoints = (
  { fromMs, toMs, stepMs, counts, gaps }: AnomalyPoints,
  { name, upToMs }: WatchedSeries,
): Point[] => {
  if (!counts.includes(name)) return [];
  const unknown = new Set(gaps);
  const firstMs = Math.max(fromMs, upToMs);
  return Array.from({ length: (toMs - firstMs) / stepMs }, (_, index): Point => {
    const timeMs = firstMs + index * stepMs;
    return [timeMs, unknown.has(timeMs) ? null : 0];
  });
};

/**
 * Handles known series that are absent from the query result: a count without records is 0, and a series without data
 * for a long time is forgotten.
 */
const handleAbsentSeries = (
  points: AnomalyPoints,
  watched: WatchedDetector,
  allowedPerWeek: number,
  context: StepContext,
): AnomalyScores['series'] => {
  const { toMs } = points;
  const rows: AnomalyScores['series'] = [];
  for (const [key, series] of watched.series) {
    if (series.upToMs >= toMs) continue;
    const zeros = absentPoints(points, series);
    rows.push({ key, points: scorePoints(points, key, series, zeros, allowedPerWeek, context) });
    series.upToMs = toMs;
    const silentMs = toMs - series.seenMs;
    if (silentMs > (zeros.length > 0 ? forgetAfterMs : maxSilenceMs))
      endAnomaly(points, key, series, 'gone', context.emit);
    if (silentMs > forgetAfterMs) context.state.removeSeries(watched, key);
  }
  return rows;
};

const toEvaluation = (points: AnomalyPoints, watched: WatchedDetector): AnomalyEvaluation => {
  const {
    tenantId,
    detectorId,
    question,
    lookMs: checkedAtMs,
    stepMs,
    learnsUntilMs,
    learntFromMs: trainedFromMs,
    error,
  } = points;
  let [learning, open, scoredFromMs] = [0, 0, Number.POSITIVE_INFINITY];
  for (const series of watched.series.values()) {
    series.isScored ||= !isLearning(series.scorerState);
    if (!series.isScored) {
      learning++;
      scoredFromMs = Math.min(scoredFromMs, series.firstMs + getLearningTimeMs(stepMs));
    }
    if ((series.episode?.told ?? 0) > 0) open++;
  }
  const isSilent = learning > 0 && learning === watched.series.size;
  return {
    tenantId,
    detectorId,
    question,
    lookMs: checkedAtMs,
    stepMs,
    learnsUntilMs,
    learntFromMs: trainedFromMs,
    error,
    open,
    learning,
    number: watched.evaluationCount,
    upToMs: points.toMs,
    watchedFromMs: watched.watchedFromMs,
    series: watched.series.size,
    speaksFromMs: isSilent ? scoredFromMs : null,
    refused: watched.unmonitoredCount,
  };
};

const createWatchedDetector = (queryHash: string): WatchedDetector => ({
  queryHash,
  watchedFromMs: null,
  evaluationCount: 0,
  unmonitoredCount: 0,
  series: new Map(),
});

/** Returns the detector of the points. State that was learned with another query is discarded. */
const openDetector = (points: AnomalyPoints, { state, emit }: StepContext): WatchedDetector => {
  const existing = state.detectors.get(points.detectorId);
  if (existing?.queryHash === points.question) return existing;
  const created = createWatchedDetector(points.question);
  if (existing !== undefined) {
    for (const [key, series] of existing.series) endAnomaly(points, key, series, 'changed', emit);
    state.removeDetector(points.detectorId);
    created.evaluationCount = existing.evaluationCount;
  }
  state.detectors.set(points.detectorId, created);
  return created;
};

/** Returns the start of a new series. A count starts at its first record, so earlier steps are not scored as 0. */
const seriesStart = (
  { fromMs, stepMs, counts }: AnomalyPoints,
  { name, values }: AnomalyPoints['series'][number],
): number => {
  const isCount = counts.includes(name);
  const first = values.findIndex((value) => value !== null && !(isCount && value === 0));
  return fromMs + stepMs * (first < 0 ? values.length : first);
};

const addSeries = (
  watched: WatchedDetector,
  key: string,
  receivedSeries: AnomalyPoints['series'][number],
  points: AnomalyPoints,
  state: WatchedDetectors,
): WatchedSeries | undefined => {
  if (watched.series.size >= maxSeries || state.series >= maxSeriesTotal) {
    watched.unmonitoredCount++;
    return undefined;
  }
  const [{ name, unit, labels }, firstMs] = [receivedSeries, seriesStart(points, receivedSeries)];
  const series: WatchedSeries = {
    name,
    unit,
    labels,
    upToMs: firstMs,
    seenMs: firstMs,
    firstMs,
    isScored: false,
    episode: undefined,
    scorerState: new Uint8Array(),
  };
  state.add(watched, key, series);
  return series;
};

const endDetector = (points: AnomalyPoints, { state, emit }: StepContext): void => {
  const watched = state.detectors.get(points.detectorId);
  if (watched === undefined) return;
  for (const [key, series] of watched.series) endAnomaly(points, key, series, 'over', emit);
  state.removeDetector(points.detectorId);
};

/** Scores each step of each series that a detector monitors, and emits its anomalies. */
export const anomalyScores = defineProcessor({
  name: 'anomaly-scores',
  summary: 'Scores the series that detectors watch, and reports anomalies that begin, worsen and end.',
  reads: createItemSource(topics.anomalyPoints),
  emits,
  follows,
  entitlement: 'ai',
  state: watchedDetectors,
  // Enough for 30,000 series. A skipped step is never emitted again; the number of points is bounded where they are
  // queried (`anomaly-points.ts`).
  limits: { stateBytes: 96 * 1024 * 1024, threadShare: Number.POSITIVE_INFINITY },

  step(points, context) {
    const { emit, state } = context;
    if (points.mode === 'over') return endDetector(points, context);
    const watched = openDetector(points, context);
    if (points.part === 0) watched.unmonitoredCount = 0;
    if (points.mode !== 'learning' && points.error === '') watched.watchedFromMs ??= points.fromMs;
    const allowedPerWeek = points.detector.falseAlarmsPerWeek / Math.max(1, points.seriesCount, watched.series.size);
    const rows: AnomalyScores['series'] = [];
    for (const receivedSeries of points.series) {
      const key = computeSeriesKey(receivedSeries);
      const series = watched.series.get(key) ?? addSeries(watched, key, receivedSeries, points, state);
      if (series === undefined) continue;
      // Steps that were queried again are skipped.
      const values = receivedSeries.values.flatMap((value, index): Point[] => {
        const timeMs = points.fromMs + index * points.stepMs;
        return timeMs >= series.upToMs ? [[timeMs, value]] : [];
      });
      if (values.some(([, value]) => value !== null)) series.seenMs = points.toMs;
      rows.push({ key, points: scorePoints(points, key, series, values, allowedPerWeek, context) });
      series.upToMs = Math.max(series.upToMs, points.toMs);
    }
    if (points.isLast && points.toMs > points.fromMs)
      rows.push(...handleAbsentSeries(points, watched, allowedPerWeek, context));
    const rowsWithPoints = rows.filter((row) => row.points.length > 0);
    if (points.mode !== 'learning') emitScores(points, rowsWithPoints, emit);
    if (!points.isLast) return;
    watched.evaluationCount++;
    emit.checks(toEvaluation(points, watched));
  },
});

/** Maximum number of rows in one value, because a message holds at most one megabyte. */
const maxRowsPerValue = 2000;

const emitScores = (
  { tenantId, detectorId }: AnomalyPoints,
  rows: AnomalyScores['series'],
  emit: StepContext['emit'],
): void => {
  let part: AnomalyScores['series'] = [];
  let count = 0;
  const flush = (): void => {
    if (part.length > 0) emit.scores({ tenantId, detectorId, series: part });
    part = [];
    count = 0;
  };
  for (const row of rows) {
    for (let from = 0; from < row.points.length; from += maxRowsPerValue) {
      const points = row.points.slice(from, from + maxRowsPerValue);
      if (count + points.length > maxRowsPerValue) flush();
      part.push({ key: row.key, points });
      count += points.length;
    }
  }
  flush();
};
