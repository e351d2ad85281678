/** Reads one trace: its facts, and its spans page by page. */
import { z } from 'zod';
import type { QueryParameters } from '../../schemas/ports/columns.ts';
import { traceIs } from '../../schemas/tables/search.ts';
import { decodeCursor, encodeCursor, integer, natural } from '../cursor.ts';
import { requireEntitlement } from '../entitlement.ts';
import { type ProjectScope, projectScopeCondition, projectScopeValues } from '../project-scope.ts';
import type { Range } from '../range.ts';
import type { Reading } from '../reading.ts';
import { resourcesOf } from '../resources.ts';
import { Incompleteness } from '../result.ts';
import { type SpanRow, spanOf, spanSelection } from '../signals/span-record.ts';
import {
  busPosition,
  type FactRow,
  factSelection,
  factStatement,
  inTraceOrder,
  TraceAnalysis,
  TraceSpan,
  traceFacts,
} from './trace-facts.ts';

/** Maximum number of spans in one page. */
const maxSpans = 10_000;
/** Maximum number of spans for facts. */
const maxSpansInFacts = 250_000;

export const Trace = z.strictObject({
  traceId: z.string(),
  ...traceFacts,
  spans: z.array(TraceSpan).describe(`By start; at most ${maxSpans}`),
  nextCursor: z.string().nullable().describe('Cursor of the next spans'),
  partial: z.array(Incompleteness).describe('Empty if the answer is complete'),
});
export type Trace = z.output<typeof Trace>;

/** Among spans with equal starts the longest is first, like a parent. */
const traceOrder = ['timestamp', '-toInt64(spans.duration)', 'span_id', 'partition', 'offset', 'ordinal']
  .map((part) => (part.startsWith('-') ? part : `spans.${part}`))
  .join(', ');
const afterCursor = `(${traceOrder}) > (fromUnixTimestamp64Nano({start:Int64}, 'UTC'), {lasted:Int64}, toFixedString(unhex({span:String}), 8),
  {partition:UInt16}, {offset:UInt64}, {ordinal:UInt32})`;
const cursorParts = ['start', 'lasted', 'span', 'partition', 'offset', 'ordinal'] as const;
const cursorPatterns = [integer, /^-?\d{1,19}$/, /^[0-9a-f]{16}$/, /^\d{1,5}$/, natural, /^\d{1,10}$/];
const cursorKind = 'trace';

/** Returns a trace id of 32 hexadecimal digits, in either case; undefined for other texts. */
export const traceIdOf = (text: string): string | undefined =>
  /^[0-9a-f]{32}$/i.test(text) ? text.toLowerCase() : undefined;

const ofTrace = (traceId: string, scope: ProjectScope): { condition: string; parameters: QueryParameters } => ({
  condition: `tenant_id = {tenant:String} AND ${traceIs('{trace:String}')}${projectScopeCondition(scope)}`,
  parameters: { trace: traceId, ...projectScopeValues(scope) },
});

const bySize = (one: bigint, other: bigint): number => (one < other ? -1 : 1);

/** Returns the first start and the last end of a trace's spans; `undefined` if there are none. */
export const timesOfTrace = async (
  reading: Reading,
  traceId: string,
  scope: ProjectScope = {},
): Promise<Range | undefined> => {
  requireEntitlement(reading, 'traces');
  const { condition, parameters } = ofTrace(traceId, scope);
  const rows = await reading.columns.query<{ spans: string; from: string; to: string }>(
    `SELECT toString(count()) AS spans, toString(min(toUnixTimestamp64Nano(timestamp))) AS from,
      toString(max(toUnixTimestamp64Nano(timestamp) + toInt64(duration))) AS to FROM spans WHERE ${condition}`,
    parameters,
    { ofEachServer: true },
  );
  const found = rows.filter(({ spans }) => spans !== '0');
  const [first] = found.map(({ from }) => BigInt(from)).sort(bySize);
  const last = found
    .map(({ to }) => BigInt(to))
    .sort(bySize)
    .at(-1);
  return first === undefined || last === undefined ? undefined : { from: first, to: last };
};

