/**
 * Computes quantiles of histograms as Prometheus does: finds the bucket of the rank, and interpolates within it,
 * linearly for explicit bounds and exponentially for exponential buckets. The observed minimum and maximum, if known,
 * bound the outer buckets and the result.
 */

/** Observations in `(lower, upper]`. */
export interface Bucket {
  readonly lower: number;
  readonly upper: number;
  readonly count: number;
  readonly isExponential?: boolean;
}

/** Counts in buckets with explicit bounds. There is one more count than bounds. */
export interface ExplicitBuckets {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

/**
 * OTLP's exponential buckets: bucket `i` covers `base ** i` to `base ** (i + 1)`, with a base of `2 ** (2 ** -scale)`.
 */
export interface ExponentialBuckets {
  readonly scale: number;
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  readonly positive: ReadonlyMap<number, number>;
  readonly negative: ReadonlyMap<number, number>;
}

/** Observed minimum and maximum; infinite if unknown. */
export interface Extremes {
  readonly min: number;
  readonly max: number;
}
export const noExtremes: Extremes = { min: Number.NEGATIVE_INFINITY, max: Number.POSITIVE_INFINITY };

export const addExplicit = (left: ExplicitBuckets, right: ExplicitBuckets): ExplicitBuckets => ({
  bounds: left.bounds,
  counts: left.counts.map((count, index) => count + (right.counts[index] ?? 0)),
});

const addShifted = (
  target: Map<number, number>,
  from: ReadonlyMap<number, number>,
  shift: number,
): Map<number, number> => {
  for (const [index, count] of from) {
    const shiftedIndex = shift === 0 ? index : Math.floor(index / 2 ** shift);
    target.set(shiftedIndex, (target.get(shiftedIndex) ?? 0) + count);
  }
  return target;
};

/** Returns the bound of a bucket away from zero; infinite beyond the range of a double. */
const computeOuterBound = (index: number, scale: number): number => 2 ** ((index + 1) * 2 ** -scale);

/** Merges buckets below the threshold into the zero bucket; those that extend beyond it remain, as in Prometheus. */
const absorbBelowThreshold = (side: Map<number, number>, scale: number, threshold: number): number => {
  let count = 0;
  for (const [index, bucketCount] of side) {
    if (computeOuterBound(index, scale) > threshold) continue;
    count += bucketCount;
    side.delete(index);
  }
  return count;
};

/**
 * Adds two histograms, with the coarser scale and the wider zero bucket. The result is exact, because a coarser bucket
 * consists of complete finer ones.
 */
export const addExponential = (left: ExponentialBuckets, right: ExponentialBuckets): ExponentialBuckets => {
  const scale = Math.min(left.scale, right.scale);
  const zeroThreshold = Math.max(left.zeroThreshold, right.zeroThreshold);
  const addSide = (side: 'positive' | 'negative'): Map<number, number> =>
    addShifted(addShifted(new Map(), left[side], left.scale - scale), right[side], right.scale - scale);
  const positive = addSide('positive');
  const negative = addSide('negative');
  const absorbedCount =
    absorbBelowThreshold(positive, scale, zeroThreshold) + absorbBelowThreshold(negative, scale, zeroThreshold);
  return { scale, zeroThreshold, zeroCount: left.zeroCount + right.zeroCount + absorbedCount, positive, negative };
};

/** Merges buckets at bounds that are not finite: senders may declare the end of the last bucket, +Inf, as a bound. */
const toFiniteBounds = ({ bounds, counts }: ExplicitBuckets): ExplicitBuckets => {
  if (bounds.every(Number.isFinite)) return { bounds, counts };
  const finiteCounts: number[] = [];
  let count = 0;
  for (const [index, bucketCount] of counts.entries()) {
    count += bucketCount;
    if (index < bounds.length && !Number.isFinite(bounds[index])) continue;
    finiteCounts.push(count);
    count = 0;
  }
  return { bounds: bounds.filter(Number.isFinite), counts: finiteCounts };
};

/**
 * Returns the buckets in order. The first bucket begins at the minimum. If the minimum is unknown, it begins at 0, or
 * at its own upper bound if that is negative.
 */
export const toExplicitBuckets = (buckets: ExplicitBuckets, { min, max }: Extremes): Bucket[] => {
  const { bounds, counts } = toFiniteBounds(buckets);
  const firstBound = bounds[0];
  const lastBound = bounds.at(-1);
  if (firstBound === undefined || lastBound === undefined)
    return Number.isFinite(min) && Number.isFinite(max) ? [{ lower: min, upper: max, count: counts[0] ?? 0 }] : [];
  const lowerEnd = Math.min(firstBound, Number.isFinite(min) ? min : 0);
  const upperEnd = Number.isFinite(max) ? Math.max(max, lastBound) : lastBound;
  return counts.map((count, index) => ({
    lower: index === 0 ? lowerEnd : (bounds[index - 1] as number),
    upper: index === bounds.length ? upperEnd : (bounds[index] as number),
    count,
  }));
};

/**
 * Returns the buckets in order. A zero bucket begins at 0 if there are no negative buckets, and ends at 0 if there are
 * no positive ones.
 */
export const toExponentialBuckets = (buckets: ExponentialBuckets): Bucket[] => {
  const { scale, zeroThreshold, zeroCount, positive, negative } = buckets;
  const sortBuckets = (side: ReadonlyMap<number, number>) =>
    [...side].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
  const above = sortBuckets(positive);
  const below = sortBuckets(negative).reverse();
  const zero: Bucket = {
    lower: below.length === 0 && above.length > 0 ? 0 : -zeroThreshold,
    upper: above.length === 0 && below.length > 0 ? 0 : zeroThreshold,
    count: zeroCount,
  };
  return [
    ...below.map(([index, count]) => ({
      lower: -computeOuterBound(index, scale),
      upper: -computeOuterBound(index - 1, scale),
      count,
      isExponential: true,
    })),
    ...(zeroCount > 0 ? [zero] : []),
    ...above.map(([index, count]) => ({
      lower: computeOuterBound(index - 1, scale),
      upper: computeOuterBound(index, scale),
      count,
      isExponential: true,
    })),
  ];
};

/** Merges buckets of several layouts: each is split at all bounds, with its observations spread evenly. */
export const mergeLayouts = (layouts: readonly (readonly Bucket[])[]): Bucket[] => {
  const all = layouts.flat().filter(({ count }) => count > 0);
  const edges = [...new Set(all.flatMap(({ lower, upper }) => [lower, upper]))].sort((a, b) => a - b);
  const pointBuckets = all.filter(({ lower, upper }) => lower === upper);
  const rangeBuckets = all.filter(({ lower, upper }) => lower < upper);
  const splitBuckets: Bucket[] = edges.slice(1).map((upper, index) => {
    const lower = edges[index] as number;
    const coveringBuckets = rangeBuckets.filter((bucket) => bucket.lower <= lower && bucket.upper >= upper);
    const count = coveringBuckets.reduce(
      (sum, bucket) => sum + bucket.count * ((upper - lower) / (bucket.upper - bucket.lower)),
      0,
    );
    return { lower, upper, count };
  });
  return [...splitBuckets, ...pointBuckets]
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.upper - b.upper || a.lower - b.lower);
};

