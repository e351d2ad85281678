/** Quantiles of Prometheus' classic histograms, whose buckets are separate series. */
import { Cells } from './cells.ts';
import type { Reads } from './kinds.ts';
import { increaseInWindows, samplesOf } from './numbers.ts';
import { inParts, type Plan, requireCells, type Values } from './plan.ts';
import { classicQuantile } from './quantile.ts';

/** A bucket of one histogram or of several added histograms. */
interface Bucket {
  readonly histogram: number;
  /** Upper bound of the bucket. */
  readonly bound: number;
}

/** Buckets of histograms by number, the bucket of each series, and the group of each histogram. */
interface Buckets {
  readonly buckets: readonly Bucket[];
  readonly bucketOf: readonly number[];
  readonly groupOf: readonly number[];
}

const bucketsOf = ({ series, groupOf: groups }: Plan, isSummed: boolean): Buckets => {
  const histograms = new Numbering();
  const numbering = new Numbering();
  const buckets: Bucket[] = [];
  const groupOf: number[] = [];
  const bucketOf = series.map(({ le, histogram: name }, member) => {
    const group = groups[member] ?? 0;
    const histogram = histograms.of(isSummed ? String(group) : name);
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le === '' ? Number.NaN : le);
    const bucket = numbering.of(`${histogram}/${bound}`);
    buckets[bucket] = { histogram, bound };
    groupOf[histogram] = group;
    return bucket;
  });
  return { buckets, bucketOf, groupOf };
};

/** Returns quantiles of the bucket increases of each group; of each histogram if series are not added. */
export const classicQuantiles = async (plan: Plan, reads: readonly Reads[], quantile: number): Promise<Values> => {
  const { query, windows, groups } = plan;
  const isSummed = query.across === 'sum' || query.across === 'none';
  const { buckets, bucketOf, groupOf } = bucketsOf(plan, isSummed);
  requireCells(buckets.length, windows, plan.limits);
  const increases = new Cells(buckets.length, windows.count, 'sum');
  for (const read of reads)
    await inParts(plan, read, increases, (source, { members }) =>
      increases.add(
        plan.reading.columns,
        increaseInWindows(samplesOf(source), windows, read.temporality),
        { metrics: source.metrics },
        { members: source.ids, groups: members.map((at) => bucketOf[at] ?? 0) },
      ),
    );
  const own: { readonly bucket: number; readonly bound: number }[][] = groupOf.map(() => []);
  for (const [bucket, { histogram, bound }] of buckets.entries())
    if (!Number.isNaN(bound)) own[histogram]?.push({ bucket, bound });
  const cells = new Cells(groups.length, windows.count, isSummed ? 'sum' : query.across);
  for (const [histogram, group] of groupOf.entries())
    for (let window = 0; window < windows.count; window++) {
      const value = classicQuantile(cumulativeIn(own[histogram] ?? [], increases, window), quantile);
      if (value !== undefined) cells.set(group, window, value);
    }
  return (group, window) => cells.at(group, window);
};

const cumulativeIn = (
  own: readonly { readonly bucket: number; readonly bound: number }[],
  increases: Cells,
  window: number,
): Map<number, number> => {
  const cumulative = new Map<number, number>();
  for (const { bucket, bound } of own) {
    const value = increases.at(bucket, window);
    if (value !== undefined) cumulative.set(bound, Number(value));
  }
  return cumulative;
};

/** Numbers names from 0 in order of first use. */
class Numbering {
  readonly #numbers = new Map<string, number>();

  get count(): number {
    return this.#numbers.size;
  }

  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}
