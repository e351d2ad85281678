/** Counters of the overview over time */
import { type Answer, seriesAnswer } from '../../queries/answer.ts';
import { findRangeProblem } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import type { Incompleteness, Series } from '../../queries/result.ts';
import { stepsOf } from '../../queries/steps.ts';
import { chosenActivity } from '../services/chosen-activity.ts';
import {
  type CountedRow,
  countedOf,
  nothingCounted,
  quantileIn,
  type RequestCounts,
  requestCountColumns,
} from '../services/figures.ts';
import type { OverviewQuestion } from './counters.ts';

interface Row extends CountedRow {
  readonly step: string;
  readonly all_logs: string;
  readonly all_error_logs: string;
  readonly all_spans: string;
}

interface Step {
  readonly logs: number;
  readonly errorLogs: number;
  readonly spans: number;
  readonly counted: RequestCounts;
}
const nothing: Step = { logs: 0, errorLogs: 0, spans: 0, counted: nothingCounted };

/**
 * Returns one series for each counter. Telemetry signals that cannot be read are omitted and reported in the result.
 */
export const readOverviewSeries = async (
  reading: Reading,
  question: OverviewQuestion & { readonly stepMs: number },
): Promise<Answer> => {
  const { minutes, stepMs } = question;
  const range = { from: minutes.from, to: minutes.to - 1n };
  const steps = stepsOf(range, stepMs);
  const { where, parameters } = chosenActivity(question);
  const rows = await reading.columns.query<Row>(
    `SELECT toString(intDiv(toUnixTimestamp(minute), ${stepMs / 1000})) AS step, toString(sum(logs)) AS all_logs, toString(sum(error_logs)) AS all_error_logs,
      toString(sum(spans)) AS all_spans, ${requestCountColumns}
    FROM resource_activity WHERE ${where} GROUP BY step`,
    parameters,
  );
  const found = new Map(
    rows.map((row): [number, Step] => [
      Number(row.step) * stepMs,
      {
        logs: Number(row.all_logs),
        errorLogs: Number(row.all_error_logs),
        spans: Number(row.all_spans),
        counted: countedOf(row),
      },
    ]),
  );
  const series = (name: string, unit: string, figure: (step: Step) => number | null): Series => ({
    name,
    labels: {},
    unit,
    points: steps.starts.map((start) => [start, figure(found.get(start) ?? nothing)]),
  });
  const partial: Incompleteness[] = [];
  const ofSignal = (signal: 'logs' | 'traces', made: () => Series[]): Series[] => {
    const reason = findRangeProblem(range, { caller: reading, signal, nowMs: reading.nowMs });
    if (reason === undefined) return made();
    partial.push({ code: 'retention', message: `no ${signal}: ${reason}` });
    return [];
  };
  const all = [
    ...ofSignal('logs', () => [
      series('logs', '{record}', ({ logs }) => logs),
      series('errorLogs', '{record}', ({ errorLogs }) => errorLogs),
    ]),
    ...ofSignal('traces', () => [
      series('spans', '{span}', ({ spans }) => spans),
      series('requests', '{request}', ({ counted }) => counted.requests),
      series('errors', '{request}', ({ counted }) => counted.errors),
      series('errorRate', '1', ({ counted: { requests, errors } }) => (requests === 0 ? null : errors / requests)),
      series('p95', 'ns', ({ counted }) => quantileIn(counted, 0.95) ?? null),
    ]),
  ];
  return seriesAnswer(all, steps.partial, partial);
};
