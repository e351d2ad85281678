/** Parameters and pages of lists of findings, which are read completely and then sorted by the last occurrence. */
import { decodeCursor, encodeCursor, int64Pattern, nonEmptyTextPattern } from '../../../queries/cursor.ts';
import { type Range, rangeParameters } from '../../../queries/range.ts';
import { decodePosition, encodePosition, getSortedPage, type Position } from '../../../queries/sorted-page.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { parseEventsRange } from '../../../subjects/events/events.ts';

export const findingsParameters = {
  ...rangeParameters,
  from: rangeParameters.from.describe('Start of the range; default: `now-7d`, or the retention if it is shorter'),
};

interface RangeQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
}

/** Returns the range of findings. Without `from`, the last seven days that the plan retains. */
export const parseFindingsRange = (query: RangeQuery, reader: TenantReader): Range => {
  if (query.from !== undefined) return parseEventsRange(query, reader);
  const days = Math.min(7, Math.max(...Object.values(reader.plan.retentionDays)));
  return parseEventsRange({ ...query, from: new Date(reader.nowMs - days * 86_400_000).toISOString() }, reader);
};

/** Returns the range of all findings that the plan retains, for a finding by its id. */
export const getRetainedRange = (reader: TenantReader): Range =>
  parseEventsRange({ from: `now-${Math.max(...Object.values(reader.plan.retentionDays))}d` }, reader);

/** Returns the range and the position of a page. */
export const parseFindingsPage = (
  kind: string,
  query: RangeQuery,
  reader: TenantReader,
): { readonly range: Range; readonly after: Position | undefined } => {
  if (query.cursor === undefined) return { range: parseFindingsRange(query, reader), after: undefined };
  const [from = '', to = '', position = ''] = decodeCursor(kind, query.cursor, [
    int64Pattern,
    int64Pattern,
    nonEmptyTextPattern,
  ]);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: decodePosition(position) };
};

/** Returns a page of findings, the one with the highest value first. */
export const getFindingsPage = <Item extends { readonly id: string }>(
  kind: string,
  items: readonly Item[],
  {
    range,
    after,
    limit,
    getSortValue,
  }: {
    readonly range: Range;
    readonly after: Position | undefined;
    readonly limit: number;
    readonly getSortValue: (item: Item) => string | number;
  },
): { readonly items: Item[]; readonly nextCursor: string | null } => {
  const { pageItems, last } = getSortedPage(
    items,
    { getName: ({ id }) => id, getSortValue, direction: 'descending' },
    { limit, after },
  );
  return {
    items: [...pageItems],
    nextCursor: last === undefined ? null : encodeCursor(kind, [range.from, range.to, encodePosition(last)]),
  };
};
