/**
 * Lists of infrastructure items at the end of a range: searched, sorted and paged, with a cursor that contains the
 * range
 */
import { z } from 'zod';
import {
  cursorParameter,
  decodeCursor,
  encodeCursor,
  int64Pattern,
  nonEmptyTextPattern,
} from '../../queries/cursor.ts';
import { createValidationError } from '../../queries/errors.ts';
import { type ProjectScope, projectScopeParameters } from '../../queries/project-scope.ts';
import { parseRetainedRange, type Range, rangeParameters, requireRetained } from '../../queries/range.ts';
import { Incompleteness } from '../../queries/result.ts';
import { listSortValues, parseSort, sortDescription } from '../../queries/sort.ts';
import { decodePosition, encodePosition, getSortedPage, type Position } from '../../queries/sorted-page.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';

/** Sort key of an item; `null` is last in either order */
export type SortKey = string | number | null;
export type Sorts<Item> = Readonly<Record<string, (item: Item) => SortKey>>;

/**
 * Returns query parameters of a list that can be sorted by these names. The first name is the default; numeric values
 * sort in descending order.
 */
export const listParameters = <Name extends string>(names: readonly [Name, ...Name[]]) => ({
  ...rangeParameters,
  cursor: cursorParameter,
  ...projectScopeParameters,
  search: z.string().max(512).optional().describe('Case-insensitive substring of the name or another identifier'),
  sort: z
    .enum(listSortValues(names))
    .default((names[0] === 'name' ? 'name' : `-${names[0]}`) as never)
    .describe(sortDescription),
});

export interface ListQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
  readonly search?: string | undefined;
  readonly sort: string;
}

/** Returns the schema of the response. */
export const createListSchema = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    from: z.string(),
    to: z.string().describe('Time of the values'),
    items: z.array(item),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness).describe('Missing parts of the result; empty if it is complete'),
  });

interface Page {
  readonly range: Range;
  readonly after: Position | undefined;
}

/** Returns the range and position of the requested page; checks the entitlement to metrics and their retention. */
export const parsePage = (kind: string, query: ListQuery, reader: TenantReader): Page => {
  const { nowMs } = reader;
  if (query.cursor === undefined)
    return { range: parseRetainedRange(query, { caller: reader, signal: 'metrics', nowMs }), after: undefined };
  const [from = '', to = '', position = ''] = decodeCursor(kind, query.cursor, [
    int64Pattern,
    int64Pattern,
    nonEmptyTextPattern,
  ]);
  const range = { from: BigInt(from), to: BigInt(to) };
  requireRetained(range, { caller: reader, signal: 'metrics', nowMs, isFromCursor: true });
  return { range, after: decodePosition(position) };
};

/** Filters of a list: for each query parameter, the value of the item to compare */
export type Filters<Item, Query> = { readonly [Name in keyof Query]?: (item: Item) => string | null };

/** Returns whether an item matches the filters; an omitted parameter is not a condition. */
export const createFilter =
  <Item, Query extends object>(query: Query, filters: Filters<Item, Query>): ((item: Item) => boolean) =>
  (item) =>
    (Object.keys(filters) as (keyof Query)[]).every((name) => {
      const requestedValue = query[name];
      return requestedValue === undefined || requestedValue === filters[name]?.(item);
    });

interface ListDefinition<Item> {
  readonly sorts: Sorts<Item>;
  readonly id: (item: Item) => string;
  /** Texts to search */
  readonly texts: (item: Item) => readonly (string | null | undefined)[];
}

interface ListItems<Item> {
  readonly items: readonly Item[];
  readonly isTruncated: boolean;
}

/** Reads the items of the requested range, applies the filters, and returns one page. */
export const readListPage = async <Item, Query extends ListQuery>(
  kind: string,
  query: Query,
  reader: TenantReader,
  {
    readItems,
    filters,
    ...listing
  }: ListDefinition<Item> & {
    readonly readItems: (reader: TenantReader, range: Range, scope: ProjectScope) => Promise<ListItems<Item>>;
    readonly filters: Filters<Item, Query>;
  },
) => {
  const page = parsePage(kind, query, reader);
  const listItems = await readItems(reader, page.range, query);
  return createPage(
    kind,
    query,
    page,
    { ...listItems, items: listItems.items.filter(createFilter(query, filters)) },
    listing,
  );
};

/** Returns one page of these items; `isTruncated` is true if there are more than the limit. */
export const createPage = <Item>(
  kind: string,
  query: ListQuery,
  page: Page,
  listItems: ListItems<Item>,
  { sorts, id, texts }: ListDefinition<Item>,
) => {
  const { by, direction } = parseSort(query.sort);
  const keyOf = sorts[by];
  if (keyOf === undefined) throw createValidationError('sort', `must be one of ${Object.keys(sorts).join(', ')}`);
  const searchText = query.search?.toLowerCase() ?? '';
  const items = listItems.items.filter(
    (item) => searchText === '' || texts(item).some((text) => text?.toLowerCase().includes(searchText)),
  );
  const { pageItems, last } = getSortedPage(
    items,
    { getName: id, getSortValue: (item) => keyOf(item) ?? undefined, direction },
    { limit: query.limit, after: page.after },
  );
  return {
    from: formatTime(page.range.from),
    to: formatTime(page.range.to),
    items: [...pageItems],
    nextCursor: last === undefined ? null : encodeCursor(kind, [page.range.from, page.range.to, encodePosition(last)]),
    partial: listItems.isTruncated
      ? [
          {
            code: 'rows' as const,
            message: 'there are more series than one response can contain: select one project or add a filter',
          },
        ]
      : [],
  };
};
