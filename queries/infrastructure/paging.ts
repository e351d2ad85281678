/** Lists of things as they are at the end of a range: searched, sorted and paged, with a cursor that holds the range. */
import { z } from 'zod';
import { cursorParameter, decodeCursor, encodeCursor, integer } from '../cursor.ts';
import { invalid } from '../errors.ts';
import { projectScopeParameters } from '../project-scope.ts';
import { type Range, rangeOf, rangeParameters, refuseBeyondRetention } from '../range.ts';
import type { Reading } from '../reading.ts';
import { Incompleteness } from '../result.ts';
import { formatTime } from '../time.ts';

/** What a thing is sorted by; `null` stands last in either order. */
export type SortKey = string | number | null;
export type Sorts<Item> = Readonly<Record<string, (item: Item) => SortKey>>;

/** Query parameters of such a list, which can be sorted by these names; the first is the default. */
export const listParameters = <Name extends string>(names: readonly [Name, ...Name[]]) => ({
  ...rangeParameters,
  cursor: cursorParameter,
  ...projectScopeParameters,
  search: z.string().max(512).optional().describe('A part of the name or of what else identifies it, in any case'),
  sort: z.enum(names).default(names[0] as never),
  order: z.enum(['ascending', 'descending']).optional().describe('Default: names ascending, figures descending'),
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
  readonly order?: 'ascending' | 'descending' | undefined;
}

/** The form of the answer. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    from: z.string(),
    to: z.string().describe('The figures are those of this time'),
    items: z.array(item),
    nextCursor: z.string().nullable(),
    partial: z.array(Incompleteness).describe('Empty when the answer is complete'),
  });

interface Page {
  readonly range: Range;
  readonly after: { readonly key: SortKey; readonly id: string } | undefined;
}

const Position = z.tuple([z.union([z.string(), z.number(), z.null()]), z.string()]);

/** Range and place of the page that is asked for; checks the entitlement to metrics and their retention. */
export const pageAsked = (kind: string, query: ListQuery, reading: Reading): Page => {
  const { nowMs } = reading;
  if (query.cursor === undefined)
    return { range: rangeOf(query, { caller: reading, signal: 'metrics', nowMs }), after: undefined };
  const [from = '', to = '', position = ''] = decodeCursor(kind, query.cursor, [integer, integer, /^[\w-]+$/]);
  const range = { from: BigInt(from), to: BigInt(to) };
  refuseBeyondRetention(range, { caller: reading, signal: 'metrics', nowMs, wasListed: true });
  return { range, after: positionOf(position) };
};

const positionOf = (text: string): NonNullable<Page['after']> => {
  try {
    const [key, id] = Position.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    return { key, id };
  } catch {
    throw invalid('cursor', 'is not a cursor of this list');
  }
};

const compare = (one: SortKey, other: SortKey): number => {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  const [a, b] = [String(one), String(other)];
  return a < b ? -1 : a > b ? 1 : 0;
};

/** One page of these things, of which `isCut` says whether more than can be read are there. */
export const pageOf = <Item>(
  kind: string,
  query: ListQuery,
  page: Page,
  found: { readonly items: readonly Item[]; readonly isCut: boolean },
  {
    sorts,
    id,
    texts,
  }: {
    readonly sorts: Sorts<Item>;
    readonly id: (item: Item) => string;
    readonly texts: (item: Item) => readonly (string | null | undefined)[];
  },
) => {
  const keyOf = sorts[query.sort];
  if (keyOf === undefined) throw invalid('sort', `must be one of ${Object.keys(sorts).join(', ')}`);
  const wanted = query.search?.toLowerCase() ?? '';
  const keyed = found.items
    .filter((item) => wanted === '' || texts(item).some((text) => text?.toLowerCase().includes(wanted)))
    .map((item) => ({ item, key: keyOf(item), id: id(item) }));
  const isText = keyed.some(({ key }) => typeof key === 'string');
  const sign = (query.order ?? (isText ? 'ascending' : 'descending')) === 'ascending' ? 1 : -1;
  const order = (one: { key: SortKey; id: string }, other: { key: SortKey; id: string }): number => {
    if (one.key === null || other.key === null) {
      if (one.key !== other.key) return one.key === null ? 1 : -1;
      return compare(one.id, other.id);
    }
    return sign * compare(one.key, other.key) || compare(one.id, other.id);
  };
  const sorted = keyed.toSorted(order);
  const { after } = page;
  const rest = after === undefined ? sorted : sorted.filter((each) => order(each, after) > 0);
  const shown = rest.slice(0, query.limit);
  const last = rest.length > query.limit ? shown.at(-1) : undefined;
  return {
    from: formatTime(page.range.from),
    to: formatTime(page.range.to),
    items: shown.map(({ item }) => item),
    nextCursor:
      last === undefined
        ? null
        : encodeCursor(kind, [
            page.range.from,
            page.range.to,
            Buffer.from(JSON.stringify([last.key, last.id])).toString('base64url'),
          ]),
    partial: found.isCut
      ? [
          {
            code: 'rows' as const,
            message: 'there are more series than one answer can hold: ask for one project, or for a filter',
          },
        ]
      : [],
  };
};
