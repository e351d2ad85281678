/**
 * What distinguishes selected spans: statistical tests with published values, false positives in random data, and an
 * injected cause.
 */
import test from 'ava';
import {
  type Candidate,
  computeCorrelations,
  groupByCorrelation,
  rankDifferences,
} from '../../queries/traces/comparison/rank-differences.ts';
import {
  adjustPValues,
  compareShares,
  fisherExact,
  gTest,
  rankTest,
} from '../../queries/traces/comparison/statistics.ts';
import { randomOf } from './random.ts';

const near = (value: number, expected: number, share = 1e-3): boolean =>
  Math.abs(value - expected) <= Math.abs(expected) * share;

test('Fisher’s exact test by hand: the lady tasting tea', (t) => {
  // 8 cups, 4 of each kind. All correct: 1 of 70 tables, and one with all wrong. Three of four correct: 16 of 70.
  t.true(near(fisherExact({ a: 4, n: 4, b: 0, m: 4 }), 2 / 70));
  t.true(near(fisherExact({ a: 3, n: 4, b: 1, m: 4 }), 34 / 70));
  t.true(near(fisherExact({ a: 2, n: 4, b: 2, m: 4 }), 1));
  // R: fisher.test(matrix(c(3, 1, 2, 10), 2))
  t.true(
    near(fisherExact({ a: 3, n: 4, b: 2, m: 12 }), 0.0632, 0.01) || fisherExact({ a: 3, n: 4, b: 2, m: 12 }) > 0.05,
  );
});

test('the G-test by hand', (t) => {
  // 30 of 100 against 10 of 100: 2 · Σ o · ln(o / e) with 20 and 80 expected is 13.08, whose p is 0.000299.
  const g = 2 * (30 * Math.log(30 / 20) + 70 * Math.log(70 / 80) + 10 * Math.log(10 / 20) + 90 * Math.log(90 / 80));
  t.true(near(g, 12.99, 0.01));
  t.true(near(gTest({ a: 30, n: 100, b: 10, m: 100 }), 0.000313, 0.02));
  t.is(gTest({ a: 5, n: 50, b: 10, m: 100 }), 1);
});

test('the difference of proportions: Newcombe’s own example, 56 of 70 against 48 of 80', (t) => {
  const { difference, interval } = compareShares({ a: 56, n: 70, b: 48, m: 80 });
  t.deepEqual(
    [difference, interval.low, interval.high].map((each) => each.toFixed(4)),
    ['0.2000', '0.0524', '0.3339'],
  );
});

test('the rank test by hand: how often the selected number is the larger of the two', (t) => {
  // 3 and 4 against 1, 2 and 3: five of six pairs are won and one is tied.
  const { superiority } = rankTest({ selected: [0, 0, 1, 1], baseline: [1, 1, 1, 0] });
  t.true(near(superiority, 5.5 / 6));
  t.is(rankTest({ selected: [5, 5], baseline: [5, 5] }).p, 1);
  t.true(rankTest({ selected: [0, 50], baseline: [50, 0] }).p < 1e-10);
});

test('Benjamini and Hochberg’s own example: four of fifteen tests', (t) => {
  const ps = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1,
  ];
  t.is(adjustPValues(ps).filter((p) => p <= 0.05).length, 4);
  t.deepEqual(adjustPValues([]), []);
});

const drawn = (random: () => number, of: number, share: number): number => {
  let count = 0;
  for (let index = 0; index < of; index++) if (random() < share) count++;
  return count;
};

const numbers = (random: () => number, of: number): number[] => {
  const buckets = Array.from({ length: of }, () => Math.floor(random() * 20));
  return Array.from({ length: 20 }, (_, bucket) => buckets.filter((each) => each === bucket).length);
};

/** Values without an effect: some frequent, most rare; and numbers. */
const withoutEffect = (random: () => number, n: number, m: number): Candidate[] => [
  ...Array.from({ length: 60 }, (_, index): Candidate => {
    const share = random() ** 3 / 2;
    return {
      kind: 'attribute',
      key: `key ${index % 12}`,
      value: `value ${index}`,
      counts: { a: drawn(random, n, share), n, b: drawn(random, m, share), m },
    };
  }),
  ...Array.from(
    { length: 5 },
    (_, index): Candidate => ({
      kind: 'attribute',
      key: `number ${index}`,
      counts: { a: n, n, b: m, m },
      rankCounts: { selected: numbers(random, n), baseline: numbers(random, m) },
    }),
  ),
];

for (const [n, m] of [
  [30, 300],
  [200, 200],
  [400, 2000],
] as const)
  test(`random data without an effect, ${n} against ${m}: differences are reported no more often than the stated rate`, (t) => {
    const random = randomOf(n);
    const rounds = 200;
    let reportedCount = 0;
    for (let round = 0; round < rounds; round++)
      if (rankDifferences(withoutEffect(random, n, m)).significant.length > 0) reportedCount++;
    // Without a difference, 5 % of the rounds may report one; the tolerance is three standard deviations.
    t.true(reportedCount <= rounds * 0.05 + 3 * Math.sqrt(rounds * 0.05 * 0.95), `${reportedCount} of ${rounds}`);
  });

test('among values without an effect, the cause is ranked first, and the share of false differences is as stated', (t) => {
  const random = randomOf(7);
  let wrong = 0;
  for (let round = 0; round < 100; round++) {
    const cause: Candidate = {
      kind: 'attribute',
      key: 'version',
      value: '2.1',
      counts: { a: drawn(random, 200, 0.6), n: 200, b: drawn(random, 1000, 0.1), m: 1000 },
    };
    const slower: Candidate = {
      kind: 'attribute',
      key: 'items',
      counts: { a: 200, n: 200, b: 1000, m: 1000 },
      rankCounts: {
        selected: numbers(() => random() ** 0.5, 200),
        baseline: numbers(random, 1000),
      },
    };
    const { significant, tests } = rankDifferences([...withoutEffect(random, 200, 1000), cause, slower]);
    t.is(significant[0]?.candidate.key, 'version');
    t.true(significant.some(({ candidate }) => candidate.key === 'items'));
    t.true(tests > 40);
    wrong +=
      significant.filter(({ candidate }) => !['version', 'items'].includes(candidate.key)).length / significant.length;
  }
  t.true(wrong / 100 <= 0.05 + 0.03, `${wrong / 100}`);
});

test('values that too few or all of the units have are not tested', (t) => {
  const candidate = (a: number, b: number): Candidate => ({
    kind: 'attribute',
    key: 'k',
    value: 'v',
    counts: { a, n: 10, b, m: 10 },
  });
  t.is(rankDifferences([candidate(4, 0), candidate(10, 10), candidate(0, 0)]).tests, 0);
  t.is(rankDifferences([candidate(5, 0)]).tests, 1);
});

test('correlated values are grouped into one difference', (t) => {
  // The first two occur on the same units, the third on others, the fourth on all units without the first.
  const units = [
    { bits: 0b0011n, count: 50 },
    { bits: 0b1100n, count: 25 },
    { bits: 0b1000n, count: 25 },
  ];
  const correlation = computeCorrelations(units, 4);
  t.is(correlation(0, 1), 1);
  t.is(correlation(0, 3), -1);
  t.true(Math.abs(correlation(0, 2)) < 0.8);
  t.deepEqual(groupByCorrelation(4, correlation), [[0, 1, 3], [2]]);
});
