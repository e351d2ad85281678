/** Estimates how often a size occurs from the largest past sizes: the tail of a series' own history. */
import { maxPeaks, type ScorerState } from './state.ts';

/**
 * Prior of the mean excess: the excess of a peak's logarithm over the smallest stored one that is assumed before a
 * series has shown it, and the weight of this assumption.
 */
const [priorExcess, priorCount] = [0.06, 4];
const maxTailPeaks = 12;
const logarithmResolution = 1024;

/** Returns a size in its stored logarithmic form. */
export const packSize = (size: number): number =>
  Math.max(0, Math.min(32_767, Math.round(Math.log2(Math.max(1, size)) * logarithmResolution)));
export const unpackSize = (logarithm: number): number => 2 ** (logarithm / logarithmResolution);

/**
 * Sizes whose logarithm exceeds `threshold` occur `rate` times a week, and become rarer by a factor of `e` per
 * `excess`.
 */
export interface Tail {
  readonly threshold: number;
  readonly rate: number;
  readonly excess: number;
}

/**
 * Returns the tail of one sign, whose peaks were stored for this many weeks (Hill's estimator over the largest of two
 * epochs).
 */
export const estimateTail = ({ peaks }: ScorerState, sign: number, weeks: number): Tail => {
  const [past, now] = peaks[sign] as readonly [Int16Array, Int16Array];
  // Both are sorted ascending; the largest are merged from their ends.
  let [pastIndex, currentIndex, count, sum, threshold] = [maxPeaks - 1, maxPeaks - 1, 0, 0, 0];
  while (count < maxTailPeaks) {
    const [pastPeak, currentPeak] = [
      pastIndex < 0 ? 0 : (past[pastIndex] ?? 0),
      currentIndex < 0 ? 0 : (now[currentIndex] ?? 0),
    ];
    const larger = Math.max(pastPeak, currentPeak);
    if (larger === 0) break;
    if (pastPeak === larger) pastIndex--;
    else currentIndex--;
    count++;
    threshold = (larger * Math.LN2) / logarithmResolution;
    sum += threshold;
  }
  const excess = (sum - count * threshold + priorExcess * priorCount) / (Math.max(0, count - 1) + priorCount);
  return { threshold, rate: Math.max(1, count) / weeks, excess };
};

/** Returns how often per week the sign is at least this large. */
export const getOccurrenceRate = ({ threshold, rate, excess }: Tail, size: number): number =>
  rate * Math.exp(Math.min(8, (threshold - Math.log(Math.max(1, size))) / excess));

/** Returns the size that is reached this often per week. */
export const getSizeAtRate = ({ threshold, rate, excess }: Tail, weeklyRate: number): number =>
  Math.exp(Math.min(21, threshold + Math.max(0, excess * Math.log(rate / weeklyRate))));

/** Stores a peak among the largest of the current epoch. */
export const recordPeak = ({ peaks }: ScorerState, sign: number, packedSize: number): void => {
  const now = peaks[sign]?.[1];
  if (now === undefined || packedSize <= (now[0] ?? 0)) return;
  let slot = 0;
  for (; slot + 1 < maxPeaks && (now[slot + 1] ?? 0) < packedSize; slot++) now[slot] = now[slot + 1] ?? 0;
  now[slot] = packedSize;
};
