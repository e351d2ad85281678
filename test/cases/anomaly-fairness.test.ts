/** Detectors of one organization with very many series do not delay those of another, and what is cut is told. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { detectorLimits } from '../../processors/anomaly-scores/anomaly-points.ts';
import { anomalyScores } from '../../processors/anomaly-scores/anomaly-scores.ts';
import { PointBudget } from '../../processors/anomaly-scores/point-budget.ts';
import { ThreadShares } from '../../processors/engine/shares.ts';
import { FairQueue } from '../../queries/limits/fair-queue.ts';
import { type AnomalyEvaluation, type AnomalyPoints, type AnomalyScores, maxSeries } from '../../schemas/anomalies.ts';
import { topics } from '../../schemas/topics.ts';
import {
  estimateLearningMs,
  maxPointsPerWindow,
  nextChunk,
  splitIntoParts,
  windowMs,
} from '../../subjects/anomalies/read-points.ts';
import { TaskRun } from './run-task.ts';

const stepMs = 60_000;
const startMs = Date.UTC(2026, 0, 5);

/** One step of a detector with so many series, in the messages that it comes in. */
const stepOf = (tenantId: string, count: number, step: number): AnomalyPoints[] => {
  const parts = splitIntoParts(
    Array.from({ length: count }, (_, index) => ({
      name: 'count',
      unit: '{record}',
      labels: { service: `s${index}` },
      values: [100 + ((7 * index + step) % 5)],
    })),
  );
  return parts.map((series, part) => ({
    tenantId,
    detectorId: `of-${tenantId}`,
    question: 'q',
    stepMs,
    detector: {
      name: 'Records',
      projectId: '',
      labels: {},
      direction: 'both',
      leastChange: 0,
      falseAlarmsPerWeek: 1,
      signals: ['logs'],
    },
    fromMs: startMs + step * stepMs,
    toMs: startMs + (step + 1) * stepMs,
    lookMs: startMs + (step + 2) * stepMs,
    mode: 'now',
    part,
    isLast: part === parts.length - 1,
    counts: ['count'],
    gaps: [],
    learntFromMs: startMs,
    learnsUntilMs: null,
    seriesCount: count,
    error: '',
    series,
  }));
};

const scoresOf = (run: TaskRun, tenantId: string): readonly AnomalyScores[] =>
  run.emitted<AnomalyScores>(topics.anomalyScores).filter((each) => each.tenantId === tenantId);

test('series of one organization are scored independently of another organization, and series above the limit are reported', (t) => {
  const [shared, alone] = [new TaskRun(anomalyScores), new TaskRun(anomalyScores)];
  for (const step of [0, 1]) {
    for (const points of stepOf('many', maxSeries + 3, step)) shared.values([points], { tenantId: 'many' });
    for (const run of [shared, alone])
      for (const points of stepOf('few', 2, step)) run.values([points], { tenantId: 'few' });
  }
  t.is(scoresOf(shared, 'few').length, 2);
  t.deepEqual(scoresOf(shared, 'few'), scoresOf(alone, 'few'));
  const evaluations = shared.emitted<AnomalyEvaluation>(topics.anomalyEvaluations);
  t.deepEqual(
    evaluations.map(({ tenantId, series, refused }) => [tenantId, series, refused]),
    [
      ['many', maxSeries, 3],
      ['few', 2, 0],
      ['many', maxSeries, 3],
      ['few', 2, 0],
    ],
  );
});

test('a query of a detector does not wait for hundreds of queries of another organization', async (t) => {
  const queue = new FairQueue({ ...detectorLimits, maxWaitingPerTenant: Number.POSITIVE_INFINITY });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const enqueue = (tenantId: string, count: number): void => {
    for (let each = 0; each < count; each++)
      void queue.acquire(tenantId).then((end) => {
        begun.push(tenantId);
        ends.push(end);
      });
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  enqueue('many', 200);
  enqueue('few', 1);
  await settled();
  t.deepEqual(begun, ['many', 'few'], 'each has one under way');
  ends.pop()?.();
  // With two of them, a third waits for no more than what is under way and one statement of each.
  enqueue('more', 200);
  await settled();
  enqueue('few', 1);
  while (begun.filter((each) => each === 'few').length < 2) {
    ends.shift()?.();
    await settled();
  }
  t.true(begun.length <= 6, begun.join());
});

test('each organization has a fixed number of points scored per 30 seconds, independent of other organizations', (t) => {
  const budget = new PointBudget();
  const evaluationsOf = (tenantId: string, nowMs: number): number => {
    let evaluations = 0;
    for (; budget.hasRemaining(tenantId, nowMs); evaluations++) budget.consume(tenantId, nowMs, 50_000);
    return evaluations;
  };
  t.is(evaluationsOf('many', startMs), maxPointsPerWindow / 50_000);
  t.is(evaluationsOf('many', startMs + windowMs - 1), 0);
  t.is(evaluationsOf('few', startMs), maxPointsPerWindow / 50_000);
  t.is(evaluationsOf('many', startMs + windowMs), maxPointsPerWindow / 50_000);
  t.is(estimateLearningMs(700 * stepMs, stepMs, maxSeries), 35 * windowMs);
});

test('a detector over its point budget gets one step per poll: it does not fall behind, and catches up later', (t) => {
  const chunkSteps = (maxSteps?: number) => {
    const progress = { question: 'q', learntFromMs: 0, liveMs: 0, upToMs: startMs, series: 100 };
    const endMs = startMs + 60 * stepMs;
    const chunk = nextChunk(progress, { stepMs, endMs, nowMs: endMs, ...(maxSteps !== undefined && { maxSteps }) });
    return ((chunk?.toMs ?? 0) - startMs) / stepMs;
  };
  t.is(chunkSteps(), 60);
  t.is(chunkSteps(1), 1);
});

test('no step is skipped because of scoring time, so no step is emitted again', (t) => {
  const shares = new ThreadShares();
  const { name, limits } = anomalyScores;
  for (let second = 0; second < 70; second++) {
    shares.add(name, 'many', 900, second * 1_000);
    shares.add(name, 'few', 50, second * 1_000);
  }
  t.false(shares.isOver(name, 'many', limits.threadShare));
});
