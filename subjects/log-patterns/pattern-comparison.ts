/** Comparison of the log patterns of two ranges */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { readCatalogue } from './pattern-catalogue.ts';
import { type CountFilter, readCounts } from './pattern-counts.ts';
import { PatternTotals } from './patterns.ts';

/** Minimum number of standard errors between two shares, and minimum ratio, for a change */
const minErrors = 4;
const minRatio = 1.5;

const Side = z.strictObject({
  count: z.int(),
  share: z.number().describe('Share of all records of the range that match the filters, between 0 and 1'),
});

export const ComparedPattern = z.strictObject({
  id: z.string(),
  template: z.string().nullable(),
  services: z.array(z.string()),
  range: Side,
  baseline: Side,
  change: z
    .enum(['new', 'gone', 'more', 'fewer', 'same'])
    .nullable()
    .describe(
      '`new`: no record in the baseline; `gone`: no record in the range; `more`, `fewer`: the shares differ by 4 standard errors and a factor of at least 1.5; `null` if a range has no records',
    ),
});
export type ComparedPattern = z.output<typeof ComparedPattern>;

interface RangeValues {
  readonly now: number;
  readonly before: number;
}

/**
 * Returns the change of a pattern with `counts` of `totals` records. Compares shares instead of counts, so that more
 * traffic is not a change. With the combined share p, shares differ if |p₁ − p₂| ≥ 4 · √(p (1 − p) (1/n₁ + 1/n₂)).
 */
export const classifyChange = (counts: RangeValues, totals: RangeValues): ComparedPattern['change'] => {
  if (totals.now === 0 || totals.before === 0) return null;
  if (counts.before === 0) return 'new';
  if (counts.now === 0) return 'gone';
  const now = counts.now / totals.now;
  const before = counts.before / totals.before;
  const combinedShare = (counts.now + counts.before) / (totals.now + totals.before);
  const error = Math.sqrt(combinedShare * (1 - combinedShare) * (1 / totals.now + 1 / totals.before));
  const ratio = Math.max(now, before) / Math.min(now, before);
  if (Math.abs(now - before) < minErrors * error || ratio < minRatio) return 'same';
  return now > before ? 'more' : 'fewer';
};

/** Returns the patterns of both ranges, ordered by the difference of their shares. */
export const comparePatterns = async (
  columns: TenantColumns,
  { range, baseline }: { readonly range: Range; readonly baseline: Range },
  filter: CountFilter,
): Promise<ComparedPattern[]> => {
  const [catalogue, currentRows, baselineRows] = await Promise.all([
    readCatalogue(columns, filter.service === undefined ? undefined : [filter.service]),
    readCounts(columns, range, filter),
    readCounts(columns, baseline, filter),
  ]);
  const totalsByRange = {
    now: new PatternTotals(catalogue, new Map()),
    before: new PatternTotals(catalogue, new Map()),
  };
  for (const [side, rows] of [
    [totalsByRange.now, currentRows],
    [totalsByRange.before, baselineRows],
  ] as const)
    for (const { service, id, count } of rows) {
      side.getTotal(service, id).count += count;
      side.count += count;
    }
  const totals = { now: totalsByRange.now.count, before: totalsByRange.before.count };
  const computeShare = (count: number, total: number): number => (total === 0 ? 0 : count / total);
  const ids = new Set([...totalsByRange.now.byId.keys(), ...totalsByRange.before.byId.keys()]);
  const comparedPatterns = [...ids].map((id): ComparedPattern => {
    const [currentTotal, baselineTotal] = [totalsByRange.now.byId.get(id), totalsByRange.before.byId.get(id)];
    const counts = { now: currentTotal?.count ?? 0, before: baselineTotal?.count ?? 0 };
    return {
      id,
      template: currentTotal?.template ?? baselineTotal?.template ?? null,
      services: [
        ...new Set([...(currentTotal?.services.keys() ?? []), ...(baselineTotal?.services.keys() ?? [])]),
      ].sort(),
      range: { count: counts.now, share: computeShare(counts.now, totals.now) },
      baseline: { count: counts.before, share: computeShare(counts.before, totals.before) },
      change: classifyChange(counts, totals),
    };
  });
  const getShareDifference = (pattern: ComparedPattern): number =>
    Math.abs(pattern.range.share - pattern.baseline.share);
  return comparedPatterns.sort(
    (left, right) => getShareDifference(right) - getShareDifference(left) || (left.id < right.id ? -1 : 1),
  );
};