const interpolate = ({ lower, upper, isExponential = false }: Bucket, fraction: number): number => {
  if (!isExponential || lower === 0 || upper === 0) return lower + (upper - lower) * fraction;
  const [from, to] = [Math.log2(Math.abs(lower)), Math.log2(Math.abs(upper))];
  const magnitude = 2 ** (from + (to - from) * fraction);
  return lower < 0 ? -magnitude : magnitude;
};

/** Returns the quantile of buckets in order; `undefined` if nothing was observed. */
export const computeQuantile = (
  buckets: readonly Bucket[],
  quantile: number,
  { min, max } = noExtremes,
): number | undefined => {
  const nonEmptyBuckets = buckets.filter(({ count }) => count > 0);
  const total = nonEmptyBuckets.reduce((sum, { count }) => sum + count, 0);
  if (total <= 0) return undefined;
  let rank = quantile * total;
  for (const [index, bucket] of nonEmptyBuckets.entries()) {
    // If a rank remains after the last bucket, it is a rounding error.
    if (rank <= bucket.count || index === nonEmptyBuckets.length - 1) {
      const value = interpolate(bucket, Math.min(1, rank / bucket.count));
      return Math.max(min, Math.min(max, value));
    }
    rank -= bucket.count;
  }
  return undefined;
};

/**
 * Returns the quantile of a classic histogram from cumulative counts by upper bound; undefined without the `+Inf`
 * bucket. If the count of a bucket is smaller than that of a lower bucket, the lower bucket's count is used.
 */
export const computeClassicQuantile = (
  cumulative: ReadonlyMap<number, number>,
  quantile: number,
): number | undefined => {
  if (!cumulative.has(Number.POSITIVE_INFINITY)) return undefined;
  const sorted = [...cumulative].filter(([, count]) => !Number.isNaN(count)).sort(([a], [b]) => a - b);
  const bounds = sorted.slice(0, -1).map(([bound]) => bound);
  let maxCount = 0;
  const counts = sorted.map(([, count]) => {
    const bucketCount = Math.max(0, count - maxCount);
    maxCount = Math.max(maxCount, count);
    return bucketCount;
  });
  return computeQuantile(toExplicitBuckets({ bounds, counts }, noExtremes), quantile);
};
