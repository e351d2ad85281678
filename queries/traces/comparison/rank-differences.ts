/** Finds the values that distinguish the selected set, from counts of both sets. */
import {
  adjustPValues,
  type Counts,
  compareShares,
  computeMinExpected,
  fisherExact,
  gTest,
  type Interval,
  type RankCounts,
  rankTest,
} from './statistics.ts';

/** Maximum share of reported differences that may be false. */
export const falseDiscoveryRate = 0.05;
/** Minimum number of units with a value for a test. */
const minUnits = 5;
/** Minimum expected count of a cell for the approximation of the G-test. */
const minExpectedCount = 5;

/** A tested value. `value` is undefined for the presence of a field, and for its numbers. */
export interface Candidate {
  readonly kind: 'field' | 'attribute' | 'resource';
  readonly key: string;
  readonly value?: string;
  readonly counts: Counts;
  /** For numbers: counts of each set by bucket. `counts` then has the units with a number. */
  readonly rankCounts?: RankCounts;
  /** For numbers: approximate median. */
  readonly median?: number;
}

export interface Difference {
  readonly candidate: Candidate;
  readonly test: 'g' | 'fisher' | 'rank';
  readonly p: number;
  readonly adjustedP: number;
  /**
   * Difference of shares; for ranks, the probability that a selected number is larger minus that it is smaller. From -1
   * to 1.
   */
  readonly difference: number;
  readonly interval: Interval;
}

type TestResult = Omit<Difference, 'adjustedP'>;

/**
 * Returns the significant differences and the number of tests. The differences are sorted by the bound of the interval
 * that is nearer to 0, largest first. Values that too few units or all units have are not tested. This selection does
 * not bias the tests, because it uses only the total over both sets.
 */
export const rankDifferences = (
  candidates: readonly Candidate[],
): { readonly tests: number; readonly significant: readonly Difference[] } => {
  const testResults = candidates.flatMap((candidate) => testCandidate(candidate) ?? []);
  const adjustedPValues = adjustPValues(testResults.map(({ p }) => p));
  const significantDifferences = testResults
    .map((each, index): Difference => ({ ...each, adjustedP: adjustedPValues[index] as number }))
    .filter(({ adjustedP }) => adjustedP <= falseDiscoveryRate);
  return {
    tests: testResults.length,
    significant: significantDifferences.sort(
      (one, otherIndex) =>
        getDistanceFromZero(otherIndex) - getDistanceFromZero(one) ||
        one.p - otherIndex.p ||
        compareNames(one, otherIndex),
    ),
  };
};

/** Returns the distance of the interval from 0. */
const getDistanceFromZero = ({ interval: { low, high } }: Difference): number => Math.max(0, low, -high);

const getSortName = ({ candidate: { kind, key, value } }: Difference): string => `${kind} ${key} ${value}`;
const compareNames = (one: Difference, otherIndex: Difference): number =>
  getSortName(one) < getSortName(otherIndex) ? -1 : 1;

const testCandidate = (candidate: Candidate): TestResult | undefined => {
  const { counts, rankCounts } = candidate;
  if (rankCounts !== undefined) {
    if (Math.min(counts.a, counts.b) < minUnits) return undefined;
    const { p, superiority, interval } = rankTest(rankCounts);
    return {
      candidate,
      test: 'rank',
      p,
      difference: 2 * superiority - 1,
      interval: { low: 2 * interval.low - 1, high: 2 * interval.high - 1 },
    };
  }
  const unitsWithValue = counts.a + counts.b;
  if (unitsWithValue < minUnits || unitsWithValue === counts.n + counts.m) return undefined;
  const isSmall = computeMinExpected(counts) < minExpectedCount;
  return {
    candidate,
    test: isSmall ? 'fisher' : 'g',
    p: (isSmall ? fisherExact : gTest)(counts),
    ...compareShares(counts),
  };
};

/**
 * Returns a function that computes the correlation of two binary values, from the number of units by combination. The
 * `bits` of a unit are its values.
 */
export const computeCorrelations = (
  units: readonly { readonly bits: bigint; readonly count: number }[],
  size: number,
): ((one: number, otherIndex: number) => number) => {
  const total = units.reduce((sum, { count }) => sum + count, 0);
  const correlations = Array.from({ length: size }, () => new Float64Array(size));
  for (const { bits, count } of units) {
    const setBits = Array.from({ length: size }, (_, bit) => bit).filter((bit) => (bits >> BigInt(bit)) & 1n);
    for (const one of setBits)
      for (const otherIndex of setBits) {
        const row = correlations[one] as Float64Array;
        row[otherIndex] = (row[otherIndex] as number) + count;
      }
  }
  return (one, otherIndex) => {
    const [a, b, bothCount] = [
      correlations[one]?.[one] ?? 0,
      correlations[otherIndex]?.[otherIndex] ?? 0,
      correlations[one]?.[otherIndex] ?? 0,
    ];
    const spread = Math.sqrt(a * (total - a)) * Math.sqrt(b * (total - b));
    return spread === 0 ? 0 : (total * bothCount - a * b) / spread;
  };
};

/** Groups correlated differences: each group has its members' indexes, with the representative first. */
export const groupByCorrelation = (
  size: number,
  correlation: (one: number, otherIndex: number) => number,
  minCorrelation = 0.8,
): readonly (readonly number[])[] => {
  const groups: number[][] = [];
  for (let index = 0; index < size; index++) {
    const group = groups.find(([first = 0]) => Math.abs(correlation(first, index)) >= minCorrelation);
    if (group === undefined) groups.push([index]);
    else group.push(index);
  }
  return groups;
};
