/**
 * Tests whether two sets differ, and by how much. All tests are symmetric: if the two sets are exchanged, only the
 * signs change.
 */

/** Counts of a value in two sets: `a` of `n` selected, `b` of `m` others. */
export interface Counts {
  readonly a: number;
  readonly n: number;
  readonly b: number;
  readonly m: number;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Standard deviations to either side that contain 95 % of a normal distribution. */
const z95 = 1.959964;

/** Complementary error function, with a relative error of 1.2e-7 (Press et al., "Numerical Recipes", 6.2). */
const erfc = (x: number): number => {
  const t = 1 / (1 + 0.5 * Math.abs(x));
  const terms = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ];
  const power = terms.reduceRight((sum, term) => term + t * sum, 0);
  const value = t * Math.exp(-x * x + power);
  return x >= 0 ? value : 2 - value;
};

/** Returns the probability that a standard normal value is at least this far from 0. */
const twoSidedP = (z: number): number => Math.min(1, erfc(Math.abs(z) / Math.SQRT2));

const logFactorials: number[] = [0];
const logFactorial = (n: number): number => {
  for (let at = logFactorials.length; at <= n; at++)
    logFactorials.push((logFactorials[at - 1] as number) + Math.log(at));
  return logFactorials[n] as number;
};
const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/**
 * Fisher's exact test, two-sided: the probability of all tables with these margins that are at most as probable as this
 * one.
 */
export const fisherExact = ({ a, n, b, m }: Counts): number => {
  const withValue = a + b;
  const all = logChoose(n + m, withValue);
  const logProbability = (k: number): number => logChoose(n, k) + logChoose(m, withValue - k) - all;
  const observedLogProbability = logProbability(a) + 1e-7;
  let sum = 0;
  for (let k = Math.max(0, withValue - m); k <= Math.min(n, withValue); k++) {
    const log = logProbability(k);
    if (log <= observedLogProbability) sum += Math.exp(log);
  }
  return Math.min(1, sum);
};

/** G-test of independence with one degree of freedom. */
export const gTest = ({ a, n, b, m }: Counts): number => {
  const all = n + m;
  const totalWithValue = a + b;
  const cellTerm = (observed: number, row: number, column: number): number =>
    observed === 0 ? 0 : observed * Math.log((observed * all) / (row * column));
  const g =
    2 *
    (cellTerm(a, n, totalWithValue) +
      cellTerm(n - a, n, all - totalWithValue) +
      cellTerm(b, m, totalWithValue) +
      cellTerm(m - b, m, all - totalWithValue));
  return twoSidedP(Math.sqrt(Math.max(0, g)));
};

/** Returns the smallest expected cell count of the table if the sets do not differ. */
export const computeMinExpected = ({ a, n, b, m }: Counts): number => {
  const having = a + b;
  return (Math.min(n, m) * Math.min(having, n + m - having)) / (n + m);
};

/** Returns Wilson's interval of a share. */
const wilsonInterval = (count: number, total: number): Interval => {
  const share = count / total;
  const square = z95 * z95;
  const middle = share + square / (2 * total);
  const half = z95 * Math.sqrt((share * (1 - share)) / total + square / (4 * total * total));
  return { low: (middle - half) / (1 + square / total), high: (middle + half) / (1 + square / total) };
};

/** Returns the difference of two shares with its 95 % interval (Newcombe 1998, method 10). */
export const compareShares = ({ a, n, b, m }: Counts): { difference: number; interval: Interval } => {
  const [one, other] = [a / n, b / m];
  const [oneInterval, otherInterval] = [wilsonInterval(a, n), wilsonInterval(b, m)];
  const difference = one - other;
  return {
    difference,
    interval: {
      low: difference - Math.hypot(one - oneInterval.low, otherInterval.high - other),
      high: difference + Math.hypot(oneInterval.high - one, other - otherInterval.low),
    },
  };
};

/** Counts of numbers of the two sets by bucket, smallest numbers first. */
export interface RankCounts {
  readonly selected: readonly number[];
  readonly baseline: readonly number[];
}

const sumCounts = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/**
 * Mann–Whitney rank test over buckets; the numbers in a bucket count as equal. `superiority` is the probability that
 * the selected number of a pair is larger than the other one, where ties count half, with its 95 % interval (Hanley and
 * McNeil 1982).
 */
export const rankTest = ({
  selected,
  baseline,
}: RankCounts): { p: number; superiority: number; interval: Interval } => {
  const [n, m] = [sumCounts(selected), sumCounts(baseline)];
  const all = n + m;
  let below = 0;
  let wins = 0;
  let ties = 0;
  for (const [bucket, count] of selected.entries()) {
    const others = baseline[bucket] ?? 0;
    wins += count * (below + others / 2);
    below += others;
    ties += (count + others) ** 3 - (count + others);
  }
  const a = wins / (n * m);
  const variance = ((n * m) / 12) * (all + 1 - ties / (all * (all - 1)));
  const [both, each] = [a / (2 - a), (2 * a * a) / (1 + a)];
  const error = Math.sqrt((a * (1 - a) + (n - 1) * (both - a * a) + (m - 1) * (each - a * a)) / (n * m));
  return {
    p: variance <= 0 ? 1 : twoSidedP((wins - (n * m) / 2) / Math.sqrt(variance)),
    superiority: a,
    interval: { low: Math.max(0, a - z95 * error), high: Math.min(1, a + z95 * error) },
  };
};

/**
 * Benjamini and Hochberg's adjusted p-values (1995). Among tests with an adjusted value of at most q, the expected
 * share of false ones is at most q. This holds for tests that are independent or positively dependent.
 */
export const adjustPValues = (ps: readonly number[]): number[] => {
  const order = ps.map((_, index) => index).sort((one, other) => (ps[one] as number) - (ps[other] as number));
  const adjusted = new Array<number>(ps.length);
  let min = 1;
  for (let rank = order.length; rank > 0; rank--) {
    const index = order[rank - 1] as number;
    min = Math.min(min, ((ps[index] as number) * ps.length) / rank);
    adjusted[index] = min;
  }
  return adjusted;
};
