import { z } from 'zod';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { formatTime, toExactNumberOrText } from '../time.ts';
import { buildSpanTree, findTraceInterval } from './span-tree.ts';

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
  readonly root_duration: string;
  readonly resources: string;
}

/** A span for the tree of its trace. */
interface SpanRow {
  readonly trace: string;
  readonly span: string;
  readonly parent: string;
  readonly start: string;
  readonly lasted: string;
  readonly kind: number;
  readonly resource: string;
}

/** Maximum number of spans that are read at once for the clocks of their processes. */
const maxSkewedSpans = 20_000;

/** Time before and after the range in which the other spans of a trace are searched. */
const searchMarginNs = 6n * 3_600_000_000_000n;

/** SQL of the duration of a trace by the clocks of its senders, in a group of its spans */
export const traceDurationSql =
  'max(toUnixTimestamp64Nano(timestamp) + toInt64(spans.duration)) - min(toUnixTimestamp64Nano(timestamp))';
/** SQL of the duration of the root of a trace, in a group of its spans. */
export const rootDurationSql = "argMin(spans.duration, (parent_span_id != unhex('0000000000000000'), timestamp))";

/** SQL condition of traces whose clocks may differ: those of several processes that are longer than their root */
export const mayHaveSkewSql = `uniqExact(resource_id) > 1 AND ${traceDurationSql} > ${rootDurationSql}`;

/** Traces with their first start, in nanoseconds, newest first */
type Traces = readonly { readonly trace: string; readonly start: string }[];

/** Returns summaries of entire traces, in the order of `traces`. */
export const readSummaries = async (columns: TenantColumns, traces: Traces): Promise<TraceSummary[]> => {
  const { rows } = await readRows(columns, traces);
  const byId = new Map(rows.map((row) => [row.trace, row]));
  return traces.flatMap(({ trace }) => {
    const row = byId.get(trace);
    return row === undefined ? [] : [toSummary(row)];
  });
};

/** A trace whose clocks may differ, with its duration by the clocks of its senders, in nanoseconds. */
export interface SentTrace {
  readonly trace: string;
  readonly start: string;
  readonly sent_duration: string;
  readonly span_count: string;
}

/** Returns the durations of traces in nanoseconds, on the clocks of callers, as summaries have them. Traces are newest first. */
export const readCorrectedDurations = async (
  columns: TenantColumns,
  traces: readonly SentTrace[],
): Promise<ReadonlyMap<string, bigint>> => {
  const durations = new Map(traces.map(({ trace, sent_duration: sent }) => [trace, BigInt(sent)]));
  for (const group of groupBySpanCount(traces)) {
    const { rows, sent } = await readRows(columns, group);
    const sentDurations = new Map(sent.map(({ trace, duration }) => [trace, duration]));
    for (const { trace, duration } of rows)
      if (sentDurations.get(trace) !== duration) durations.set(trace, BigInt(duration));
  }
  return durations;
};

/** Splits traces into groups whose spans can be read at once for the clocks of their processes. */
const groupBySpanCount = (traces: readonly SentTrace[]): SentTrace[][] => {
  const groups: SentTrace[][] = [];
  let spanCount = maxSkewedSpans;
  for (const trace of traces) {
    spanCount += Number(trace.span_count);
    if (spanCount > maxSkewedSpans) {
      groups.push([]);
      spanCount = Number(trace.span_count);
    }
    groups.at(-1)?.push(trace);
  }
  return groups;
};

/** Returns rows of traces with corrected clocks, and as they were sent. */
const readRows = async (
  columns: TenantColumns,
  traces: Traces,
): Promise<{ readonly rows: readonly Row[]; readonly sent: readonly Row[] }> => {
  if (traces.length === 0) return { rows: [], sent: [] };
  const starts = traces.map(({ start }) => BigInt(start));
  // Lists are newest first.
  const last = starts[0] ?? 0n;
  const first = starts.at(-1) ?? 0n;
  // The ids are hexadecimal and come from stored rows, so they can be inlined.
  const ids = traces.map(({ trace }) => `unhex('${trace}')`).join(', ');
  const rangeParameters = { first: String(first - searchMarginNs), last: String(last + searchMarginNs) };
  const rows = await columns.query<Row>(
    `SELECT lower(hex(trace_id)) AS trace,
      argMin(service, (parent_span_id != unhex('0000000000000000'), timestamp)) AS root_service,
      argMin(name, (parent_span_id != unhex('0000000000000000'), timestamp)) AS root_name,
      toString(min(toUnixTimestamp64Nano(timestamp))) AS start,
      toString(max(toUnixTimestamp64Nano(timestamp) + toInt64(spans.duration)) - min(toUnixTimestamp64Nano(timestamp))) AS duration,
      count() AS spans, countIf(status_code = 2) AS errors, arraySort(groupUniqArray(100)(service)) AS services,
      toString(${rootDurationSql}) AS root_duration, toString(uniqExact(resource_id)) AS resources
    FROM spans WHERE tenant_id = {tenant:String} AND trace_id IN (${ids}) AND ${spanRangeSql} GROUP BY trace_id`,
    rangeParameters,
  );
  return { rows: await correctClocks(columns, rows, rangeParameters), sent: rows };
};

const spanRangeSql =
  "timestamp >= fromUnixTimestamp64Nano({first:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')";

/**
 * Returns the rows with start and duration on the clocks of parents, as in the trace itself. Clocks may only differ in a
 * trace of several processes that is longer than its root.
 */
const correctClocks = async (
  columns: TenantColumns,
  rows: readonly Row[],
  rangeParameters: { readonly first: string; readonly last: string },
): Promise<readonly Row[]> => {
  let spanCount = 0;
  const candidates = rows.filter(({ resources, duration, root_duration: rootDuration, spans }) => {
    if (Number(resources) < 2 || BigInt(duration) <= BigInt(rootDuration)) return false;
    spanCount += Number(spans);
    return spanCount <= maxSkewedSpans;
  });
  if (candidates.length === 0) return rows;
  const ids = candidates.map(({ trace }) => `unhex('${trace}')`).join(', ');
  const spans = await columns.query<SpanRow>(
    `SELECT lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span, lower(hex(parent_span_id)) AS parent,
      toString(toUnixTimestamp64Nano(timestamp)) AS start, toString(duration) AS lasted, kind, toString(resource_id) AS resource
    FROM spans WHERE tenant_id = {tenant:String} AND trace_id IN (${ids}) AND ${spanRangeSql}
    ORDER BY spans.timestamp, spans.duration DESC, spans.span_id LIMIT ${maxSkewedSpans}`,
    rangeParameters,
    { maxResultRows: maxSkewedSpans },
  );
  const spansByTrace = Map.groupBy(spans, ({ trace }) => trace);
  return rows.map((row) => {
    const traceSpans = spansByTrace.get(row.trace);
    return traceSpans === undefined ? row : { ...row, ...findCorrectedTimes(BigInt(row.start), traceSpans) };
  });
};

const findCorrectedTimes = (firstStart: bigint, spans: readonly SpanRow[]): Pick<Row, 'start' | 'duration'> => {
  const tree = buildSpanTree(
    spans.map(({ span, parent, start, lasted, kind, resource }) => ({
      spanId: span,
      parentSpanId: parent,
      kind,
      resourceId: resource,
      start: Number(BigInt(start) - firstStart),
      duration: Number(lasted),
    })),
  );
  const { start, end } = findTraceInterval(tree);
  return { start: String(firstStart + BigInt(Math.round(start))), duration: String(Math.round(end - start)) };
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
