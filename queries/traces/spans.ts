/** Lists individual spans of a range: newest, oldest or slowest first. */
import { decodeCursor, encodeCursor, int64Pattern, uint64Pattern } from '../cursor.ts';
import { createValidationError } from '../errors.ts';
import { parseRetainedRange, type Range, requireRetained } from '../range.ts';
import { buildRangeCondition, buildRangeParameters, buildRecordsCondition, type Condition } from '../records.ts';
import { getResources } from '../resources.ts';
import { readRowsInOrder } from '../rows/in-order.ts';
import { type Span, type SpanRow, spanColumns, toSpan } from '../signals/span-record.ts';
import type { TenantReader } from '../tenant-reader.ts';

export const spanOrders = ['newest', 'oldest', 'slowest'] as const;
export type SpanOrder = (typeof spanOrders)[number];

export interface SpansQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly service?: string | undefined;
  readonly search?: string | undefined;
  readonly projectId?: string | undefined;
  readonly order: SpanOrder;
}

/** Position of a span in each of the orders; positions are unique. */
interface SpanPosition {
  readonly lasted: string;
  readonly time: string;
  readonly partition: string;
  readonly offset: string;
  readonly ordinal: string;
}
type PositionedRow = SpanRow & Omit<SpanPosition, 'time' | 'lasted'>;

const cursorKind = 'spans';
const cursorPatterns = [
  int64Pattern,
  int64Pattern,
  /^(?:newest|oldest|slowest)$/,
  uint64Pattern,
  int64Pattern,
  /^\d{1,5}$/,
  uint64Pattern,
  /^\d{1,10}$/,
];
const positionSelection =
  'toString(spans.partition) AS partition, toString(spans.offset) AS offset, toString(spans.ordinal) AS ordinal';
const positionColumns = ['spans.timestamp', 'spans.partition', 'spans.offset', 'spans.ordinal'];
const positionSql = positionColumns.join(', ');
const positionParametersSql =
  "fromUnixTimestamp64Nano({time:Int64}, 'UTC'), {partition:UInt16}, {offset:UInt64}, {ordinal:UInt32}";

/** Returns the condition for spans that match a service and a search. */
export const buildSpansCondition = ({
  service,
  ...records
}: Pick<SpansQuery, 'service' | 'search' | 'projectId'>): Condition => {
  const baseCondition = buildRecordsCondition({ signal: 'traces', ...records });
  if (service === undefined) return baseCondition;
  const { sql, parameters } = baseCondition;
  return { ...baseCondition, sql: `service = {service:String} AND ${sql}`, parameters: { ...parameters, service } };
};

/**
 * Returns a page of spans. Pages neither skip nor repeat spans while new ones are stored: a late span is on a later
 * page, or on none.
 */
export const listSpans = async (
  query: SpansQuery,
  reader: TenantReader,
): Promise<{ readonly items: readonly Span[]; readonly nextCursor: string | null }> => {
  const { range, after } = resolvePage(query, reader);
  const { order, limit } = query;
  const rows = await (order === 'slowest' ? readSlowest : readInOrder)(query, reader, range, after);
  const pageRows = rows.slice(0, limit);
  const resources = await getResources(
    reader.columns,
    pageRows.map(({ resource }) => resource),
  );
  const last = pageRows.at(-1);
  return {
    items: pageRows.map((row) => toSpan(row, resources.get(row.resource))),
    nextCursor:
      rows.length > limit && last !== undefined
        ? encodeCursor(cursorKind, [
            ...[range.from, range.to, order],
            ...[last.lasted, last.start, last.partition, last.offset, last.ordinal],
          ])
        : null,
  };
};

