/** Parameters and pages of lists that are read completely and then sorted. */
import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern, nonEmptyTextPattern } from '../../../queries/cursor.ts';
import { type Range, rangeParameters, requireRetained } from '../../../queries/range.ts';
import { type Direction, parseSort } from '../../../queries/sort.ts';
import { decodePosition, encodePosition, getSortedPage, type Position } from '../../../queries/sorted-page.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { formatTime } from '../../../queries/time.ts';
import { parseRumRange, rumFilterParameters } from '../../../subjects/rum/scope.ts';

/** Query parameters of all lists of events. */
export const listParameters = { ...rangeParameters, ...rumFilterParameters };

/** Fields of responses of lists. */
export const listFields = {
  from: z.string().describe('Start of the range'),
  to: z.string(),
  nextCursor: z.string().nullable(),
};

/** Returns the range of a request, or that of its cursor with the position after which the page begins. */
export const parseListRange = (
  kind: string,
  query: { readonly from?: string | undefined; readonly to?: string | undefined; readonly cursor?: string | undefined },
  reader: TenantReader,
): { readonly range: Range; readonly after: Position | undefined } => {
  if (query.cursor === undefined) return { range: parseRumRange(query, reader), after: undefined };
  const [from = '', to = '', position = ''] = decodeCursor(kind, query.cursor, [
    int64Pattern,
    int64Pattern,
    nonEmptyTextPattern,
  ]);
  const range = { from: BigInt(from), to: BigInt(to) };
  requireRetained(range, { caller: reader, signal: 'rum', nowMs: reader.nowMs, isFromCursor: true });
  return { range, after: decodePosition(position) };
};

interface PageRequest<Item> {
  readonly kind: string;
  readonly range: Range;
  readonly sort: string;
  readonly limit: number;
  readonly after: Position | undefined;
  readonly getName: (item: Item) => string;
  readonly getSortValue: (item: Item, by: string) => string | number | null;
}

/** Returns a page of items and the cursor of the next one. */
export const getPage = <Item>(
  items: readonly Item[],
  { kind, range, sort, limit, after, getName, getSortValue }: PageRequest<Item>,
): { readonly from: string; readonly to: string; readonly items: Item[]; readonly nextCursor: string | null } => {
  const { by, direction }: { by: string; direction: Direction } = parseSort(sort);
  const { pageItems, last } = getSortedPage(
    items,
    { getName, getSortValue: (item) => getSortValue(item, by) ?? undefined, direction },
    { limit, after },
  );
  return {
    from: formatTime(range.from),
    to: formatTime(range.to),
    items: [...pageItems],
    nextCursor: last === undefined ? null : encodeCursor(kind, [range.from, range.to, encodePosition(last)]),
  };
};
