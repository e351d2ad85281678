/** Requests, errors, durations and Apdex of a service over time */
import { type Answer, seriesAnswer } from '../../queries/answer.ts';
import { invalid } from '../../queries/errors.ts';
import type { Reading } from '../../queries/reading.ts';
import type { Series } from '../../queries/result.ts';
import { stepsOf } from '../../queries/steps.ts';
import { type Choice, chosenActivity } from './chosen-activity.ts';
import {
  apdexOf,
  type CountedRow,
  countedOf,
  nothingCounted,
  quantileIn,
  type RequestCounts,
  requestCountColumns,
} from './figures.ts';
import { minuteMs } from './minutes.ts';

export interface SeriesQuestion extends Choice {
  readonly service: string;
  /** Restricts the series to this endpoint */
  readonly endpoint?: string | undefined;
  readonly stepMs: number;
  readonly apdexThresholdMs: number;
}

/** Returns one series per metric. A step without requests has 0 requests and no latency. */
export const readServiceSeries = async ({ columns }: Reading, question: SeriesQuestion): Promise<Answer> => {
  const { service, endpoint, stepMs, minutes, apdexThresholdMs } = question;
  if (stepMs % minuteMs !== 0) throw invalid('step', 'must be whole minutes');
  if (endpoint !== undefined && question.environment !== undefined)
    throw invalid('environment', 'endpoints are counted without their environment: set only one of the two');
  const steps = stepsOf({ from: minutes.from, to: minutes.to - 1n }, stepMs);
  const { where, parameters } = chosenActivity(question);
  const rows = await columns.query<CountedRow & { readonly step: string }>(
    `SELECT toString(intDiv(toUnixTimestamp(minute), ${stepMs / 1000})) AS step, ${requestCountColumns}
    FROM ${endpoint === undefined ? 'resource_activity' : 'span_metrics'} WHERE ${where}${endpoint === undefined ? '' : ' AND kind IN (0, 1, 2, 5) AND endpoint = {endpoint:String}'} GROUP BY step`,
    { ...parameters, ...(endpoint !== undefined && { endpoint }) },
  );
  const counted = new Map(rows.map((row) => [Number(row.step) * stepMs, countedOf(row)]));
  const labels = { service, ...(endpoint !== undefined && { endpoint }) };
  const series = (
    name: string,
    unit: string,
    figure: (counted: RequestCounts, index: number) => number | null,
  ): Series => ({
    name,
    labels,
    unit,
    points: steps.starts.map((start, index) => [start, figure(counted.get(start) ?? nothingCounted, index)]),
  });
  const quantile = (share: number) => (each: RequestCounts) => quantileIn(each, share) ?? null;
  return seriesAnswer(
    [
      series('requests', '{request}', ({ requests }) => requests),
      series('rate', '{request}/s', ({ requests }, index) => requests / steps.secondsOf(index)),
      series('errors', '{request}', ({ errors }) => errors),
      series('errorRate', '1', ({ requests, errors }) => (requests === 0 ? null : errors / requests)),
      series('p50', 'ns', quantile(0.5)),
      series('p95', 'ns', quantile(0.95)),
      series('p99', 'ns', quantile(0.99)),
      series('apdex', '1', (each) => apdexOf(each, apdexThresholdMs).value),
    ],
    steps.partial,
  );
};
