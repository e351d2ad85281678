/** Two different errors are two groups, and one error is one group, for all languages, runtimes and carriers. */
import test from 'ava';
import { carriers, errorPairs, stacks } from './errors/pairs.ts';
import { halfOf, toFingerprint } from './errors/raise-pairs.ts';

/** The share of correctly grouped pairs, with the titles of the others. */
const judge = (half: 'even' | 'odd'): { readonly share: number; readonly wrong: readonly string[] } => {
  const pairs = errorPairs.filter(({ title }) => halfOf(title) === half);
  const wrong = pairs.filter(({ isSame, records }) => {
    const [first, second] = records.map(toFingerprint);
    return first === '' || (first === second) !== isSame;
  });
  return { share: 1 - wrong.length / pairs.length, wrong: wrong.map(({ title }) => title) };
};

for (const half of ['even', 'odd'] as const)
  test(`at least 98 % of the ${half} pairs are grouped correctly`, (t) => {
    const { share, wrong } = judge(half);
    t.true(share >= 0.98, wrong.join('\n'));
  });

test('the pairs cover many languages and carriers', (t) => {
  t.true(Object.keys(stacks).length >= 40);
  t.true(Object.keys(carriers).length >= 20);
  t.is(new Set(errorPairs.map(({ title }) => title)).size, errorPairs.length);
});
