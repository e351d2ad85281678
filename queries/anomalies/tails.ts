/** How often something as large as this happens, by the largest that happened: the tail of a series' own past. */
import { maxPeaks, type ScorerState } from './state.ts';

/** By how much the logarithm of a peak exceeds the least kept one on average, before a series has shown it; and what that counts. */
const [priorExcess, priorCount] = [0.06, 4];
const maxTailPeaks = 12;
const stepsOfLogarithm = 1024;

/** A size as its logarithm is kept. */
export const packed = (size: number): number =>
  Math.max(0, Math.min(32_767, Math.round(Math.log2(Math.max(1, size)) * stepsOfLogarithm)));
export const unpacked = (logarithm: number): number => 2 ** (logarithm / stepsOfLogarithm);

/** Sizes whose logarithm is above `least` come `rate` times a week, and become rarer by `e` with each `excess`. */
export interface Tail {
  readonly threshold: number;
  readonly rate: number;
  readonly excess: number;
}

/** The tail of one sign, whose peaks were kept for so many weeks (Hill's estimator over the largest of two epochs). */
export const tailOf = ({ peaks }: ScorerState, sign: number, weeks: number): Tail => {
  const [past, now] = peaks[sign] as readonly [Int16Array, Int16Array];
  // Both are sorted from the smallest up: the largest are taken from both ends.
  let [i, j, count, sum, threshold] = [maxPeaks - 1, maxPeaks - 1, 0, 0, 0];
  while (count < maxTailPeaks) {
    const [one, other] = [i < 0 ? 0 : (past[i] ?? 0), j < 0 ? 0 : (now[j] ?? 0)];
    const larger = Math.max(one, other);
    if (larger === 0) break;
    if (one === larger) i--;
    else j--;
    count++;
    threshold = (larger * Math.LN2) / stepsOfLogarithm;
    sum += threshold;
  }
  const excess = (sum - count * threshold + priorExcess * priorCount) / (Math.max(0, count - 1) + priorCount);
  return { threshold, rate: Math.max(1, count) / weeks, excess };
};

/** How often a week it is as large as this. */
export const rateOf = ({ threshold, rate, excess }: Tail, size: number): number =>
  rate * Math.exp(Math.min(8, (threshold - Math.log(Math.max(1, size))) / excess));

/** The size that is reached so often a week. */
export const valueAt = ({ threshold, rate, excess }: Tail, weeklyRate: number): number =>
  Math.exp(Math.min(21, threshold + Math.max(0, excess * Math.log(rate / weeklyRate))));

/** Keeps a peak among the largest of the present epoch. */
export const recordPeak = ({ peaks }: ScorerState, sign: number, packedSize: number): void => {
  const now = peaks[sign]?.[1];
  if (now === undefined || packedSize <= (now[0] ?? 0)) return;
  let place = 0;
  for (; place + 1 < maxPeaks && (now[place + 1] ?? 0) < packedSize; place++) now[place] = now[place + 1] ?? 0;
  now[place] = packedSize;
};