interface PageRow extends SpanRow {
  readonly partition: number;
  readonly offset: string;
  readonly ordinal: number;
  readonly at: string;
  readonly statement: string;
}

/**
 * Returns a trace, with the spans after a cursor; `undefined` if none is stored. Every page has the facts of the entire
 * trace.
 */
export const readTrace = async (
  reading: Reading,
  traceId: string,
  { scope = {}, cursor }: { readonly scope?: ProjectScope; readonly cursor?: string | undefined } = {},
): Promise<Trace | undefined> => {
  requireEntitlement(reading, 'traces');
  const after = cursor === undefined ? [] : decodeCursor(cursorKind, cursor, cursorPatterns);
  const position = Object.fromEntries(after.map((part, index) => [cursorParts[index] ?? '', part]));
  const { columns } = reading;
  const { condition, parameters } = ofTrace(traceId, scope);
  const readFacts = async (): Promise<FactRow[]> => {
    const rows = await columns.query<FactRow>(
      `SELECT ${factSelection} FROM spans WHERE ${condition} ORDER BY ${traceOrder} LIMIT ${maxSpansInFacts + 1}`,
      parameters,
      { maxResultRows: maxSpansInFacts + 1, ofEachServer: true },
    );
    return rows.sort(inTraceOrder).slice(0, maxSpansInFacts + 1);
  };
  const readSpans = async (): Promise<PageRow[]> => {
    const rows = await columns.query<PageRow>(
      `SELECT ${spanSelection}, partition, toString(offset) AS offset, ordinal, ${factStatement}, ${busPosition} AS at FROM spans
      WHERE ${condition}${cursor === undefined ? '' : ` AND ${afterCursor}`} ORDER BY ${traceOrder} LIMIT ${maxSpans + 1}`,
      { ...parameters, ...position },
      { ofEachServer: true },
    );
    return rows.sort(inTraceOrder).slice(0, maxSpans + 1);
  };
  const [found, spans] = await (cursor === undefined
    ? allSpansOr(readFacts, await readSpans())
    : Promise.all([readFacts(), readSpans()]));
  if (found.length === 0) return undefined;
  const page = spans.slice(0, maxSpans);
  const resources = await resourcesOf(
    columns,
    page.map(({ resource }) => resource),
  );
  const analysis = new TraceAnalysis(found.slice(0, maxSpansInFacts));
  const hasMore = spans.length > page.length;
  return {
    traceId,
    ...analysis.facts(),
    spans: page.map((row) => ({ ...spanOf(row, resources.get(row.resource)), ...analysis.of(row.at) })),
    nextCursor: hasMore ? cursorBehind(page.at(-1)) : null,
    partial: [
      ...(hasMore ? [{ code: 'rows' as const, message: 'there are more spans: nextCursor leads to them' }] : []),
      ...(found.length > maxSpansInFacts ? [factsOfSome] : []),
      ...analysis.partial,
    ],
  };
};

/** Returns all spans from the first page, unless there are more. */
const allSpansOr = async (
  readFacts: () => Promise<FactRow[]>,
  spans: PageRow[],
): Promise<readonly [FactRow[], PageRow[]]> => [
  spans.length > maxSpans ? await readFacts() : spans.map((row) => ({ ...row, status: row.status_code })),
  spans,
];

const factsOfSome: Incompleteness = {
  code: 'rows',
  message: `the trace has more than ${maxSpansInFacts} spans: its summary and critical path cover the first ${maxSpansInFacts} by start`,
};

const cursorBehind = (row: PageRow | undefined): string | null =>
  row === undefined
    ? null
    : encodeCursor(cursorKind, [row.start, -BigInt(row.lasted), row.span, row.partition, row.offset, row.ordinal]);
