/** How `npm test` selects files, and what it reports. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { computedSeconds, topFilesByCpu } from '../cpu-times.ts';
import { durationIn, slowest } from '../durations.ts';
import { Reasons } from '../error-messages.ts';
import { findStart, inOrder, latestMinutes, maxMinutes } from '../file-order.ts';
import { compareWithDeclared, isWalk, linesOf } from '../page-requests.ts';
import { createPartSelector } from '../parts.ts';
import { describeExcludedFiles, filterFiles, listExcludedFiles } from '../select-files.ts';
import { parseSkippedFile, startVariable } from '../skip-late-files.ts';

const files = ['test/cases/sigma.test.ts', 'test/cases/sigma-index.test.ts', 'test/contract/bus-kafka.test.ts'];

for (const [words, chosen] of [
  [['sigma'], files.slice(0, 2)],
  [['sigma', 'bus'], files],
  [['cases/sigma', 'sigma-index'], files.slice(0, 2)],
  [['./test/contract/bus-kafka.test.ts'], files.slice(2)],
] as const)
  test(`${words.join(' ')} selects each file with it in its path, once`, (t) =>
    t.deepEqual(filterFiles(words, files), [...chosen]));

test('a word that selects nothing is rejected by name', (t) => {
  t.throws(() => filterFiles(['sigma', 'sgima'], files), { message: 'no file of tests has "sgima" in its path' });
});

const all = () => ({ part: 0, of: 1 });

test('of seven runs, a suite with a server and a sharded variant has each in one, and neither in five', (t) => {
  const suites = ['a', 'b'].flatMap((name) => [`${name}.test.ts`, `${name}-served.test.ts`, `${name}-sharded.test.ts`]);
  const runs = [0, 1, 2, 3, 4, 5, 6].map((seed) =>
    suites.filter((path) => !listExcludedFiles(suites, createPartSelector(seed)).includes(path)),
  );
  t.deepEqual(runs, [
    ['a.test.ts', 'a-served.test.ts', 'b.test.ts', 'b-sharded.test.ts'],
    ['a.test.ts', 'a-sharded.test.ts', 'b.test.ts'],
    ['a.test.ts', 'b.test.ts'],
    ['a.test.ts', 'b.test.ts'],
    ['a.test.ts', 'b.test.ts'],
    ['a.test.ts', 'b.test.ts'],
    ['a.test.ts', 'b.test.ts', 'b-served.test.ts'],
  ]);
  t.deepEqual(listExcludedFiles(suites, all), []);
});

test('kill suites, walks and suites with their own servers each run in rotation', (t) => {
  const suites = globSync('test/**/*.test.ts').filter((path) => !/-(?:served|sharded)\./.test(path));
  const seeds = 7 * 11;
  const ran = new Map(suites.map((path) => [path, seeds]));
  for (let seed = 0; seed < seeds; seed++)
    for (const path of listExcludedFiles(suites, createPartSelector(seed))) ran.set(path, (ran.get(path) ?? 0) - 1);
  t.is(ran.get('test/end-to-end/chart-processes.test.ts'), seeds / 11);
  t.is(ran.get('test/contract/shard-kills.test.ts'), seeds / 11);
  t.is(ran.get('test/end-to-end/page-logs.test.ts'), seeds / 7);
  t.is(ran.get('test/contract/columns-placements.test.ts'), seeds / 7);
  t.is(ran.get('test/end-to-end/page-cluster.test.ts'), seeds / 7);
  t.is(ran.get('test/end-to-end/api-logs.test.ts'), seeds);
  t.deepEqual(listExcludedFiles(suites, all), []);
});

test('an omitted file is listed with the last commit that selected it', (t) => {
  const kills = ['test/contract/a-kills.test.ts', 'test/contract/b-kills.test.ts', 'test/contract/c-kills.test.ts'];
  const commits = [9, 9, 10, 0].map((seed, index) => ({ name: `abcdef${index}`, seed }));
  t.deepEqual(describeExcludedFiles(listExcludedFiles(kills, createPartSelector(9)), kills, commits), [
    'test/contract/a-kills.test.ts  selected by abcdef3, 3 commits before',
    'test/contract/b-kills.test.ts  selected by abcdef2, 2 commits before',
  ]);
  t.deepEqual(describeExcludedFiles(kills.slice(0, 1), kills, commits.slice(0, 2)), [
    'test/contract/a-kills.test.ts  not selected by the last 2 commits',
  ]);
});

