/** Requests, errors and latency of several services in a few steps, for sparklines */
import { z } from 'zod';
import { buildSteps, chooseStepForPoints } from '../../queries/steps.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { type ActivityFilter, buildActivityFilter } from './activity-filter.ts';
import { minuteMs } from './minutes.ts';
import {
  getDurationAtQuantile,
  noRequestCounts,
  type RequestCountRow,
  type RequestCounts,
  requestCountColumns,
  toRequestCounts,
} from './request-counts.ts';

export const Trend = z.strictObject({
  from: z.number().describe('Start of the first step in epoch milliseconds'),
  stepMs: z.int(),
  requests: z.array(z.int()).describe('Requests of each step. Steps that the range covers only partly are omitted'),
  errors: z.array(z.int()).describe('Failed requests of each step'),
  p95: z.array(z.number().nullable()).describe('95th percentile of the duration in nanoseconds; null without requests'),
});
export type Trend = z.output<typeof Trend>;

const maxSteps = 40;

/** Returns the trend of each service of a page. A service without requests has steps with 0 requests. */
export const readTrends = async (
  { columns }: TenantReader,
  filter: ActivityFilter,
  services: readonly string[],
): Promise<ReadonlyMap<string, Trend>> => {
  if (services.length === 0) return new Map();
  const range = { from: filter.minutes.from, to: filter.minutes.to - 1n };
  const stepMs = Math.max(minuteMs, chooseStepForPoints(range, maxSteps));
  const steps = buildSteps(range, stepMs);
  const starts = steps.starts.filter((start) => !steps.partial.includes(start));
  const { where, parameters } = buildActivityFilter(filter);
  const rows = await columns.query<RequestCountRow & { readonly service: string; readonly step: string }>(
    `SELECT service, toString(intDiv(toUnixTimestamp(minute), ${stepMs / 1000})) AS step, ${requestCountColumns}
    FROM resource_activity WHERE ${where} AND service IN {services:Array(String)} GROUP BY service, step`,
    { ...parameters, services: [...services] },
  );
  const rowsByService = Map.groupBy(rows, ({ service }) => service);
  return new Map(
    services.map((service): [string, Trend] => {
      const countsByStart = new Map(
        (rowsByService.get(service) ?? []).map((row): [number, RequestCounts] => [
          Number(row.step) * stepMs,
          toRequestCounts(row),
        ]),
      );
      const counts = starts.map((start) => countsByStart.get(start) ?? noRequestCounts);
      return [
        service,
        {
          from: starts[0] ?? 0,
          stepMs,
          requests: counts.map(({ requests }) => requests),
          errors: counts.map(({ errors }) => errors),
          p95: counts.map((each) => getDurationAtQuantile(each, 0.95) ?? null),
        },
      ];
    }),
  );
};
