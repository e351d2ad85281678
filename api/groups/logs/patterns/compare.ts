import { z } from 'zod';
import { decodeCursor, encodeCursor, int64Pattern } from '../../../../queries/cursor.ts';
import { parseRetainedRange, type Range, rangeParameters, requireRetained } from '../../../../queries/range.ts';
import { timeParameter } from '../../../../queries/time-parameters.ts';
import { ComparedPattern, comparePatterns } from '../../../../subjects/log-patterns/pattern-comparison.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import { listCache } from '../../../kernel/result-cache.ts';
import { filterParameters } from './pattern-query.ts';

const cursorKind = 'log-patterns-compared';

export const compareLogPatterns = defineOperation({
  method: 'GET',
  path: '/api/logs/patterns/compare',
  operationId: 'compareLogPatterns',
  summary:
    'Compare the patterns of two time ranges: new and disappeared ones, and those whose share changed, the largest change first',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  query: z.strictObject({
    ...rangeParameters,
    baselineFrom: timeParameter.optional().describe('Default: a range of the same length before `from`'),
    baselineTo: timeParameter.optional().describe('Default: just before `from`'),
    ...filterParameters,
    change: z.enum(['new', 'gone', 'more', 'fewer', 'same']).optional().describe('Only patterns with this change'),
  }),
  response: z.strictObject({ items: z.array(ComparedPattern), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { columns, clock }) {
    const nowMs = clock.now();
    const rangeContext = { caller, signal: 'logs', nowMs } as const;
    const page = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const range = page?.range ?? parseRetainedRange(query, rangeContext);
    const baseline = page?.baseline ?? parseRetainedRange(resolveBaseline(query, range), rangeContext);
    if (page !== undefined)
      for (const each of [range, baseline]) requireRetained(each, { ...rangeContext, isFromCursor: true });
    const comparedPatterns = await comparePatterns(columns.forTenant(caller.tenantId), { range, baseline }, query);
    const matchingPatterns = comparedPatterns.filter(
      ({ change }) => query.change === undefined || change === query.change,
    );
    const startIndex = page === undefined ? 0 : matchingPatterns.findIndex(({ id }) => id === page.id) + 1;
    const items = matchingPatterns.slice(startIndex, startIndex + query.limit);
    const last = items.at(-1);
    return {
      items,
      nextCursor:
        last !== undefined && startIndex + items.length < matchingPatterns.length
          ? encodeCursor(cursorKind, [range.from, range.to, baseline.from, baseline.to, last.id])
          : null,
    };
  },
});

/** Counts are per minute, so the range and its baseline must not share a minute. */
const minuteNs = 60_000_000_000n;
const toMilliseconds = (nanoseconds: bigint): string => String(nanoseconds / 1_000_000n);

const resolveBaseline = (
  {
    baselineFrom,
    baselineTo,
  }: { readonly baselineFrom?: string | undefined; readonly baselineTo?: string | undefined },
  { from, to }: Range,
): { from: string; to: string } => ({
  from: baselineFrom ?? toMilliseconds(from - (to - from) - minuteNs),
  to: baselineTo ?? toMilliseconds((from / minuteNs) * minuteNs - 1_000_000n),
});

const parseCursor = (cursor: string): { range: Range; baseline: Range; id: string } => {
  const [from = '', to = '', baseFrom = '', baseTo = '', id = ''] = decodeCursor(cursorKind, cursor, [
    ...[int64Pattern, int64Pattern, int64Pattern, int64Pattern],
    /^[0-9a-f]{16}$/,
  ]);
  return {
    range: { from: BigInt(from), to: BigInt(to) },
    baseline: { from: BigInt(baseFrom), to: BigInt(baseTo) },
    id,
  };
};