test('each part of a kill suite is selected in some run of the suite', (t) => {
  const suites = globSync('test/**/*.test.ts');
  for (const name of [
    'contract/processors-once-kafka',
    'end-to-end/chart-processes',
    'end-to-end/check-kills',
    'end-to-end/check-lag',
  ]) {
    const path = `test/${name}.test.ts`;
    const seeds = Array.from({ length: 60 }, (_, seed) => seed).filter(
      (seed) => !listExcludedFiles(suites, createPartSelector(seed)).includes(path),
    );
    for (const parts of [2, 4])
      t.is(new Set(seeds.map((seed) => createPartSelector(seed)(parts).part)).size, parts, `${path}, ${parts} parts`);
  }
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
  test(`the duration is parsed: ${line}`, (t) => t.deepEqual(durationIn(line), { title, ms }));

test('the slowest tests are listed first, up to the requested number', (t) => {
  const durations = ['a (1s)', 'b', 'c (1m 2s)', 'd (1.5s)'].map(durationIn);
  t.deepEqual(slowest(durations, 2), ['  62.0 s  c', '   1.5 s  d']);
  t.is(slowest(durations, 9).length, 3, 'one is too short to be reported');
});

test('files are listed by their CPU time, the longest first', (t) => {
  t.deepEqual(topFilesByCpu('0.5\ta\n12.25\tb\n3\tc\n', 2), ['  12.3 s  b', '   3.0 s  c']);
});

test('the CPU time of a terminated process is counted', (t) => {
  const before = computedSeconds();
  const busy = 'const until = process.cpuUsage().user + 100_000; while (process.cpuUsage().user < until);';
  t.is(spawnSync(process.execPath, ['-e', busy]).status, 0);
  t.true(computedSeconds() - before >= (existsSync('/proc/self/stat') ? 0.05 : 0));
});

test('API requests of walks are reported once each, without their query parameters', (t) => {
  const requestPaths = [
    '/api/logs?search=a',
    '/api/logs?search=b',
    '/assets/a.js',
    '/auth/session',
    '/logs',
    '/ws/live-tail',
  ];
  t.deepEqual(linesOf(requestPaths.map((path) => ({ method: 'GET', url: `http://oiq.example${path}` }))), [
    'GET /api/logs',
    'GET /auth/session',
    'GET /ws/live-tail',
  ]);
});

test('operations not reached by walks are listed by group, and undocumented requests by line', (t) => {
  const declared = ['logs list', 'logs export', 'traces list', 'users list', 'users add'].map((name) => {
    const [group = '', verb = ''] = name.split(' ');
    return { group, method: 'GET', path: `/api/${group}/${verb}`, operationId: `${verb}-${group}` };
  });
  const find = (line: string): string | undefined =>
    declared.find(({ method, path }) => line === `${method} ${path}`)?.operationId;
  const lines = ['GET /api/logs/list', 'GET /api/traces/list', 'GET /api/secret', 'GET /api/secret'];
  t.deepEqual(compareWithDeclared(lines, declared, find), {
    undeclared: ['GET /api/secret'],
    unreached: ['logs, 1 of 2: export-logs', 'users, all 2'],
  });
});

test('walks are identified by their names', (t) => {
  const paths = ['page-logs', 'pages', 'api-paging', 'api-log-pages'].map((name) => `test/end-to-end/${name}.test.ts`);
  t.deepEqual(paths.filter(isWalk), paths.slice(0, 2));
});

test('a failure is reported with its error message, which ava prints at the end', (t) => {
  const reasons = new Reasons();
  const failures = [
    'columns › a block comes back',
    'columns › a block Rejected promise returned by test',
    'columns › is',
  ];
  for (const failure of failures) reasons.add(failure);
  const printed = [
    ...['  columns › a block', '', '  Rejected promise returned by test. Reason:', '', '  UnavailableError {'],
    ...["    message: 'no answer',", '  }', '', '  columns › is', '', '  Value is not `true`:', '', '  false'],
    ...['', '  columns › a block comes back', '', '  TypeError {', '    message: `two␊', '    lines`,', '  }'],
  ];
  for (const line of printed) reasons.read(line);
  t.deepEqual(
    [...failures, 'types hold'].map((failure) => reasons.describeFailure(failure)),
    [
      'columns › a block comes back: `two␊',
      "columns › a block Rejected promise returned by test: 'no answer',",
      'columns › is',
      'types hold',
    ],
  );
});

test('a file that would start late is skipped, and reported by its path', (t) => {
  const ava = fileURLToPath(new URL('../../node_modules/.bin/ava', import.meta.url));
  const files = ['test/cases/aggregates.test.ts', 'test/contract/counters-memory.test.ts'];
  const environment = { ...process.env, [startVariable]: '0' };
  const { stdout, status } = spawnSync(ava, ['--no-color', ...files], { env: environment, encoding: 'utf8' });
  t.is(status, 0);
  const titles = [...stdout.matchAll(/^ {2}✔ (.*)$/gm)].map(([, title = '']) => durationIn(title).title);
  t.deepEqual(titles.map(parseSkippedFile).toSorted(), files);
  t.is(parseSkippedFile('cases › aggregates › works'), undefined);
});

test('nested ava runs within a test start all files, even if the outer run is late', (t) => {
  t.is(process.env[startVariable], undefined);
});

test('slow files start one after the other, within two thirds of a run or not at all', (t) => {
  const paths = ['end-to-end/api-logs', 'end-to-end/probe-kills', 'cases/chart-rules', 'cases/sigma'];
  const files = paths.map((path) => `/oiq/test/${path}.test.ts`);
  const [api = 0, kills = 0, chart = 0, pure = 0] = files.map(findStart);
  t.true(kills < chart && chart < 2 / 3);
  t.true(pure < 0.5 && api >= 0.1 && api < 1);
  t.deepEqual(
    files.toSorted(inOrder).map(findStart),
    [api, kills, chart, pure].toSorted((one, other) => one - other),
  );
  t.deepEqual(
    files.map(latestMinutes),
    [3, 2, 2, 3].map((thirds) => (thirds * maxMinutes) / 3),
  );
});
