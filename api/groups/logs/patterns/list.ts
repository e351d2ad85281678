import { z } from 'zod';
import { decodeCursor, encodeCursor, integer } from '../../../../queries/cursor.ts';
import { type Range, rangeOf, rangeParameters, refuseBeyondRetention } from '../../../../queries/range.ts';
import { sortOf, sortsOf, sortText } from '../../../../queries/sort.ts';
import {
  describePatterns,
  LogPattern,
  type PatternsQuery,
  type PatternTotal,
  type PatternTotals,
  totalsOf,
  verdictOf,
} from '../../../../subjects/log-patterns/patterns.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { listCache } from '../../../kernel/result-cache.ts';
import { filterParameters, questionOf } from './question.ts';

/** Sort keys of the list; a leading `-` sorts the largest or latest first. */
const sortedBy: Readonly<Record<string, (total: PatternTotal) => number>> = {
  count: ({ count }) => count,
  firstSeen: ({ firstMs }) => firstMs,
  lastSeen: ({ lastMs }) => lastMs ?? 0,
};
const sorts = sortsOf(Object.keys(sortedBy));
const verdicts = { new: 'isNew', gone: 'isGone', spiking: 'isSpiking' } as const;

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
    sort: z.enum(sorts).default('-count').describe(sortText),
  }),
  response: z.strictObject({
    items: z.array(LogPattern),
    nextCursor: z.string().nullable(),
    count: z.int().describe('Number of matching records in the range, of all patterns'),
  }),
  async handler({ caller, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor, query.sort);
    const range = page?.range ?? rangeOf(query, { caller, signal: 'logs', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller, signal: 'logs', nowMs, wasListed: true });
    const question = questionOf(query, range, { caller, nowMs });
    const reader = columns.of(caller.tenantId);
    const totals = await totalsOf(reader, question);
    const order = orderOf(query.sort);
    const found = chosen(totals, query, question)
      .sort(order)
      .filter((total) => page === undefined || order(total, page.after) > 0);
    const shown = found.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      items: await describePatterns(reader, totals, shown, question),
      nextCursor:
        found.length > shown.length && last !== undefined
          ? encodeCursor(`log-patterns ${query.sort}`, [range.from, range.to, sortValueOf(query.sort, last), last.id])
          : null,
      count: totals.count,
    };
  },
});

const chosen = (
  totals: PatternTotals,
  { search, only }: { readonly search?: string | undefined; readonly only?: keyof typeof verdicts | undefined },
  question: PatternsQuery,
): PatternTotal[] => {
  const words = search?.toLowerCase().split(/\s+/) ?? [];
  return [...totals.byId.values()].filter((total) => {
    const template = total.template?.toLowerCase() ?? '';
    if (!words.every((word) => template.includes(word))) return false;
    return only === undefined || verdictOf(totals, total, question)[verdicts[only]] === true;
  });
};

const sortValueOf = (sort: string, total: PatternTotal): number => sortedBy[sortOf(sort).by]?.(total) ?? 0;

type Placed = Pick<PatternTotal, 'id' | 'count' | 'firstMs' | 'lastMs'>;
const orderOf =
  (sort: string) =>
  (one: Placed, two: Placed): number => {
    const difference = sortValueOf(sort, one as PatternTotal) - sortValueOf(sort, two as PatternTotal);
    if (difference !== 0) return sortOf(sort).direction === 'descending' ? -difference : difference;
    return one.id < two.id ? -1 : Number(one.id > two.id);
  };

/** A cursor contains the range and the end of the page. */
const pageOf = (cursor: string, sort: string): { range: Range; after: Placed } => {
  const [from = '', to = '', value = '', id = ''] = decodeCursor(`log-patterns ${sort}`, cursor, [
    integer,
    integer,
    /^\d{1,16}$/,
    /^[0-9a-f]{16}$/,
  ]);
  const at = Number(value);
  return { range: { from: BigInt(from), to: BigInt(to) }, after: { id, count: at, firstMs: at, lastMs: at } };
};
