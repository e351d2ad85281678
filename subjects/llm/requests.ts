/** Lists calls of models: newest first, or sorted by cost, tokens or duration. */
import { decodeCursor, encodeCursor, int64Pattern } from '../../queries/cursor.ts';
import { createValidationError } from '../../queries/errors.ts';
import type { Range } from '../../queries/range.ts';
import { createCondition } from '../../queries/records.ts';
import { readRowsInOrder } from '../../queries/rows/in-order.ts';
import { llmCallsSource } from '../../queries/signals/llm-calls-source.ts';
import { listSortValues, parseSort } from '../../queries/sort.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { type LlmCallRow, type LlmCallView, llmCallSelection, sortKeys, toLlmCallView } from './calls.ts';
import { createLlmScope, type LlmScope, type LlmScopeQuery, parseLlmRange, requireLlmRange } from './scope.ts';

/** Sort orders of requests. */
export const requestSorts = listSortValues(Object.keys(sortKeys) as (keyof typeof sortKeys)[]);
type RequestSort = (typeof requestSorts)[number];

const cursorKind = 'llm-requests';
const decimalPattern = /^\d{1,20}(\.\d{1,18})?$/;
const cursorPatterns = [
  int64Pattern,
  int64Pattern,
  /^-?[a-z]+$/,
  decimalPattern,
  int64Pattern,
  /^[0-9a-f]{32}$/,
  /^[0-9a-f]{16}$/,
];

interface Row extends LlmCallRow {
  readonly sort_value: string;
}

interface Position {
  readonly value: string;
  readonly time: string;
  readonly trace: string;
  readonly span: string;
}

const timeSql = 'toUnixTimestamp64Nano(llm_calls.timestamp)';
const positionColumns = [timeSql, 'trace_id', 'span_id'];
const newestAfterSql = `(${timeSql}, cityHash64(trace_id, span_id)) < ({time:Int64}, cityHash64({trace:String}, {span:String}))`;

export interface LlmRequestsQuery extends LlmScopeQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly sort: RequestSort;
}

/** Returns the range of a query, and the request after which the page begins. */
const resolvePage = (
  query: LlmRequestsQuery,
  reader: TenantReader,
): { readonly range: Range; readonly after: Position | undefined } => {
  if (query.cursor === undefined) return { range: parseLlmRange(query, reader), after: undefined };
  const [from = '', to = '', sort = '', value = '', time = '', trace = '', span = ''] = decodeCursor(
    cursorKind,
    query.cursor,
    cursorPatterns,
  );
  if (sort !== query.sort) throw createValidationError('cursor', `is of a list with sort=${sort}`);
  const range = { from: BigInt(from), to: BigInt(to) };
  requireLlmRange(range, reader);
  return { range, after: { value, time, trace, span } };
};

interface PageScope extends LlmScope {
  readonly after: Position | undefined;
  readonly limit: number;
}

const readNewest = (
  { columns }: TenantReader,
  { range, condition, parameters, after, limit }: PageScope,
  selection: string,
): Promise<Row[]> =>
  readRowsInOrder<Row>(
    columns,
    {
      signal: 'llm',
      range: { from: range.from, to: after === undefined ? range.to : BigInt(after.time) },
      order: 'newest',
      limit,
    },
    selection,
    createCondition(after === undefined ? condition : `${condition} AND ${newestAfterSql}`, parameters),
  );

const readSorted = (
  { columns }: TenantReader,
  { condition, parameters, after, limit }: PageScope,
  selection: string,
  { by, direction }: ReturnType<typeof parseSort<RequestSort>>,
): Promise<Row[]> => {
  const isDescending = direction === 'descending';
  const key = sortKeys[by];
  const valueSql = by === 'cost' ? 'toDecimal128({value:String}, 18)' : 'toInt64({value:String})';
  const keys = [key, ...positionColumns];
  const position =
    after === undefined
      ? ''
      : ` AND (${keys.join(', ')}) ${isDescending ? '<' : '>'} (${valueSql}, {time:Int64}, {trace:String}, {span:String})`;
  return columns.query<Row>(
    `SELECT ${selection} FROM ${llmCallsSource} WHERE ${condition}${position}
    ORDER BY ${keys.map((expression) => `${expression} ${isDescending ? 'DESC' : 'ASC'}`).join(', ')} LIMIT ${limit}`,
    parameters,
  );
};

/** Returns a page of calls. Pages neither skip nor repeat calls. */
export const listCalls = async (
  query: LlmRequestsQuery,
  reader: TenantReader,
): Promise<{ readonly items: LlmCallView[]; readonly nextCursor: string | null }> => {
  const { range, after } = resolvePage(query, reader);
  const scope = createLlmScope(query, range);
  const sort = parseSort(query.sort);
  const pageScope = {
    ...scope,
    parameters: { ...scope.parameters, ...(after !== undefined && { ...after }) },
    after,
    limit: query.limit + 1,
  };
  const selection = `${llmCallSelection}, toString(${sortKeys[sort.by]}) AS sort_value`;
  const rows = await (query.sort === '-time'
    ? readNewest(reader, pageScope, selection)
    : readSorted(reader, pageScope, selection, sort));
  const pageRows = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? pageRows.at(-1) : undefined;
  const position = last && [last.sort_value, last.time, last.trace, last.span];
  return {
    items: pageRows.map(toLlmCallView),
    nextCursor:
      position === undefined ? null : encodeCursor(cursorKind, [range.from, range.to, query.sort, ...position]),
  };
};
