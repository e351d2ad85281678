/** What `npm test` chooses and tells. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import test from 'ava';
import { filesOf, leftOut } from '../choosing.ts';
import { computedSeconds, longestComputing } from '../computing.ts';
import { durationIn, slowest } from '../slowest.ts';

const files = ['test/cases/sigma.test.ts', 'test/cases/sigma-index.test.ts', 'test/contract/bus-kafka.test.ts'];

for (const [words, chosen] of [
  [['sigma'], files.slice(0, 2)],
  [['sigma', 'bus'], files],
  [['cases/sigma', 'sigma-index'], files.slice(0, 2)],
  [['./test/contract/bus-kafka.test.ts'], files.slice(2)],
] as const)
  test(`${words.join(' ')} chooses what has it in its path, once`, (t) =>
    t.deepEqual(filesOf(words, files), [...chosen]));

test('a word that chooses nothing is refused by its name', (t) => {
  t.throws(() => filesOf(['sigma', 'sgima'], files), { message: 'no file of tests has "sgima" in its path' });
});

test('of a suite that runs over a server and over shards a run has one, and the next run the other', (t) => {
  const suites = ['a', 'b'].flatMap((name) => [`${name}.test.ts`, `${name}-served.test.ts`, `${name}-sharded.test.ts`]);
  const first = leftOut(suites, { part: 0, of: 2 });
  const next = leftOut(suites, { part: 1, of: 2 });
  t.deepEqual(first, ['a-sharded.test.ts', 'b-served.test.ts']);
  t.deepEqual(next, ['a-served.test.ts', 'b-sharded.test.ts']);
  t.deepEqual(leftOut(suites, { part: 0, of: 1 }), []);
});

for (const [line, title, ms] of [
  ['cases › a › quick', 'cases › a › quick', 0],
  ['cases › a › some (350ms)', 'cases › a › some', 350],
  ['cases › a › some (1.2s)', 'cases › a › some', 1_200],
  ['cases › a › some (2m)', 'cases › a › some', 120_000],
  ['cases › a › some (1m 20.8s)', 'cases › a › some', 80_800],
  ['cases › a › of (two) (3s)', 'cases › a › of (two)', 3_000],
  ['cases › a › in no time (none)', 'cases › a › in no time (none)', 0],
] as const)
  test(`${line}: its duration`, (t) => t.deepEqual(durationIn(line), { title, ms }));

test('the slowest are told first, and no more than are asked for', (t) => {
  const durations = ['a (1s)', 'b', 'c (1m 2s)', 'd (1.5s)'].map(durationIn);
  t.deepEqual(slowest(durations, 2), ['  62.0 s  c', '   1.5 s  d']);
  t.is(slowest(durations, 9).length, 3, 'one is too short to be told');
});

test('files are told by what they computed, the longest first', (t) => {
  t.deepEqual(longestComputing('0.5\ta\n12.25\tb\n3\tc\n', 2), ['  12.3 s  b', '   3.0 s  c']);
});

test('what a process that ended computed counts', (t) => {
  const before = computedSeconds();
  const busy = 'const until = process.cpuUsage().user + 100_000; while (process.cpuUsage().user < until);';
  t.is(spawnSync(process.execPath, ['-e', busy]).status, 0);
  t.true(computedSeconds() - before >= (existsSync('/proc/self/stat') ? 0.05 : 0));
});
