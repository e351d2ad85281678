/**
 * Determines whether requests became better or worse, from counts per minute before and after. Pure.
 *
 * Requests of one minute are correlated (a slow database slows all of them), so minutes are compared instead of
 * requests. Each minute is a cluster, and the variance of a mean is that between its clusters, at least that of
 * independent requests. Student's t with the smaller number of minutes decides; the three tests share the error
 * probability.
 */
import { computeQuantile, type DurationBuckets } from '../../schemas/tables/durations.ts';

/** Counts of one minute */
export interface MinuteCounts {
  readonly requests: number;
  readonly errors: number;
  readonly buckets: DurationBuckets;
}

export const minRequests = 50;
export const minMinutes = 5;
/** Number of minutes from which their own variance counts */
const minComparedMinutes = 3;
/** Maximum false alarm rate of all tests combined */
export const maxFalseAlarmRate = 0.01;
/**
 * Smallest relevant differences: of the share of failed requests, of slow requests, and of the probability that a
 * request took longer
 */
export const minDifferences = { errors: 0.005, tail: 0.05, latency: 0.05 } as const;

export const aspects = ['errors', 'latency', 'tail'] as const;
export type Aspect = (typeof aspects)[number];

export interface AspectComparison {
  readonly aspect: Aspect;
  readonly before: number;
  readonly after: number;
  readonly difference: number;
  /** 95% confidence interval of the difference */
  readonly interval: readonly [number, number];
  /** Probability of an equally large difference by chance, for this test alone */
  readonly p: number;
  /** Confidence in the verdict: 1 - p over all tests, or the probability that the difference is irrelevant */
  readonly confidence: number;
  readonly verdict: 'better' | 'worse' | 'no difference' | 'unknown';
}

interface Cluster {
  readonly size: number;
  /** Sum of the scores of the requests, and of their squares */
  readonly sum: number;
  readonly squares: number;
}

const computeClusterMean = (clusters: readonly Cluster[]): { mean: number; variance: number; size: number } => {
  const size = clusters.reduce((sum, cluster) => sum + cluster.size, 0);
  const mean = clusters.reduce((sum, cluster) => sum + cluster.sum, 0) / size;
  const squares = clusters.reduce((sum, cluster) => sum + cluster.squares, 0);
  const count = clusters.length;
  const betweenVariance =
    clusters.reduce((sum, cluster) => sum + (cluster.sum - cluster.size * mean) ** 2, 0) / size ** 2;
  const clusteredVariance = (betweenVariance * count) / Math.max(1, count - 1);
  // If no score differs, one more request could: the half request of Agresti and Coull ensures a variance above 0.
  const independentVariance = Math.max(squares / size - mean ** 2, 0.5 / size) / size;
  return { mean, variance: Math.max(clusteredVariance, independentVariance), size };
};

/**
 * Compares the three aspects. A request is scored by whether it failed, by the share of all requests that were
 * faster, and by whether it was slower than 95% of the requests before.
 */
export const compare = (
  before: readonly MinuteCounts[],
  after: readonly MinuteCounts[],
): readonly AspectComparison[] => {
  const all = sumBuckets([...before, ...after]);
  const slowestNormalBucket = findSlowBucket(sumBuckets(before));
  const rank = createRankByBucket(all);
  const scores: Readonly<Record<Aspect, (minute: MinuteCounts) => Cluster>> = {
    errors: ({ requests, errors }) => ({ size: requests, sum: errors, squares: errors }),
    latency: ({ requests, buckets }) => createCluster(requests, buckets, rank),
    tail: ({ requests, buckets }) =>
      createCluster(requests, buckets, (bucket) => (bucket > slowestNormalBucket ? 1 : 0)),
  };
  return aspects.map((aspect) => {
    const [beforeClusters, afterClusters] = [before.map(scores[aspect]), after.map(scores[aspect])];
    // Ranks cover both sides, so their means differ by half of the probability's difference from 0.5.
    return judgeAspect(aspect, beforeClusters, afterClusters);
  });
};

const sumBuckets = (minutes: readonly MinuteCounts[]): DurationBuckets => {
  const sum = new Map<number, number>();
  for (const { buckets } of minutes)
    for (const [bucket, spans] of buckets) sum.set(bucket, (sum.get(bucket) ?? 0) + spans);
  return sum;
};

const createCluster = (size: number, buckets: DurationBuckets, getScore: (bucket: number) => number): Cluster => {
  let sum = 0;
  let squares = 0;
  for (const [bucket, spans] of buckets) {
    const score = getScore(bucket);
    sum += score * spans;
    squares += score ** 2 * spans;
  }
  return { size, sum, squares };
};

