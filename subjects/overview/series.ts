/** Counters of the overview over time */

import { buildSeriesResult, type ResultData } from '../../queries/query-result.ts';
import { findRangeProblem } from '../../queries/range.ts';
import type { Incompleteness, Series } from '../../queries/result.ts';
import { buildSteps } from '../../queries/steps.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { buildActivityFilter } from '../services/activity-filter.ts';
import {
  getDurationAtQuantile,
  noRequestCounts,
  type RequestCountRow,
  type RequestCounts,
  requestCountColumns,
  toRequestCounts,
} from '../services/request-counts.ts';
import type { OverviewQuery } from './counters.ts';

interface Row extends RequestCountRow {
  readonly step: string;
  readonly all_logs: string;
  readonly all_error_logs: string;
  readonly all_spans: string;
}

interface StepCounts {
  readonly logs: number;
  readonly errorLogs: number;
  readonly spans: number;
  readonly requestCounts: RequestCounts;
}
const emptyStepCounts: StepCounts = { logs: 0, errorLogs: 0, spans: 0, requestCounts: noRequestCounts };

/**
 * Returns one series for each counter. Telemetry signals that cannot be read are omitted and reported in the result.
 */
export const readOverviewSeries = async (
  reader: TenantReader,
  query: OverviewQuery & { readonly stepMs: number },
): Promise<ResultData> => {
  const { minutes, stepMs } = query;
  const range = { from: minutes.from, to: minutes.to - 1n };
  const steps = buildSteps(range, stepMs);
  const { where, parameters } = buildActivityFilter(query);
  const rows = await reader.columns.query<Row>(
    `SELECT toString(intDiv(toUnixTimestamp(minute), ${stepMs / 1000})) AS step, toString(sum(logs)) AS all_logs, toString(sum(error_logs)) AS all_error_logs,
      toString(sum(spans)) AS all_spans, ${requestCountColumns}
    FROM resource_activity WHERE ${where} GROUP BY step`,
    parameters,
  );
  const countsByStep = new Map(
    rows.map((row): [number, StepCounts] => [
      Number(row.step) * stepMs,
      {
        logs: Number(row.all_logs),
        errorLogs: Number(row.all_error_logs),
        spans: Number(row.all_spans),
        requestCounts: toRequestCounts(row),
      },
    ]),
  );
  const toSeries = (name: string, unit: string, readValue: (step: StepCounts) => number | null): Series => ({
    name,
    labels: {},
    unit,
    points: steps.starts.map((start) => [start, readValue(countsByStep.get(start) ?? emptyStepCounts)]),
  });
  const partial: Incompleteness[] = [];
  const readSignal = (signal: 'logs' | 'traces', createSeries: () => Series[]): Series[] => {
    const reason = findRangeProblem(range, { caller: reader, signal, nowMs: reader.nowMs });
    if (reason === undefined) return createSeries();
    partial.push({ code: 'retention', message: `no ${signal}: ${reason}` });
    return [];
  };
  const all = [
    ...readSignal('logs', () => [
      toSeries('logs', '{record}', ({ logs }) => logs),
      toSeries('errorLogs', '{record}', ({ errorLogs }) => errorLogs),
    ]),
    ...readSignal('traces', () => [
      toSeries('spans', '{span}', ({ spans }) => spans),
      toSeries('requests', '{request}', ({ requestCounts }) => requestCounts.requests),
      toSeries('errors', '{request}', ({ requestCounts }) => requestCounts.errors),
      toSeries('errorRate', '1', ({ requestCounts: { requests, errors } }) =>
        requests === 0 ? null : errors / requests,
      ),
      toSeries('p95', 'ns', ({ requestCounts }) => getDurationAtQuantile(requestCounts, 0.95) ?? null),
    ]),
  ];
  return buildSeriesResult(all, steps.partial, partial);
};
