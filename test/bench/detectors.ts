/**
 * The cost of one step of a detector with very many series, without its query: from query results to published scores.
 * Points are encoded as messages, read, scored and published. Also measures the size of the state in a snapshot.
 *
 *     node bin/node.mjs test/bench/detectors.ts [series] [steps]
 */
import '../../subjects/query-kinds.ts';
import { anomalyScores } from '../../processors/anomaly-scores/anomaly-scores.ts';
import { splitIntoParts } from '../../runtime/message-parts.ts';
import type { AnomalyPoints, AnomalyScores } from '../../schemas/anomalies.ts';
import { topics } from '../../schemas/topics.ts';
import { randomOf } from '../cases/random.ts';
import { TaskRun } from '../cases/run-task.ts';
import { table } from './report.ts';

const series = Number(process.argv[2] ?? 10_000);
const steps = Number(process.argv[3] ?? 10);
const trainingSteps = 720;
const stepMs = 60_000;
const startMs = Date.UTC(2026, 0, 5);
const random = randomOf(1);

const next = (index: number, step: number): number =>
  Math.round(100 + (index % 50) + 20 * Math.sin((step * 2 * Math.PI) / 1440) + 10 * (random() + random() - 1));

/** The messages of one evaluation. */
const makePoints = (from: number, count: number, mode: AnomalyPoints['mode']): readonly AnomalyPoints[] => {
  const values = Array.from({ length: series }, (_, index) => ({
    name: 'count',
    unit: '{record}',
    labels: { service: `service-${index}`, region: `r${index % 7}` },
    values: Array.from({ length: count }, (_each, step) => next(index, from + step)),
  }));
  const parts = splitIntoParts(values);
  const toMs = startMs + (from + count) * stepMs;
  return parts.map((own, part) => ({
    tenantId: 'acme',
    detectorId: 'd',
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
    fromMs: startMs + from * stepMs,
    toMs,
    lookMs: toMs,
    mode,
    counts: ['count'],
    gaps: [],
    learntFromMs: startMs,
    learnsUntilMs: null,
    seriesCount: series,
    error: '',
    part,
    isLast: part === parts.length - 1,
    series: own,
  }));
};

const cpuMs = (work: () => void): number => {
  const begin = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
};

const run = new TaskRun(anomalyScores);
for (let from = 0; from < trainingSteps; from += 60)
  for (const each of makePoints(from, 60, 'learning')) run.values([each]);

const costs: number[] = [];
for (let step = 0; step < steps; step++) {
  const messages = makePoints(trainingSteps + step, 1, 'now');
  costs.push(
    cpuMs(() => {
      for (const each of messages) run.values([each]);
    }),
  );
}
const scoreCount = run
  .emitted<AnomalyScores>(topics.anomalyScores)
  .reduce((sum, { series: own }) => sum + own.reduce((all, { points }) => all + points.length, 0), 0);
if (scoreCount !== series * steps) throw new Error(`${scoreCount} scores in place of ${series * steps}`);
const sorted = costs.toSorted((one, other) => one - other);
console.log(
  table([
    {
      series,
      'CPU-ms a step, median': (sorted[Math.floor(steps / 2)] ?? 0).toFixed(0),
      most: (sorted.at(-1) ?? 0).toFixed(0),
      'CPU-µs a point': ((1000 * (sorted[Math.floor(steps / 2)] ?? 0)) / series).toFixed(1),
    },
  ]),
);
