/** Lists individual spans of a range: newest, oldest or slowest first. */
import { decodeCursor, encodeCursor, integer, natural } from '../cursor.ts';
import { invalid } from '../errors.ts';
import { type Range, rangeOf, refuseBeyondRetention } from '../range.ts';
import type { Reading } from '../reading.ts';
import { type Condition, rangeValues, recordsCondition, withinRange } from '../records.ts';
import { resourcesOf } from '../resources.ts';
import { rowsInOrder } from '../rows/in-order.ts';
import { type Span, type SpanRow, spanOf, spanSelection } from '../signals/span-record.ts';

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
interface Place {
  readonly lasted: string;
  readonly time: string;
  readonly partition: string;
  readonly offset: string;
  readonly ordinal: string;
}
type PlacedRow = SpanRow & Omit<Place, 'time' | 'lasted'>;

const cursorKind = 'spans';
const cursorPatterns = [
  integer,
  integer,
  /^(?:newest|oldest|slowest)$/,
  natural,
  integer,
  /^\d{1,5}$/,
  natural,
  /^\d{1,10}$/,
];
const placeSelection =
  'toString(spans.partition) AS partition, toString(spans.offset) AS offset, toString(spans.ordinal) AS ordinal';
const placeColumns = ['spans.timestamp', 'spans.partition', 'spans.offset', 'spans.ordinal'];
const place = placeColumns.join(', ');
const placeValue =
  "fromUnixTimestamp64Nano({time:Int64}, 'UTC'), {partition:UInt16}, {offset:UInt64}, {ordinal:UInt32}";

/** Returns the condition on spans of a service and a search. */
export const spansCondition = ({
  service,
  ...records
}: Pick<SpansQuery, 'service' | 'search' | 'projectId'>): Condition => {
  const ofRecords = recordsCondition({ signal: 'traces', ...records });
  if (service === undefined) return ofRecords;
  const { sql, parameters } = ofRecords;
  return { ...ofRecords, sql: `service = {service:String} AND ${sql}`, parameters: { ...parameters, service } };
};

/**
 * Returns a page of spans. Pages neither skip nor repeat spans while new ones are stored: a late span is on a later
 * page, or on none.
 */
export const listSpans = async (
  query: SpansQuery,
  reading: Reading,
): Promise<{ readonly items: readonly Span[]; readonly nextCursor: string | null }> => {
  const { range, after } = pageOf(query, reading);
  const { order, limit } = query;
  const rows = await (order === 'slowest' ? slowest : inOrder)(query, reading, range, after);
  const shown = rows.slice(0, limit);
  const resources = await resourcesOf(
    reading.columns,
    shown.map(({ resource }) => resource),
  );
  const last = shown.at(-1);
  return {
    items: shown.map((row) => spanOf(row, resources.get(row.resource))),
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
const pageOf = (query: SpansQuery, reading: Reading): { range: Range; after: Place | undefined } => {
  const of = { caller: reading, signal: 'traces', nowMs: reading.nowMs } as const;
  if (query.cursor === undefined) return { range: rangeOf(query, of), after: undefined };
  const [from = '', to = '', order = '', lasted = '', time = '', partition = '', offset = '', ordinal = ''] =
    decodeCursor(cursorKind, query.cursor, cursorPatterns);
  if (order !== query.order) throw invalid('cursor', `is of a list with order=${order}`);
  const range = { from: BigInt(from), to: BigInt(to) };
  refuseBeyondRetention(range, { ...of, wasListed: true });
  return { range, after: { lasted, time, partition, offset, ordinal } };
};

const inOrder = (
  query: SpansQuery,
  { columns }: Reading,
  { from, to }: Range,
  after: Place | undefined,
): Promise<PlacedRow[]> => {
  const condition = spansCondition(query);
  const isOldest = query.order === 'oldest';
  const rest = after === undefined ? undefined : BigInt(after.time);
  return rowsInOrder<PlacedRow>(
    columns,
    {
      signal: 'traces',
      range: { from: isOldest && rest !== undefined ? rest : from, to: isOldest || rest === undefined ? to : rest },
      order: isOldest ? 'oldest' : 'newest',
      limit: query.limit + 1,
    },
    `${spanSelection}, ${placeSelection}`,
    after === undefined
      ? condition
      : {
          ...condition,
          sql: `${condition.sql} AND (${place}) ${isOldest ? '>' : '<'} (${placeValue})`,
          parameters: { ...condition.parameters, ...placeValues(after) },
        },
  );
};

const placeValues = ({ time, partition, offset, ordinal }: Place): Record<string, string> => ({
  time,
  partition,
  offset,
  ordinal,
});

/**
 * Reads the positions of the slowest spans first, then only these spans: entire spans are wide, and all matches are
 * scanned.
 */
const slowest = async (
  query: SpansQuery,
  { columns }: Reading,
  range: Range,
  after: Place | undefined,
): Promise<PlacedRow[]> => {
  const condition = spansCondition(query);
  const since = after === undefined ? '' : ` AND (spans.duration, ${place}) < ({lasted:UInt64}, ${placeValue})`;
  const slowestFirst = ['spans.duration', ...placeColumns].map((column) => `${column} DESC`).join(', ');
  const order = `ORDER BY ${slowestFirst} LIMIT ${query.limit + 1}`;
  const places = await columns.query<Place>(
    `SELECT toString(toUnixTimestamp64Nano(timestamp)) AS time, ${placeSelection} FROM spans
    WHERE tenant_id = {tenant:String} AND ${withinRange('traces')} AND ${condition.sql}${since} ${order}`,
    {
      ...condition.parameters,
      ...rangeValues(range),
      ...(after === undefined ? {} : { lasted: after.lasted, ...placeValues(after) }),
    },
  );
  if (places.length === 0) return [];
  const times = places.map(({ time }) => BigInt(time)).sort((one, other) => Number(one - other));
  // Digits from stored rows, so they can be inlined.
  const keys = places.map(({ partition, offset, ordinal }) => `(${partition}, ${offset}, ${ordinal})`).join(', ');
  return columns.query<PlacedRow>(
    `SELECT ${spanSelection}, ${placeSelection} FROM spans WHERE tenant_id = {tenant:String} AND ${withinRange('traces')}
      AND ${condition.sql} AND (spans.partition, spans.offset, spans.ordinal) IN (${keys}) ${order}`,
    { ...condition.parameters, ...rangeValues({ from: times[0] ?? 0n, to: times.at(-1) ?? 0n }) },
  );
};
