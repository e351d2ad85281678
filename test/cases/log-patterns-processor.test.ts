/** The processor of log patterns: what it emits, and when. */
import test from 'ava';
import { logPatterns } from '../../processors/log-patterns/log-patterns.ts';
import { OTHER_ID } from '../../queries/log-patterns/pattern-id.ts';
import { type LogPattern, ParameterValues, type PatternCount } from '../../schemas/log-patterns.ts';
import { topics } from '../../schemas/topics.ts';
import { firstMs, TaskRun } from './run-task.ts';

const cart = { 'service.name': 'cart' };
const minute = 60_000;
const nanoseconds = (ms: number): string => `${BigInt(ms) * 1_000_000n}`;
const record = (body: string, timeMs = firstMs, severityNumber = 9): object => ({
  timeUnixNano: nanoseconds(timeMs),
  severityNumber,
  body: { stringValue: body },
});

const found = (run: TaskRun): LogPattern[] => run.emitted<LogPattern>(topics.logPatterns);
const counted = (run: TaskRun): PatternCount[] => run.emitted<PatternCount>(topics.logPatternCounts);
const sum = (counts: readonly PatternCount[]): number => counts.reduce((total, { count }) => total + count, 0);

test('a pattern is emitted when it is found, when its records have doubled, and once a day', (t) => {
  const run = new TaskRun(logPatterns);
  const bodies = (count: number) => Array.from({ length: count }, (_, at) => record(`took ${at} steps`));
  run.logs(bodies(1), cart);
  t.is(found(run).length, 1);
  t.like(found(run)[0], {
    tenantId: 'acme',
    service: 'cart',
    template: 'took <number> steps',
    sample: 'took 0 steps',
    shard: 0,
    count: 1,
    merged: [],
    firstSeen: new Date(firstMs).toISOString(),
  });
  run.logs(bodies(14), cart);
  run.logs(bodies(1), cart);
  t.like(found(run)[3]?.parameters[0], { name: '1', seen: 16, numbers: 16, min: 0, max: 13 });
  run.logs(bodies(3), cart, { atMs: firstMs + 24 * 60 * minute });
  t.deepEqual(
    found(run).map(({ count }) => count),
    [1, 4, 8, 16, 17],
  );
});

test('a pattern that merges others lists their ids, under which earlier records were counted', (t) => {
  const run = new TaskRun(logPatterns);
  run.logs(
    ['ann', 'bob', 'cleo', 'dan', 'eve'].map((name) => record(`Failed password for ${name} from 192.0.2.1`)),
    cart,
  );
  const last = found(run).at(-1);
  t.is(last?.template, 'Failed password for <*> from <address>');
  const before = found(run).slice(0, -1);
  t.is(before.length, 4);
  for (const { patternId } of before) t.true(last?.merged.includes(patternId));
});

test('records are counted by minute, project, service, severity and pattern, after the minute ends', (t) => {
  const run = new TaskRun(logPatterns);
  run.logs([record('one a'), record('one a'), record('one a', firstMs + 30_000, 17), record('two b')], cart);
  run.logs([record('one a')], { 'service.name': 'pay' });
  t.deepEqual(counted(run), []);
  run.logs([record('one a', firstMs + 3 * minute)], cart, { atMs: firstMs + 3 * minute });
  run.logs([record('one a', firstMs + 3 * minute)], cart, { atMs: firstMs + 3 * minute });
  const first = counted(run);
  t.deepEqual(
    first.map(({ service, severity, count, projectId, minute: at }) => [service, severity, count, projectId, at]),
    [
      ['cart', 'info', 2, 'shop', '2026-01-01T00:00:00.000Z'],
      ['cart', 'info', 1, 'shop', '2026-01-01T00:00:00.000Z'],
      ['cart', 'error', 1, 'shop', '2026-01-01T00:00:00.000Z'],
      ['pay', 'info', 1, 'shop', '2026-01-01T00:00:00.000Z'],
    ],
  );
  t.is(new Set(first.map(({ patternId }) => patternId)).size, 2);
});

test('records that are late, early or the last to arrive are counted too', (t) => {
  const run = new TaskRun(logPatterns);
  const times = [0, 0, -3_600_000, 86_400_000, 0, -60_000, 500_000, -86_400_000];
  for (const [at, skew] of times.entries()) {
    const atMs = firstMs + at * minute;
    run.logs([record('one a', atMs + skew), record(`n ${at}`, atMs + skew)], cart, { atMs });
  }
  run.tick(firstMs + 3_600_000);
  run.tick(firstMs + 2 * 3_600_000);
  t.is(sum(counted(run)), 2 * times.length);
  t.is(run.task.status.nextTickMs, Number.POSITIVE_INFINITY);
});

test('severities without a number use their text', (t) => {
  const run = new TaskRun(logPatterns);
  const texts = ['ERROR', 'warning', 'Critical', 'notice', 'FINE', 'trace', 'odd', ''];
  run.logs(
    texts.map((severityText) => ({
      timeUnixNano: nanoseconds(firstMs),
      severityText,
      body: { stringValue: severityText },
    })),
    cart,
  );
  run.tick(firstMs + 3_600_000);
  t.deepEqual(
    counted(run)
      .map(({ severity }) => severity)
      .sort(),
    ['error', 'error', 'info', 'trace', 'unspecified', 'unspecified', 'unspecified', 'warn'],
  );
});

test('a flood of random lines collapses into one pattern, emitted once and counted', (t) => {
  const run = new TaskRun(logPatterns);
  const word = (number: number): string => [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  for (let batch = 0; batch < 30; batch++)
    run.logs(
      Array.from({ length: 100 }, (_, at) => {
        const number = batch * 100 + at;
        return record([...String(number * 7919)].map((_, part) => word(number * (part + 3))).join(' '));
      }),
      cart,
    );
  run.tick(firstMs + 3_600_000);
  t.is(sum(counted(run)), 3_000);
  t.is(new Set(counted(run).map(({ patternId }) => patternId)).size, 1_001);
  const other = counted(run).filter(({ patternId }) => patternId === OTHER_ID);
  t.is(sum(other), 2_000);
  t.like(
    found(run).find(({ patternId }) => patternId === OTHER_ID),
    { template: '<other>', structure: 0, places: [] },
  );
  t.true(run.task.status.bytes < 4 * 2 ** 20);
});

test('a restart at any message changes nothing', (t) => {
  const users = 'ann bob cleo dan eve fay gus hal ida jon kim lea'.split(' ');
  const verbs = 'opened closed moved kept'.split(' ');
  const feed = (restarts: boolean): TaskRun => {
    const run = new TaskRun(logPatterns, { emitter: 'one' });
    for (let at = 0; at < 240; at++) {
      const user = users[(at * 7) % 12];
      const verb = verbs[(at * 5) % 4];
      const body = at % 3 === 0 ? `user ${user} ${verb} box ${at}` : `${verb} for ${user} and ${users[(at * 11) % 12]}`;
      run.logs([record(body, firstMs + at * 9_000)], cart, { atMs: firstMs + at * 9_000 });
      if (restarts && at % 7 === 0) run.restart();
    }
    run.tick(firstMs + 86_400_000);
    return run;
  };
  const [one, other] = [feed(false), feed(true)];
  t.deepEqual(other.messages, one.messages);
  t.deepEqual(other.task.snapshot(), one.task.snapshot());
});

test('values that an earlier version emitted without a sketch are read', (t) => {
  const stored = { name: '1', seen: 2, top: [['a', 2]], numbers: 0, min: null, max: null };
  t.is(ParameterValues.parse(stored).distinct, null);
});
