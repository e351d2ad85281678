import { z } from 'zod';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { formatTime, toExactNumberOrText } from '../time.ts';

/** A trace in a list. Root fields are those of the span without a parent, otherwise of the earliest one. */
export const TraceSummary = z.strictObject({
  traceId: z.string(),
  rootService: z.string(),
  rootName: z.string(),
  startTime: z.string(),
  durationNs: z.union([z.int(), z.string()]).describe('A decimal string if beyond 2^53'),
  spanCount: z.int(),
  errorCount: z.int(),
  services: z.array(z.string()),
});
export type TraceSummary = z.output<typeof TraceSummary>;

interface Row {
  readonly trace: string;
  readonly root_service: string;
  readonly root_name: string;
  readonly start: string;
  readonly duration: string;
  readonly spans: string;
  readonly errors: string;
  readonly services: readonly string[];
}

/** Time before and after the range in which the other spans of a trace are searched. */
const searchMarginNs = 6n * 3_600_000_000_000n;

/** Returns summaries of entire traces, in the order of `traces`. */
export const readSummaries = async (
  columns: TenantColumns,
  traces: readonly { readonly trace: string; readonly start: string }[],
): Promise<TraceSummary[]> => {
  if (traces.length === 0) return [];
  const starts = traces.map(({ start }) => BigInt(start));
  // Lists are newest first.
  const last = starts[0] ?? 0n;
  const first = starts.at(-1) ?? 0n;
  // The ids are hexadecimal and come from stored rows, so they can be inlined.
  const ids = traces.map(({ trace }) => `unhex('${trace}')`).join(', ');
  const rows = await columns.query<Row>(
    `SELECT lower(hex(trace_id)) AS trace,
      argMin(service, (parent_span_id != unhex('0000000000000000'), timestamp)) AS root_service,
      argMin(name, (parent_span_id != unhex('0000000000000000'), timestamp)) AS root_name,
      toString(min(toUnixTimestamp64Nano(timestamp))) AS start,
      toString(max(toUnixTimestamp64Nano(timestamp) + toInt64(spans.duration)) - min(toUnixTimestamp64Nano(timestamp))) AS duration,
      count() AS spans, countIf(status_code = 2) AS errors, arraySort(groupUniqArray(100)(service)) AS services
    FROM spans WHERE tenant_id = {tenant:String} AND trace_id IN (${ids})
      AND timestamp >= fromUnixTimestamp64Nano({first:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
    GROUP BY trace_id`,
    { first: String(first - searchMarginNs), last: String(last + searchMarginNs) },
  );
  const byId = new Map(rows.map((row) => [row.trace, row]));
  return traces.flatMap(({ trace }) => {
    const row = byId.get(trace);
    return row === undefined ? [] : [toSummary(row)];
  });
};

const toSummary = (row: Row): TraceSummary => ({
  traceId: row.trace,
  rootService: row.root_service,
  rootName: row.root_name,
  startTime: formatTime(BigInt(row.start)),
  durationNs: toExactNumberOrText(row.duration),
  spanCount: Number(row.spans),
  errorCount: Number(row.errors),
  services: [...row.services],
});