/** Returns the bucket of the 95th percentile. */
const findSlowBucket = (buckets: DurationBuckets): number => {
  const quantile = computeQuantile(buckets, 0.95) ?? 0;
  return Math.floor(8 * Math.log2(quantile));
};

/**
 * Returns a function from a bucket to the share of requests that were faster. Requests in the same bucket count half
 * (Mann and Whitney).
 */
const createRankByBucket = (buckets: DurationBuckets): ((bucket: number) => number) => {
  const sorted = [...buckets].sort(([left], [right]) => left - right);
  const total = sorted.reduce((sum, [, spans]) => sum + spans, 0);
  const ranks = new Map<number, number>();
  let cumulativeCount = 0;
  for (const [bucket, spans] of sorted) {
    ranks.set(bucket, (cumulativeCount + spans / 2) / total);
    cumulativeCount += spans;
  }
  return (bucket) => ranks.get(bucket) ?? 0;
};

const judgeAspect = (aspect: Aspect, before: readonly Cluster[], after: readonly Cluster[]): AspectComparison => {
  const [beforeMean, afterMean] = [computeClusterMean(before), computeClusterMean(after)];
  const difference = afterMean.mean - beforeMean.mean;
  // A few minutes do not show how minutes differ, but those before do.
  const isShort = after.length < minComparedMinutes && before.length > after.length;
  const afterVariance = isShort
    ? Math.max(afterMean.variance, (beforeMean.variance * before.length) / after.length)
    : afterMean.variance;
  const standardError = Math.sqrt(beforeMean.variance + afterVariance);
  const degreesOfFreedom = Math.max(1, (isShort ? before.length : Math.min(before.length, after.length)) - 1);
  const p = 2 * studentTProbability(Math.abs(difference) / standardError, degreesOfFreedom);
  const minDifference = minDifferences[aspect];
  const [low, high] = [
    difference - studentQuantile(degreesOfFreedom) * standardError,
    difference + studentQuantile(degreesOfFreedom) * standardError,
  ];
  const commonFields = {
    aspect,
    before: beforeMean.mean,
    after: afterMean.mean,
    difference,
    interval: [low, high] as const,
    p,
  };
  const adjustedP = Math.min(1, p * aspects.length);
  if (adjustedP < maxFalseAlarmRate && Math.abs(difference) >= minDifference)
    return { ...commonFields, confidence: 1 - adjustedP, verdict: difference > 0 ? 'worse' : 'better' };
  const irrelevanceProbability =
    1 -
    studentTProbability((minDifference - difference) / standardError, degreesOfFreedom) -
    studentTProbability((minDifference + difference) / standardError, degreesOfFreedom);
  return {
    ...commonFields,
    confidence: Math.max(0, irrelevanceProbability),
    verdict: irrelevanceProbability >= 0.8 ? 'no difference' : 'unknown',
  };
};

/**
 * Returns the probability that Student's t exceeds a value, by degrees of freedom: the incomplete beta function as a
 * continued fraction.
 */
export const studentTProbability = (t: number, degreesOfFreedom: number): number => {
  if (!Number.isFinite(t)) return t > 0 ? 0 : 1;
  const half = 0.5 * incompleteBeta(degreesOfFreedom / (degreesOfFreedom + t * t), degreesOfFreedom / 2, 0.5);
  return t >= 0 ? half : 1 - half;
};

/** Returns the value that t exceeds in 2.5% of cases. */
const studentQuantile = (degreesOfFreedom: number): number => {
  let [low, high] = [0, 1000];
  for (let round = 0; round < 60; round++) {
    const middle = (low + high) / 2;
    if (studentTProbability(middle, degreesOfFreedom) > 0.025) low = middle;
    else high = middle;
  }
  return high;
};

const coefficients = [76.180091729, -86.505320329, 24.014098241, -1.2317395725, 0.0012086509739, -0.0000053952394];

/** Lanczos' approximation. */
const logGamma = (x: number): number => {
  const shifted = x + 5.5;
  const series = coefficients.reduce((sum, coefficient, index) => sum + coefficient / (x + 1 + index), 1.00000000019);
  return (x + 0.5) * Math.log(shifted) - shifted + Math.log((2.50662827463 * series) / x);
};

const incompleteBeta = (x: number, a: number, b: number): number => {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const prefactor = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  return x < (a + 1) / (a + b + 2)
    ? (prefactor * computeBetaFraction(x, a, b)) / a
    : 1 - (prefactor * computeBetaFraction(1 - x, b, a)) / b;
};

/** Lentz' method. */
const computeBetaFraction = (x: number, a: number, b: number): number => {
  const tiny = 1e-300;
  const avoidZero = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / avoidZero(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / avoidZero(1 + even * d);
    c = avoidZero(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / avoidZero(1 + odd * d);
    c = avoidZero(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-12) break;
  }
  return result;
};
