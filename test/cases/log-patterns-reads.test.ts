/** Lists of log patterns, single patterns, and comparisons of two ranges, over stored data. */
import test from 'ava';
import { readPattern } from '../../subjects/log-patterns/pattern.ts';
import { classifyChange, comparePatterns } from '../../subjects/log-patterns/pattern-comparison.ts';
import { compareHours } from '../../subjects/log-patterns/pattern-verdicts.ts';
import {
  countPatterns,
  describePatterns,
  type LogPattern,
  type PatternsQuery,
} from '../../subjects/log-patterns/patterns.ts';
import { type Line, MinedLogs } from './mined-logs.ts';
import { openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** The end of the queried range; counts reach up to two minutes before now. */
const endMs = Date.UTC(2026, 2, 20, 12);
const nowMs = endMs + 2 * minute;

const question = (fromMs: number, toMs: number, filter: PatternsQuery['filter'] = {}): PatternsQuery => ({
  range: { from: BigInt(fromMs) * 1_000_000n, to: BigInt(toMs) * 1_000_000n },
  filter,
  nowMs,
  retainedFromMs: nowMs - 30 * day,
});
const lastHour = question(endMs - hour, endMs - 1);

const listed = async (logs: MinedLogs, question = lastHour): Promise<Record<string, LogPattern>> => {
  const totals = await countPatterns(logs.reader, question);
  const described = await describePatterns(logs.reader, totals, [...totals.byId.values()], question);
  return Object.fromEntries(described.map((each) => [each.template, each]));
};

const lines = (count: number, body: string, fromMs: number, rest: Partial<Line> = {}): Line[] =>
  Array.from({ length: count }, (_, at) => ({
    service: 'cart',
    body: `${body} ${at}`,
    timeMs: fromMs + at * 1000,
    ...rest,
  }));

const sendAll = async (logs: MinedLogs, sent: readonly Line[]): Promise<void> => {
  for (const part of Map.groupBy(sent, ({ timeMs }) => Math.floor(timeMs / hour)).values())
    await logs.send(part.toSorted((one, two) => one.timeMs - two.timeMs));
  await logs.idle(nowMs);
};

test('a pattern has its count, share, times, services, severities, trend and sample', async (t) => {
  const logs = new MinedLogs(tables);
  const from = endMs - hour;
  await sendAll(logs, [
    ...lines(30, 'served request', from),
    ...lines(10, 'served request', from + 30 * minute, { service: 'pay', severityNumber: 17 }),
    ...lines(60, 'wrote page', from + 10 * minute, { service: 'pay' }),
  ]);
  const found = await listed(logs);
  const served = found['served request <number>'];
  t.like(served, {
    count: 40,
    share: 0.4,
    services: ['cart', 'pay'],
    severities: { info: 30, error: 10 },
    firstSeen: '2026-03-20T11:00:00.000000000Z',
    lastSeen: '2026-03-20T11:30:00.000000000Z',
    aliases: [],
  });
  t.regex(served?.sample ?? '', /^served request \d+$/);
  t.is(served?.trend.stepSeconds, 120);
  t.is(served?.trend.counts.length, 30);
  t.deepEqual([served?.trend.counts[0], served?.trend.counts[15]], [30, 10]);
  t.deepEqual(Object.keys(await listed(logs, { ...lastHour, filter: { severity: 'error' } })), [
    'served request <number>',
  ]);
  t.is((await listed(logs, { ...lastHour, filter: { service: 'pay' } }))['served request <number>']?.count, 10);
  t.deepEqual(await listed(logs, { ...lastHour, filter: { projectId: 'another' } }), {});
});

test('counts from before a merge belong to the surviving pattern, and an alias returns that pattern', async (t) => {
  const logs = new MinedLogs(tables);
  const names = ['ann', 'bob', 'cleo', 'dan', 'eve', 'fay'];
  const from = endMs - 30 * minute;
  const sent = names.map((name, at) => ({
    service: 'cart',
    body: `Failed login of ${name}`,
    timeMs: from + at * 3 * minute,
  }));
  for (const each of sent) await logs.send([each]);
  await logs.idle(nowMs);
  const found = await listed(logs);
  const survivor = found['Failed login of <*>'];
  t.deepEqual(Object.keys(found), ['Failed login of <*>']);
  t.is(survivor?.count, 6);
  t.is(survivor?.firstSeen, '2026-03-20T11:30:00.000000000Z');
  const [alias = ''] = survivor?.aliases ?? [];
  const one = await readPattern(logs.reader, alias, lastHour);
  t.like(one, { id: survivor?.id as string, requestedId: alias, isAlias: true, count: 6 });
  t.deepEqual(
    one?.samples.map(({ body }) => body),
    names
      .toReversed()
      .slice(0, 5)
      .map((name) => `Failed login of ${name}`),
  );
  t.true(one?.samples.every(({ patternId }) => patternId === survivor?.id));
  t.is((await readPattern(logs.reader, survivor?.id ?? '', lastHour))?.isAlias, false);
  t.is(await readPattern(logs.reader, '0'.repeat(16), lastHour), undefined);
});

test('one pattern returns the values and ranges of its variables across all shards', async (t) => {
  const logs = new MinedLogs(tables, 2);
  const bodies = (first: number): Line[] =>
    Array.from({ length: 64 }, (_, at) => ({
      service: 'cart',
      timeMs: endMs - 10 * minute + at,
      body: `served "${at % 4 === 0 ? '/a' : '/b'}" in ${first + at} ms`,
    }));
  await logs.send(bodies(100), 0);
  await logs.send(bodies(1_000), 1);
  await logs.idle(nowMs);
  const [pattern] = Object.values(await listed(logs));
  const one = await readPattern(logs.reader, pattern?.id ?? '', lastHour);
  t.is(one?.template, 'served "<quoted>" in <number>');
  const [path, time] = one?.parameters ?? [];
  t.like(path, {
    name: '1',
    seen: 128,
    top: [
      { value: '/b', minCount: 96 },
      { value: '/a', minCount: 32 },
    ],
    distinct: { count: 2, isEstimate: false },
    numbers: 0,
    min: null,
  });
  t.like(time, { name: '2', seen: 128, numbers: 128, min: 100, max: 1_063 });
});

test('the pattern of an identifier returns an approximate number of distinct values, and no invented counts', async (t) => {
  const logs = new MinedLogs(tables, 2);
  const bodies = (shard: number): Line[] =>
    Array.from({ length: 8_000 }, (_, at) => ({
      service: 'pay',
      timeMs: endMs - 10 * minute + at,
      // Both shards receive each order.
      body: `payment of "order-${(at + shard * 3) % 8_000}" failed with code ${at % 3}`,
    }));
  await logs.send(bodies(0), 0);
  await logs.send(bodies(1), 1);
  await logs.idle(nowMs);
  const [pattern] = Object.values(await listed(logs));
  const one = await readPattern(logs.reader, pattern?.id ?? '', lastHour);
  const [order, code] = one?.parameters ?? [];
  t.deepEqual(order?.top, []);
  t.true(order?.distinct.isEstimate);
  // The sketch samples one of 64 and then one of 16 bodies; the samples of the other shard differ.
  t.is(order?.seen, 2 * (64 + (4_096 - 64) / 16), 'the last emitted statistics cover 4,096 bodies');
  const share = (order?.distinct.count ?? 0) / (order?.seen ?? 1);
  t.true(share > 0.75 && share < 1.25, String(order?.distinct.count));
  t.deepEqual(code?.distinct, { count: 3, isEstimate: false });
  t.deepEqual(code?.top.map(({ value }) => value).sort(), ['0', '1', '2']);
  t.is(
    code?.top.reduce((sum, { minCount }) => sum + minCount, 0),
    code?.seen,
  );
});

test('new, gone and spiking patterns are found by comparison with the same hour of earlier days', async (t) => {
  const logs = new MinedLogs(tables);
  const from = endMs - hour;
  const sent: Line[] = [];
  for (let back = 5; back >= 0; back--) {
    const at = from - back * day;
    sent.push(...lines(40, 'steady thing', at));
    if (back > 0) sent.push(...lines(20, 'vanished thing', at + minute));
    sent.push(...lines(back === 0 ? 200 : 10, 'rising thing', at + 2 * minute));
    if (back === 0) sent.push(...lines(3, 'unheard thing', at + 3 * minute));
  }
  await sendAll(logs, sent);
  const found = await listed(logs);
  const verdict = (name: string) => {
    const { isNew, isGone, isSpiking } = found[`${name} thing <number>`] as LogPattern;
    return { isNew, isGone, isSpiking };
  };
  t.deepEqual(verdict('steady'), { isNew: false, isGone: false, isSpiking: false });
  t.deepEqual(verdict('vanished'), { isNew: false, isGone: true, isSpiking: false });
  t.deepEqual(verdict('rising'), { isNew: false, isGone: false, isSpiking: true });
  t.deepEqual(verdict('unheard'), { isNew: true, isGone: false, isSpiking: false });
  t.like(found['rising thing <number>']?.hour, { count: 200, days: 5, median: 10 });
  t.is(found['vanished thing <number>']?.count, 0);
  t.is(found['vanished thing <number>']?.lastSeen, '2026-03-19T11:01:00.000000000Z');
});

test('with too few earlier days no change is reported, and the reason is returned', async (t) => {
  const logs = new MinedLogs(tables);
  const from = endMs - hour;
  await sendAll(logs, [...lines(5, 'one thing', from - day), ...lines(500, 'one thing', from)]);
  const [pattern] = Object.values(await listed(logs));
  t.like(pattern, { isNew: false, isGone: null, isSpiking: null });
  t.like(pattern?.hour, { count: 500, days: 1, median: null, deviation: null });
  t.regex(pattern?.reason ?? '', /on 1 of 7 earlier days; 3 are required/);
  const first = new MinedLogs(tables);
  await sendAll(first, lines(5, 'one thing', from));
  const [unknown] = Object.values(await listed(first));
  t.is(unknown?.isNew, null);
  t.regex(unknown?.reason ?? '', /sent no logs before/);
});

const hours: readonly (readonly [string, number, readonly (number | undefined)[], boolean | null, boolean | null])[] = [
  ['two days are too few', 900, [1, 1], null, null],
  ['days without logs of the service do not count', 900, [1, undefined, undefined, 1], null, null],
  ['five deviations of chance are a spike', 15, [0, 0, 0], true, false],
  ['a few more records are no spike', 4, [0, 0, 0], false, false],
  ['twice as many of a few records are no spike', 20, [10, 10, 10], false, false],
  ['one odd day does not raise the bar', 100, [10, 10, 10, 10, 5_000], true, false],
  ['days that differ raise it', 100, [10, 60, 20, 40, 90], false, false],
  ['a frequent pattern without records is gone', 0, [8, 9, 7], false, true],
  ['none of few may be chance', 0, [6, 5, 6], false, false],
];
for (const [title, count, earlier, isSpiking, isGone] of hours)
  test(`an hour against the same hour of earlier days: ${title}`, (t) => {
    t.like(compareHours({ count, earlier }), { isSpiking, isGone });
  });

const changes: readonly (readonly [string, [number, number], [number, number], ReturnType<typeof classifyChange>])[] = [
  ['more traffic is not a change', [1_000, 100], [10_000, 1_000], 'same'],
  ['a share that grew', [1_000, 100], [1_000, 10], 'more'],
  ['a share that shrank', [1_000, 10], [1_000, 100], 'fewer'],
  ['few records may be chance', [100, 3], [100, 1], 'same'],
  ['none before', [100, 3], [100, 0], 'new'],
  ['none now', [100, 0], [100, 3], 'gone'],
  ['a baseline without a record', [100, 3], [0, 0], null],
];
for (const [title, [now, counted], [before, countedBefore], change] of changes)
  test(`two ranges: ${title}`, (t) => {
    t.is(classifyChange({ now: counted, before: countedBefore }, { now, before }), change);
  });

test('two ranges are compared by the current ids', async (t) => {
  const logs = new MinedLogs(tables);
  const names = ['ann', 'bob', 'cleo', 'dan', 'eve', 'fay'];
  const logins = (at: number, some: readonly string[]): Line[] =>
    some.map((name, index) => ({ service: 'cart', body: `Failed login of ${name}`, timeMs: at + index }));
  await logs.send([...logins(endMs - 2 * hour, names.slice(0, 2)), ...lines(20, 'old thing', endMs - 2 * hour + 10)]);
  await logs.send([...logins(endMs - hour, names), ...lines(20, 'young thing', endMs - hour + 10)]);
  await logs.idle(nowMs);
  const range = lastHour.range;
  const baseline = question(endMs - 2 * hour, endMs - hour - 1).range;
  const compared = await comparePatterns(logs.reader, { range, baseline }, {});
  t.deepEqual(
    compared
      .map(({ template, change, range: now, baseline: then }) => [template, change, now.count, then.count])
      .sort(),
    [
      ['Failed login of <*>', 'same', 6, 2],
      ['old thing <number>', 'gone', 0, 20],
      ['young thing <number>', 'new', 20, 0],
    ],
  );
});
