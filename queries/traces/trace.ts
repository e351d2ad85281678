/** Reads one trace: its summary, and its spans page by page. */
import { z } from 'zod';
import { mapInSlices } from '../../runtime/time-slices.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';
import { traceIs } from '../../schemas/tables/search.ts';
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../cursor.ts';
import { requireReadAccess } from '../entitlement.ts';
import { buildProjectScopeCondition, type ProjectScope, toProjectScopeParameters } from '../project-scope.ts';
import type { Range } from '../range.ts';
import { getResources } from '../resources.ts';
import { Incompleteness } from '../result.ts';
import { type SpanRow, spanColumns, toSpan } from '../signals/span-record.ts';
import type { TenantReader } from '../tenant-reader.ts';
import {
  type AnalyzedTrace,
  analyzeTrace,
  analyzeTraceBytesInWorker,
  factsTextSql,
  maxSpansInFacts,
} from './analysis.ts';
import {
  busPositionSql,
  compareTraceOrder,
  type SpanFacts,
  statementHashSql,
  TraceSpan,
  traceFacts,
} from './trace-facts.ts';

/** Maximum number of spans in one page. */
const maxSpans = 10_000;

export const Trace = z.strictObject({
  traceId: z.string(),
  ...traceFacts,
  spans: z.array(TraceSpan).describe(`By start; at most ${maxSpans}`),
  nextCursor: z.string().nullable().describe('Cursor of the next spans'),
  partial: z.array(Incompleteness).describe('Empty if the response is complete'),
});
export type Trace = z.output<typeof Trace>;

/**
 * Order of the spans. Among spans with equal starts, the longest is first, because a parent is longer than its
 * children.
 */
const spanOrderSql = ['timestamp', '-toInt64(spans.duration)', 'span_id', 'partition', 'offset', 'ordinal']
  .map((part) => (part.startsWith('-') ? part : `spans.${part}`))
  .join(', ');
const afterCursorCondition = `(${spanOrderSql}) > (fromUnixTimestamp64Nano({start:Int64}, 'UTC'), {lasted:Int64}, toFixedString(unhex({span:String}), 8),
  {partition:UInt16}, {offset:UInt64}, {ordinal:UInt32})`;
const cursorParts = ['start', 'lasted', 'span', 'partition', 'offset', 'ordinal'] as const;
const cursorPatterns = [int64Pattern, /^-?\d{1,19}$/, /^[0-9a-f]{16}$/, /^\d{1,5}$/, uint64Pattern, /^\d{1,10}$/];
const cursorKind = 'trace';

/** Returns a trace id of 32 hexadecimal digits, in either case; undefined for other texts. */
export const parseTraceId = (text: string): string | undefined =>
  /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined;

const buildTraceCondition = (
  traceId: string,
  scope: ProjectScope,
): { condition: string; parameters: QueryParameters } => ({
  condition: `tenant_id = {tenant:String} AND ${traceIs('{trace:String}')}${buildProjectScopeCondition(scope)}`,
  parameters: { trace: traceId, ...toProjectScopeParameters(scope) },
});

const compareBigInts = (one: bigint, other: bigint): number => (one < other ? -1 : 1);

/** Returns the first start and the last end of a trace's spans; `undefined` if there are none. */
export const readTraceTimes = async (
  reader: TenantReader,
  traceId: string,
  scope: ProjectScope = {},
): Promise<Range | undefined> => {
  requireReadAccess(reader, 'traces');
  const { condition, parameters } = buildTraceCondition(traceId, scope);
  const rows = await reader.columns.query<{ spans: string; from: string; to: string }>(
    `SELECT toString(count()) AS spans, toString(min(toUnixTimestamp64Nano(timestamp))) AS from,
      toString(max(toUnixTimestamp64Nano(timestamp) + toInt64(duration))) AS to FROM spans WHERE ${condition}`,
    parameters,
    { runsOnEachServer: true },
  );
  const rowsWithSpans = rows.filter(({ spans }) => spans !== '0');
  const [start] = rowsWithSpans.map(({ from }) => BigInt(from)).sort(compareBigInts);
  const end = rowsWithSpans
    .map(({ to }) => BigInt(to))
    .sort(compareBigInts)
    .at(-1);
  return start === undefined || end === undefined ? undefined : { from: start, to: end };
};

