/** A detector with very many series does not delay another organization, and dropped series are reported. */
import { splitIntoParts } from '../../runtime/message-parts.ts';
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
  getNextChunk,
  maxPointsPerWindow,
  windowMs,
} from '../../subjects/anomalies/detector-progress.ts';
import { TaskRun } from './run-task.ts';

const stepMs = 60_000;
const startMs = Date.UTC(2026, 0, 5);

/** Creates the messages of one step of a detector with the given number of series. */
const createStepMessages = (tenantId: string, count: number, step: number): AnomalyPoints[] => {
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

const listScores = (run: TaskRun, tenantId: string): readonly AnomalyScores[] =>
  run.emitted<AnomalyScores>(topics.anomalyScores).filter((scores) => scores.tenantId === tenantId);

test('series of one organization are scored independently of another organization, and series above the limit are reported', (t) => {
  const [shared, isolated] = [new TaskRun(anomalyScores), new TaskRun(anomalyScores)];
  for (const step of [0, 1]) {
    for (const points of createStepMessages('many', maxSeries + 3, step)) shared.values([points], { tenantId: 'many' });
    for (const run of [shared, isolated])
      for (const points of createStepMessages('few', 2, step)) run.values([points], { tenantId: 'few' });
  }
  t.is(listScores(shared, 'few').length, 2);
  t.deepEqual(listScores(shared, 'few'), listScores(isolated, 'few'));
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
  const startedTenants: string[] = [];
  const releases: (() => void)[] = [];
  const enqueue = (tenantId: string, count: number): void => {
    for (let index = 0; index < count; index++)
      void queue.acquire(tenantId).then((release) => {
        startedTenants.push(tenantId);
        releases.push(release);
      });
  };
  const flushPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  enqueue('many', 200);
  enqueue('few', 1);
  await flushPromises();
  t.deepEqual(startedTenants, ['many', 'few'], 'one query per organization is running');
  releases.pop()?.();
  // With two large organizations, a third waits only for the running statements and one more of each.
  enqueue('more', 200);
  await flushPromises();
  enqueue('few', 1);
  while (startedTenants.filter((tenantId) => tenantId === 'few').length < 2) {
    releases.shift()?.();
    await flushPromises();
  }
  t.true(startedTenants.length <= 6, startedTenants.join());
});

test('each organization has a fixed number of points scored per 30 seconds, independent of other organizations', (t) => {
  const budget = new PointBudget();
  const countEvaluations = (tenantId: string, nowMs: number): number => {
    let evaluations = 0;
    for (; budget.hasRemaining(tenantId, nowMs); evaluations++) budget.consume(tenantId, nowMs, 50_000);
    return evaluations;
  };
  t.is(countEvaluations('many', startMs), maxPointsPerWindow / 50_000);
  t.is(countEvaluations('many', startMs + windowMs - 1), 0);
  t.is(countEvaluations('few', startMs), maxPointsPerWindow / 50_000);
  t.is(countEvaluations('many', startMs + windowMs), maxPointsPerWindow / 50_000);
  t.is(estimateLearningMs(700 * stepMs, stepMs, maxSeries), 35 * windowMs);
});

test('a detector over its point budget gets one step per poll: it does not fall behind, and catches up later', (t) => {
  const countChunkSteps = (maxSteps?: number) => {
    const progress = { question: 'q', learntFromMs: 0, liveMs: 0, upToMs: startMs, series: 100 };
    const endMs = startMs + 60 * stepMs;
    const chunk = getNextChunk(progress, { stepMs, endMs, nowMs: endMs, ...(maxSteps !== undefined && { maxSteps }) });
    return ((chunk?.toMs ?? 0) - startMs) / stepMs;
  };
  t.is(countChunkSteps(), 60);
  t.is(countChunkSteps(1), 1);
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
