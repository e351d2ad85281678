/** Quantiles of Prometheus' classic histograms, whose buckets are separate series. */
import { Cells } from './cells.ts';
import type { SeriesRead } from './kinds.ts';
import { buildIncreaseSql, createSampleSource } from './numbers.ts';
import { type MetricPlan, type ReadValue, readInParts, requireCells } from './plan.ts';
import { computeClassicQuantile } from './quantile.ts';

/** A bucket of one histogram or of several added histograms. */
interface Bucket {
  readonly histogram: number;
  /** Upper bound of the bucket. */
  readonly bound: number;
}

/** Buckets by number, the bucket of each series, and the group of each histogram. */
interface BucketLayout {
  readonly buckets: readonly Bucket[];
  readonly bucketOfSeries: readonly number[];
  readonly groupOfHistogram: readonly number[];
}

const numberBuckets = ({ series, groupIndexes: groups }: MetricPlan, isSummed: boolean): BucketLayout => {
  const histogramNumbering = new Numbering();
  const bucketNumbering = new Numbering();
  const buckets: Bucket[] = [];
  const groupOfHistogram: number[] = [];
  const bucketOfSeries = series.map(({ le, histogram: name }, member) => {
    const group = groups[member] ?? 0;
    const histogram = histogramNumbering.getNumber(isSummed ? String(group) : name);
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le === '' ? Number.NaN : le);
    const bucket = bucketNumbering.getNumber(`${histogram}/${bound}`);
    buckets[bucket] = { histogram, bound };
    groupOfHistogram[histogram] = group;
    return bucket;
  });
  return { buckets, bucketOfSeries, groupOfHistogram };
};

/** Returns quantiles of the bucket increases of each group, or of each histogram if series are not added up. */
export const computeClassicQuantiles = async (
  plan: MetricPlan,
  reads: readonly SeriesRead[],
  quantile: number,
): Promise<ReadValue> => {
  const { query, windows, groups } = plan;
  const isSummed = query.across === 'sum' || query.across === 'none';
  const { buckets, bucketOfSeries, groupOfHistogram } = numberBuckets(plan, isSummed);
  requireCells(buckets.length, windows, plan.limits);
  const increases = new Cells(buckets.length, windows.count, 'sum');
  for (const read of reads)
    await readInParts(plan, read, increases, (source, { members }) =>
      increases.add(
        plan.reader.columns,
        buildIncreaseSql(createSampleSource(source), windows, read.temporality),
        { metrics: source.metrics },
        { members: source.ids, groups: members.map((memberIndex) => bucketOfSeries[memberIndex] ?? 0) },
      ),
    );
  const bucketsByHistogram: { readonly bucket: number; readonly bound: number }[][] = groupOfHistogram.map(() => []);
  for (const [bucket, { histogram, bound }] of buckets.entries())
    if (!Number.isNaN(bound)) bucketsByHistogram[histogram]?.push({ bucket, bound });
  const cells = new Cells(groups.length, windows.count, isSummed ? 'sum' : query.across);
  for (const [histogram, group] of groupOfHistogram.entries())
    for (let window = 0; window < windows.count; window++) {
      const value = computeClassicQuantile(
        readCumulativeCounts(bucketsByHistogram[histogram] ?? [], increases, window),
        quantile,
      );
      if (value !== undefined) cells.addValue(group, window, value);
    }
  return (group, window) => cells.get(group, window);
};

const readCumulativeCounts = (
  histogramBuckets: readonly { readonly bucket: number; readonly bound: number }[],
  increases: Cells,
  window: number,
): Map<number, number> => {
  const cumulative = new Map<number, number>();
  for (const { bucket, bound } of histogramBuckets) {
    const value = increases.get(bucket, window);
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

  getNumber(name: string): number {
    const number = this.#numbers.get(name);
    if (number !== undefined) return number;
    this.#numbers.set(name, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}