interface PageRow extends SpanRow {
  readonly partition: number;
  readonly offset: string;
  readonly ordinal: number;
  readonly at: string;
  readonly statement: string;
}

/**
 * Returns a trace, with the spans after a cursor; `undefined` if none is stored. Every page includes the summary of the
 * entire trace.
 */
export const readTrace = async (
  reader: TenantReader,
  traceId: string,
  {
    scope = {},
    cursor,
    signal,
  }: {
    readonly scope?: ProjectScope;
    readonly cursor?: string | undefined;
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<Trace | undefined> => {
  requireReadAccess(reader, 'traces');
  const cursorValues = cursor === undefined ? [] : decodeCursor(cursorKind, cursor, cursorPatterns);
  const cursorParameters = Object.fromEntries(cursorValues.map((part, index) => [cursorParts[index] ?? '', part]));
  const { columns } = reader;
  const { condition, parameters } = buildTraceCondition(traceId, scope);
  const readFacts = (): Promise<Uint8Array> =>
    columns.queryNative(
      `SELECT ${factsTextSql} FROM spans WHERE ${condition} ORDER BY ${spanOrderSql} LIMIT ${maxSpansInFacts + 1}`,
      parameters,
      { maxResultRows: maxSpansInFacts + 1, runsOnEachServer: true },
    );
  const readSpans = async (): Promise<PageRow[]> => {
    const rows = await columns.query<PageRow>(
      `SELECT ${spanColumns}, partition, toString(offset) AS offset, ordinal, ${statementHashSql} AS statement, ${busPositionSql} AS at FROM spans
      WHERE ${condition}${cursor === undefined ? '' : ` AND ${afterCursorCondition}`} ORDER BY ${spanOrderSql} LIMIT ${maxSpans + 1}`,
      { ...parameters, ...cursorParameters },
      { runsOnEachServer: true },
    );
    return rows.sort(compareTraceOrder).slice(0, maxSpans + 1);
  };
  const spans = await readSpans();
  const page = spans.slice(0, maxSpans);
  const analyze = async (): Promise<AnalyzedTrace | undefined> => {
    const positions = page.map(({ at }) => at);
    // The first page has all spans of most traces. Longer ones would block other requests.
    if (cursor !== undefined || spans.length > maxSpans)
      return analyzeTraceBytesInWorker({ tenantId: columns.tenantId, signal }, await readFacts(), positions);
    const factRows = spans.map((row) => ({ ...row, status: row.status_code }));
    return factRows.length === 0 ? undefined : analyzeTrace(factRows, positions);
  };
  const [analyzedTrace, resources] = await Promise.all([
    analyze(),
    getResources(
      columns,
      page.map(({ resource }) => resource),
    ),
  ]);
  if (analyzedTrace === undefined) return undefined;
  const { facts, spanFacts, incompleteness } = analyzedTrace;
  const hasMore = spans.length > page.length;
  return {
    traceId,
    ...facts,
    spans: await mapInSlices(page, (row, index) => ({
      ...toSpan(row, resources.get(row.resource)),
      ...(spanFacts[index] as SpanFacts),
    })),
    nextCursor: hasMore ? encodeCursorAfter(page.at(-1)) : null,
    partial: [
      ...(hasMore ? [{ code: 'rows' as const, message: 'more spans are on the next pages' }] : []),
      ...incompleteness,
    ],
  };
};

const encodeCursorAfter = (row: PageRow | undefined): string | null =>
  row === undefined
    ? null
    : encodeCursor(cursorKind, [row.start, -BigInt(row.lasted), row.span, row.partition, row.offset, row.ordinal]);
