/** Pages of stored history entries with a time in milliseconds, the newest first */
import {
  cursorParameter,
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  int64Pattern,
  nonEmptyTextPattern,
  uint64Pattern,
} from '../../queries/cursor.ts';
import { type Range, rangeParameters } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { parseEventsRange } from './events.ts';

export const historyParameters = {
  from: rangeParameters.from.describe('Start of the range; default: `now-24h`'),
  to: rangeParameters.to,
  limit: rangeParameters.limit,
  cursor: cursorParameter,
};

/** A page with its range in nanoseconds */
export interface HistoryPage {
  readonly range: Range;
  /** Number of rows to read: one more than the page, to detect a next page */
  readonly limit: number;
  /** Position after which the page begins, in milliseconds */
  readonly after?: { readonly ms: string; readonly id: string } | undefined;
}

interface PageQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Returns the requested page; a cursor also contains the range. */
export const parseHistoryPage = (kind: string, query: PageQuery, reader: TenantReader): HistoryPage => {
  const { limit, cursor } = query;
  if (cursor === undefined)
    return { range: parseEventsRange({ ...query, from: query.from ?? 'now-24h' }, reader), limit: limit + 1 };
  const [from = '', to = '', ms = '', id = ''] = decodeCursor(kind, cursor, [
    int64Pattern,
    int64Pattern,
    uint64Pattern,
    nonEmptyTextPattern,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, limit: limit + 1, after: { ms, id: decodeText(id) } };
};

/** Returns the page without the extra row, and the position of the next page. */
export const finishHistoryPage = <Row extends { readonly ms: string }>(
  kind: string,
  rows: readonly Row[],
  { range, limit, getId }: { readonly range: Range; readonly limit: number; getId(row: Row): string },
) => {
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  const hasNext = rows.length > limit && last !== undefined;
  return {
    shown: pageRows,
    nextCursor: hasNext ? encodeCursor(kind, [range.from, range.to, last.ms, encodeText(getId(last))]) : null,
  };
};

/**
 * Returns the SQL condition of the page's rows, for a table with the column `time`, and its parameters. The caller must
 * order rows by time and id, both descending.
 */
export const createHistoryCondition = ({ range, after }: HistoryPage, id: string) => ({
  sql: `time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    ${after === undefined ? '' : `AND (time, ${id}) < (fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'), {afterId:String})`}`,
  values: {
    from: String(-(-range.from / 1_000_000n)),
    to: String(range.to / 1_000_000n),
    ...(after !== undefined && { afterMs: after.ms, afterId: after.id }),
  },
});
