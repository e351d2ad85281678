/** Endpoints of a service, with their metrics */
import { z } from 'zod';
import type { Incompleteness } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { type ActivityFilter, buildActivityFilter } from './activity-filter.ts';
import { toSeconds } from './minutes.ts';
import {
  type RequestCountRow,
  RequestMetrics,
  requestCountColumns,
  toRequestCounts,
  toRequestMetrics,
} from './request-counts.ts';

const spanKinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

export const Endpoint = z.strictObject({
  name: z.string().describe('`http.route` if the spans have it, otherwise the span name'),
  kind: z
    .enum(spanKinds)
    .describe(
      'Kind of the spans: `server` receives requests, `consumer` reads a queue, `internal` and `unspecified` start traces',
    ),
  figures: RequestMetrics,
});
export type Endpoint = z.output<typeof Endpoint>;

const maxEndpoints = 10_000;

/** Returns all endpoints of a service, ordered by name. */
export const readEndpoints = async (
  { columns }: TenantReader,
  filter: ActivityFilter & {
    readonly service: string;
    readonly search?: string | undefined;
    readonly apdexThresholdMs: number;
  },
): Promise<{ readonly endpoints: readonly Endpoint[]; readonly partial: readonly Incompleteness[] }> => {
  const { where, parameters } = buildActivityFilter(filter);
  const rows = await columns.query<RequestCountRow & { readonly endpoint: string; readonly kind: number }>(
    `SELECT endpoint, kind, ${requestCountColumns} FROM span_metrics WHERE ${where} AND kind IN (0, 1, 2, 5)${filter.search === undefined ? '' : ' AND positionCaseInsensitiveUTF8(endpoint, {search:String}) > 0'}
    GROUP BY endpoint, kind ORDER BY sum(requests) DESC, endpoint, kind LIMIT ${maxEndpoints + 1}`,
    { ...parameters, ...(filter.search !== undefined && { search: filter.search }) },
  );
  const seconds = toSeconds(filter.minutes);
  return {
    endpoints: rows.slice(0, maxEndpoints).map((row) => ({
      name: row.endpoint,
      kind: spanKinds[row.kind] ?? 'unspecified',
      figures: toRequestMetrics(toRequestCounts(row), seconds, filter.apdexThresholdMs),
    })),
    partial:
      rows.length > maxEndpoints
        ? [
            {
              code: 'groups',
              message: `there are more than ${maxEndpoints} endpoints; only those with the most requests are listed`,
            },
          ]
        : [],
  };
};
