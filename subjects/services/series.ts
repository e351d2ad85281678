/** Requests, errors, durations and Apdex of a service over time */

import { createValidationError } from '../../queries/errors.ts';
import { buildSeriesResult, type ResultData } from '../../queries/query-result.ts';
import type { Series } from '../../queries/result.ts';
import { buildSteps } from '../../queries/steps.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { type ActivityFilter, buildActivityFilter } from './activity-filter.ts';
import { minuteMs } from './minutes.ts';
import {
  computeApdex,
  getDurationAtQuantile,
  noRequestCounts,
  type RequestCountRow,
  type RequestCounts,
  requestCountColumns,
  toRequestCounts,
} from './request-counts.ts';

export interface ServiceSeriesQuery extends ActivityFilter {
  readonly service: string;
  /** Restricts the series to this endpoint */
  readonly endpoint?: string | undefined;
  readonly stepMs: number;
  readonly apdexThresholdMs: number;
}

/** Returns one series per metric. A step without requests has 0 requests and no latency. */
export const readServiceSeries = async ({ columns }: TenantReader, query: ServiceSeriesQuery): Promise<ResultData> => {
  const { service, endpoint, stepMs, minutes, apdexThresholdMs } = query;
  if (stepMs % minuteMs !== 0) throw createValidationError('step', 'must be whole minutes');
  if (endpoint !== undefined && query.environment !== undefined)
    throw createValidationError(
      'environment',
      'endpoints are counted without their environment: set only one of the two',
    );
  const steps = buildSteps({ from: minutes.from, to: minutes.to - 1n }, stepMs);
  const { where, parameters } = buildActivityFilter(query);
  const rows = await columns.query<RequestCountRow & { readonly step: string }>(
    `SELECT toString(intDiv(toUnixTimestamp(minute), ${stepMs / 1000})) AS step, ${requestCountColumns}
    FROM ${endpoint === undefined ? 'resource_activity' : 'span_metrics'} WHERE ${where}${endpoint === undefined ? '' : ' AND kind IN (0, 1, 2, 5) AND endpoint = {endpoint:String}'} GROUP BY step`,
    { ...parameters, ...(endpoint !== undefined && { endpoint }) },
  );
  const countsByStep = new Map(rows.map((row) => [Number(row.step) * stepMs, toRequestCounts(row)]));
  const labels = { service, ...(endpoint !== undefined && { endpoint }) };
  const createSeries = (
    name: string,
    unit: string,
    readValue: (counts: RequestCounts, index: number) => number | null,
  ): Series => ({
    name,
    labels,
    unit,
    points: steps.starts.map((start, index) => [start, readValue(countsByStep.get(start) ?? noRequestCounts, index)]),
  });
  const quantile = (fraction: number) => (requestCounts: RequestCounts) =>
    getDurationAtQuantile(requestCounts, fraction) ?? null;
  return buildSeriesResult(
    [
      createSeries('requests', '{request}', ({ requests }) => requests),
      createSeries('rate', '{request}/s', ({ requests }, index) => requests / steps.getSeconds(index)),
      createSeries('errors', '{request}', ({ errors }) => errors),
      createSeries('errorRate', '1', ({ requests, errors }) => (requests === 0 ? null : errors / requests)),
      createSeries('p50', 'ns', quantile(0.5)),
      createSeries('p95', 'ns', quantile(0.95)),
      createSeries('p99', 'ns', quantile(0.99)),
      createSeries('apdex', '1', (requestCounts) => computeApdex(requestCounts, apdexThresholdMs).value),
    ],
    steps.partial,
  );
};