/** Returns the range of a query, and the span after which the page begins. */
const resolvePage = (query: SpansQuery, reader: TenantReader): { range: Range; after: SpanPosition | undefined } => {
  const readContext = { caller: reader, signal: 'traces', nowMs: reader.nowMs } as const;
  if (query.cursor === undefined) return { range: parseRetainedRange(query, readContext), after: undefined };
  const [from = '', to = '', order = '', lasted = '', time = '', partition = '', offset = '', ordinal = ''] =
    decodeCursor(cursorKind, query.cursor, cursorPatterns);
  if (order !== query.order) throw createValidationError('cursor', `is of a list with order=${order}`);
  const range = { from: BigInt(from), to: BigInt(to) };
  requireRetained(range, { ...readContext, isFromCursor: true });
  return { range, after: { lasted, time, partition, offset, ordinal } };
};

const readInOrder = (
  query: SpansQuery,
  { columns }: TenantReader,
  { from, to }: Range,
  after: SpanPosition | undefined,
): Promise<PositionedRow[]> => {
  const condition = buildSpansCondition(query);
  const isOldest = query.order === 'oldest';
  const resumeTime = after === undefined ? undefined : BigInt(after.time);
  return readRowsInOrder<PositionedRow>(
    columns,
    {
      signal: 'traces',
      range: {
        from: isOldest && resumeTime !== undefined ? resumeTime : from,
        to: isOldest || resumeTime === undefined ? to : resumeTime,
      },
      order: isOldest ? 'oldest' : 'newest',
      limit: query.limit + 1,
    },
    `${spanColumns}, ${positionSelection}`,
    after === undefined
      ? condition
      : {
          ...condition,
          sql: `${condition.sql} AND (${positionSql}) ${isOldest ? '>' : '<'} (${positionParametersSql})`,
          parameters: { ...condition.parameters, ...toPositionParameters(after) },
        },
  );
};

const toPositionParameters = ({ time, partition, offset, ordinal }: SpanPosition): Record<string, string> => ({
  time,
  partition,
  offset,
  ordinal,
});

/**
 * Reads the positions of the slowest spans first, then only these spans: entire spans are wide, and all matches are
 * scanned.
 */
const readSlowest = async (
  query: SpansQuery,
  { columns }: TenantReader,
  range: Range,
  after: SpanPosition | undefined,
): Promise<PositionedRow[]> => {
  const condition = buildSpansCondition(query);
  const afterCondition =
    after === undefined ? '' : ` AND (spans.duration, ${positionSql}) < ({lasted:UInt64}, ${positionParametersSql})`;
  const slowestFirstSql = ['spans.duration', ...positionColumns].map((column) => `${column} DESC`).join(', ');
  const order = `ORDER BY ${slowestFirstSql} LIMIT ${query.limit + 1}`;
  const positions = await columns.query<SpanPosition>(
    `SELECT toString(toUnixTimestamp64Nano(timestamp)) AS time, ${positionSelection} FROM spans
    WHERE tenant_id = {tenant:String} AND ${buildRangeCondition('traces')} AND ${condition.sql}${afterCondition} ${order}`,
    {
      ...condition.parameters,
      ...buildRangeParameters(range),
      ...(after === undefined ? {} : { lasted: after.lasted, ...toPositionParameters(after) }),
    },
  );
  if (positions.length === 0) return [];
  const times = positions.map(({ time }) => BigInt(time)).sort((one, other) => Number(one - other));
  // These are digits from stored rows, so they can be inlined.
  const keys = positions.map(({ partition, offset, ordinal }) => `(${partition}, ${offset}, ${ordinal})`).join(', ');
  return columns.query<PositionedRow>(
    `SELECT ${spanColumns}, ${positionSelection} FROM spans WHERE tenant_id = {tenant:String} AND ${buildRangeCondition('traces')}
      AND ${condition.sql} AND (spans.partition, spans.offset, spans.ordinal) IN (${keys}) ${order}`,
    { ...condition.parameters, ...buildRangeParameters({ from: times[0] ?? 0n, to: times.at(-1) ?? 0n }) },
  );
};
