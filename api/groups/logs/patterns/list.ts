import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern } from '../../../../queries/cursor.ts';
import { parseRetainedRange, type Range, rangeParameters, requireRetained } from '../../../../queries/range.ts';
import { listSortValues, parseSort, sortDescription } from '../../../../queries/sort.ts';
import {
  countPatterns,
  describePatterns,
  judgePattern,
  LogPattern,
  type PatternsQuery,
  type PatternTotal,
  type PatternTotals,
} from '../../../../subjects/log-patterns/patterns.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { listCache } from '../../../kernel/result-cache.ts';
import { filterParameters, toPatternsQuery } from './pattern-query.ts';

/** Sort keys of the list; a leading `-` sorts the largest or latest first. */
const sortValues: Readonly<Record<string, (total: PatternTotal) => number>> = {
  count: ({ count }) => count,
  firstSeen: ({ firstMs }) => firstMs,
  lastSeen: ({ lastMs }) => lastMs ?? 0,
};
const sorts = listSortValues(Object.keys(sortValues));
const verdictFields = { new: 'isNew', gone: 'isGone', spiking: 'isSpiking' } as const;

export const listLogPatterns = defineOperation({
  method: 'GET',
  path: '/api/logs/patterns',
  operationId: 'listLogPatterns',
  summary: 'List the patterns of log bodies in a time range, the most frequent first',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    ...filterParameters,
    search: z.string().max(1024).optional().describe('Words that must all occur in the template, case-insensitive'),
    only: z.enum(['new', 'gone', 'spiking']).optional().describe('Only patterns with this property'),
    sort: z.enum(sorts).default('-count').describe(sortDescription),
  }),
  response: z.strictObject({
    items: z.array(LogPattern),
    nextCursor: z.string().nullable(),
    count: z.int().describe('Number of matching records in the range, of all patterns'),
  }),
  async handler({ caller, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor, query.sort);
    const range = page?.range ?? parseRetainedRange(query, { caller, signal: 'logs', nowMs });
    if (page !== undefined) requireRetained(range, { caller, signal: 'logs', nowMs, isFromCursor: true });
    const patternsQuery = toPatternsQuery(query, range, { caller, nowMs });
    const reader = columns.forTenant(caller.tenantId);
    const totals = await countPatterns(reader, patternsQuery);
    const order = createComparator(query.sort);
    const sortedPatterns = filterPatterns(totals, query, patternsQuery)
      .sort(order)
      .filter((total) => page === undefined || order(total, page.after) > 0);
    const pagePatterns = sortedPatterns.slice(0, query.limit);
    const last = pagePatterns.at(-1);
    return {
      items: await describePatterns(reader, totals, pagePatterns, patternsQuery),
      nextCursor:
        sortedPatterns.length > pagePatterns.length && last !== undefined
          ? encodeCursor(`log-patterns ${query.sort}`, [range.from, range.to, getSortValue(query.sort, last), last.id])
          : null,
      count: totals.count,
    };
  },
});

const filterPatterns = (
  totals: PatternTotals,
  { search, only }: { readonly search?: string | undefined; readonly only?: keyof typeof verdictFields | undefined },
  patternsQuery: PatternsQuery,
): PatternTotal[] => {
  const words = search?.toLowerCase().split(/\s+/) ?? [];
  return [...totals.byId.values()].filter((total) => {
    const template = total.template?.toLowerCase() ?? '';
    if (!words.every((word) => template.includes(word))) return false;
    return only === undefined || judgePattern(totals, total, patternsQuery)[verdictFields[only]] === true;
  });
};

const getSortValue = (sort: string, total: PatternTotal): number => sortValues[parseSort(sort).by]?.(total) ?? 0;

type SortPosition = Pick<PatternTotal, 'id' | 'count' | 'firstMs' | 'lastMs'>;
const createComparator =
  (sort: string) =>
  (left: SortPosition, right: SortPosition): number => {
    const difference = getSortValue(sort, left as PatternTotal) - getSortValue(sort, right as PatternTotal);
    if (difference !== 0) return parseSort(sort).direction === 'descending' ? -difference : difference;
    return left.id < right.id ? -1 : Number(left.id > right.id);
  };

/** A cursor contains the range and the end of the page. */
const parseCursor = (cursor: string, sort: string): { range: Range; after: SortPosition } => {
  const [from = '', to = '', value = '', id = ''] = decodeCursor(`log-patterns ${sort}`, cursor, [
    int64Pattern,
    int64Pattern,
    /^\d{1,16}$/,
    /^[0-9a-f]{16}$/,
  ]);
  const sortValue = Number(value);
  return {
    range: { from: BigInt(from), to: BigInt(to) },
    after: { id, count: sortValue, firstMs: sortValue, lastMs: sortValue },
  };
};
