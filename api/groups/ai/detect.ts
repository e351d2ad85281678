import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import { isLearning, type Point, type Scored, scoreSeries } from '../../../subjects/anomalies/scores/scorer.ts';
import { signs } from '../../../subjects/anomalies/scores/state.ts';
import { defineOperation } from '../../kernel/operation.ts';
import {
  maxPoints,
  PartialResults,
  readRequestedSeries,
  seriesIdentityFields,
  seriesRequestFields,
} from './requested-series.ts';

const NullableNumber = z.number().nullable();
/** Number of points that are scored before other requests can run; it takes a few milliseconds. */
const pointsPerBatch = 500;

const scorePoints = async (points: readonly Point[], falseAlarmsPerWeek: number, signal: AbortSignal) => {
  const scoredPoints: Scored[] = [];
  let state: Uint8Array | undefined;
  for (let start = 0; start < points.length; start += pointsPerBatch) {
    const batch = scoreSeries(points.slice(start, start + pointsPerBatch), { falseAlarmsPerWeek }, state);
    state = batch.state;
    scoredPoints.push(...batch.scored);
    await yieldToEventLoop();
    signal.throwIfAborted();
  }
  return { scored: scoredPoints, state };
};

export const detectAnomalies = defineOperation({
  method: 'POST',
  path: '/api/ai/detect',
  operationId: 'detectAnomalies',
  summary: 'Score series now: the expected value of each point, and how unusual it is given the points before it',
  role: 'viewer',
  auditExemption: 'read-only',
  maxBodyBytes: 5 * 1024 * 1024,
  maxElements: maxPoints,
  body: z.strictObject({
    ...seriesRequestFields,
    falseAlarmsPerWeek: z.number().min(0.001).max(1000).default(1).describe('For all series combined'),
  }),
  response: z.strictObject({
    series: z.array(
      z.strictObject({
        ...seriesIdentityFields,
        isLearning: z.boolean().describe('Whether there are too few points; then no point is anomalous'),
        points: z
          .array(z.tuple([z.number(), z.number(), NullableNumber, NullableNumber, NullableNumber, z.boolean()]))
          .describe(
            'Epoch milliseconds, score, expected, low, high, and whether it is anomalous. The score is the probability that a past week has nothing as unusual: near 1 where an anomaly begins or becomes clearly worse',
          ),
        anomalies: z
          .array(
            z.strictObject({ from: z.number(), to: z.number().nullable(), score: z.number(), sign: z.enum(signs) }),
          )
          .describe('Episodes: first and last point, null while in progress, and the most unusual aspect at its start'),
      }),
    ),
    partial: PartialResults,
  }),
  async handler({ caller, body, signal }, ports) {
    const requestedSeries = await readRequestedSeries(body, { caller, ports, signal });
    const falseAlarmsPerSeries = body.falseAlarmsPerWeek / Math.max(1, requestedSeries.series.length);
    const series = [];
    for (const { points, name, labels, unit } of requestedSeries.series) {
      const { scored: scoredPoints, state } = await scorePoints(points, falseAlarmsPerSeries, signal);
      series.push({
        name,
        labels: { ...labels },
        unit,
        isLearning: state === undefined || isLearning(state),
        points: scoredPoints.map(toPointTuple),
        anomalies: findEpisodes(scoredPoints),
      });
    }
    return { series, partial: requestedSeries.partial };
  },
});

const toPointTuple = ({ timeMs, score, expected, low, high, isAnomalous }: Scored) =>
  [timeMs, score, expected, low, high, isAnomalous] as [
    number,
    number,
    number | null,
    number | null,
    number | null,
    boolean,
  ];

const findEpisodes = (scored: readonly Scored[]) => {
  const episodes: { from: number; to: number | null; score: number; sign: (typeof signs)[number] }[] = [];
  for (const [index, { timeMs, score, sign, isAnomalous }] of scored.entries()) {
    const previous = scored[index - 1];
    const last = episodes.at(-1);
    if (isAnomalous && previous?.isAnomalous !== true && sign !== null)
      episodes.push({ from: timeMs, to: null, score, sign });
    else if (!isAnomalous && previous?.isAnomalous === true && last !== undefined) last.to = previous.timeMs;
  }
  return episodes;
};
