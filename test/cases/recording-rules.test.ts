/** Recording rules: what a group writes, compared with Prometheus. */
import '../../subjects/query-kinds.ts';
import test, { type ExecutionContext } from 'ava';
import { QueryBatcher, type RunInSlot } from '../../queries/batch/query-batcher.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { TimeoutError } from '../../runtime/timeout.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { QueryLimits } from '../../schemas/ports/columns.ts';
import { encodeWriteRequest, type RecordedSeries } from '../../schemas/recorded-samples.ts';
import { defaultPlans } from '../../schemas/resources/plan.ts';
import type { RecordingGroup } from '../../schemas/resources/recording-group.ts';
import {
  createStaleMarkers,
  type ExpressionResult,
  emptyRecording,
  evaluateRecordingGroup,
  type GroupEvaluation,
  type RecordingState,
} from '../../subjects/alerts/recording/evaluate.ts';
import { orderInRounds } from '../../subjects/alerts/recording/order.ts';
import { createExpressionRun } from '../../subjects/alerts/recording/run-query.ts';
import { stretched } from '../waiting.ts';
import { messageOf, openTables, type Tables } from './sink-tables.ts';

const promql = openPromql({ size: 1 });
let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => Promise.all([tables.close(), promql.close()]));

const startMs = Date.UTC(2026, 2, 1, 10);
let offset = 0;
const land = (tenantId: string, atMs: number, series: readonly RecordedSeries[]): Promise<unknown> => {
  const headers = { tenantId, projectId: '', signal: 'metrics', format: 'remote-write-1', offset: offset++ } as const;
  return tables.land([messageOf([encodeWriteRequest([{ atMs, series: [...series] }])], headers)], { sink: 'metrics' });
};

type Rules = readonly (readonly [record: string, expression: string, labels?: Readonly<Record<string, string>>])[];
const groupOf = (rules: Rules, more: Partial<RecordingGroup> = {}): RecordingGroup => ({
  name: 'g',
  file: '',
  enabled: true,
  interval: '1m',
  delay: '0s',
  limit: 0,
  rules: rules.map(([record, expression, labels = {}]) => ({ record, expression, labels })),
  ...more,
});

/** Evaluates over stored data of a tenant; the results are not stored. */
const evaluateOf = (
  tenantId: string,
  group: RecordingGroup,
  { prior = emptyRecording(), nowMs = startMs }: { prior?: RecordingState; nowMs?: number } = {},
): Promise<GroupEvaluation> => {
  const translation = { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true } as const;
  const reader: QueryReader = {
    nowMs,
    plan: defaultPlans['enterprise'] as QueryReader['plan'],
    columns: tables.columns.forTenant(tenantId),
    promql: { threads: promql, translation },
  };
  const batcher = new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: 20_000, singleTimeoutMs: 20_000 });
  const { signal } = new AbortController();
  const runQuery = createExpressionRun(reader, {
    atMs: nowMs,
    signal,
    batcher,
    batchTimeoutMs: 20_000,
    totalTimeoutMs: 50_000,
  });
  return evaluateRecordingGroup(group, { prior, nowMs, runExpressions: runQuery });
};

/** Evaluates with results by expression. */
const evaluateBy = (
  group: RecordingGroup,
  responses: Readonly<Record<string, ExpressionResult>>,
  { prior = emptyRecording(), nowMs = startMs }: { prior?: RecordingState; nowMs?: number } = {},
): Promise<GroupEvaluation> =>
  evaluateRecordingGroup(group, {
    prior,
    nowMs,
    runExpressions: async (expressions) => expressions.map((each) => responses[each] ?? { elements: [] }),
  });

const shown = ({ series }: Pick<GroupEvaluation, 'series'>) =>
  Object.fromEntries(series.map(({ labels, value }) => [JSON.stringify(labels), value]));
const of = (...values: readonly (readonly [Record<string, string>, number])[]): ExpressionResult => ({
  elements: values.map(([labels, value]) => ({ labels, value })),
});

test('a rule reads results of earlier rules for the same time, and of later rules for the previous time', async (t) => {
  await land('order', startMs - 1000, [
    { labels: { __name__: 'requests', job: 'a' }, value: 2 },
    { labels: { __name__: 'requests', job: 'b' }, value: 3 },
  ]);
  await land('order', startMs - 60_000, [
    { labels: { __name__: 'late:sum' }, value: 7 },
    { labels: { __name__: 'job:sum', job: 'a' }, value: 100 },
  ]);
  const group = groupOf([
    ['before:late', 'late:sum'],
    ['job:sum', 'sum by (job) (requests)'],
    ['all:sum', 'sum(job:sum)'],
    // Has no metric name: it is queried alone, in a thread.
    ['named:count', 'count({__name__=~"job:s.+"})'],
    ['history:sum', 'sum_over_time(job:sum{job="a"}[5m])'],
    ['late:sum', 'all:sum * 10'],
  ]);
  const evaluation = await evaluateOf('order', group);
  t.deepEqual(
    evaluation.rules.map(({ series, error }) => [series, error]),
    [1, 2, 1, 1, 1, 1].map((series) => [series, undefined]),
  );
  t.deepEqual(shown(evaluation), {
    '{"__name__":"before:late"}': 7,
    '{"__name__":"job:sum","job":"a"}': 2,
    '{"__name__":"job:sum","job":"b"}': 3,
    '{"__name__":"all:sum"}': 5,
    '{"__name__":"named:count"}': 2,
    '{"__name__":"history:sum","job":"a"}': 102,
    '{"__name__":"late:sum"}': 50,
  });
});

test('independent rules are evaluated concurrently', (t) => {
  const rounds = orderInRounds([
    { record: 'a', expression: 'x' },
    { record: 'b', expression: 'y' },
    { record: 'c', expression: 'a + b' },
    { record: 'd', expression: 'c' },
    { record: 'e', expression: 'z' },
    { record: 'x', expression: 'broken(' },
  ]);
  t.deepEqual(rounds, [[0, 1, 4, 5], [2], [3]]);
});

test('a rule does not read results of a later rule in the same evaluation, even if it waits for an earlier rule', (t) => {
  t.deepEqual(
    orderInRounds([
      { record: 'a', expression: 'x' },
      { record: 'b', expression: 'a + later' },
      { record: 'later', expression: 'y' },
    ]),
    [[0], [1, 2]],
  );
});

test('labels of a rule override those of its expression, and a label without a value is removed', async (t) => {
  const group = groupOf([['job:x', 'x', { team: 'shop', pod: '' }]]);
  const evaluation = await evaluateBy(group, { x: of([{ __name__: 'x', team: 'old', pod: 'p', job: 'j' }, 1]) });
  t.deepEqual(shown(evaluation), { '{"__name__":"job:x","job":"j","team":"shop"}': 1 });
});

test('a series that a rule no longer returns is marked stale once, and a failing rule ends no series', async (t) => {
  const group = groupOf([['r', 'x']]);
  const both = await evaluateBy(group, { x: of([{ job: 'a' }, 1], [{ job: 'b' }, 2]) });
  const failed = await evaluateBy(group, { x: { error: 'away' } }, { prior: both.state });
  t.deepEqual([failed.series, failed.rules[0]?.error], [[], 'away']);
  const one = await evaluateBy(group, { x: of([{ job: 'a' }, 1]) }, { prior: failed.state });
  t.deepEqual(shown(one), { '{"__name__":"r","job":"a"}': 1, '{"__name__":"r","job":"b"}': 'stale' });
  const again = await evaluateBy(group, { x: of([{ job: 'a' }, 1]) }, { prior: one.state });
  t.deepEqual(shown(again), { '{"__name__":"r","job":"a"}': 1 });
  const other = await evaluateBy(groupOf([['s', 'x']]), { x: of([{ job: 'a' }, 1]) }, { prior: again.state });
  t.deepEqual(shown(other), { '{"__name__":"r","job":"a"}': 'stale', '{"__name__":"s","job":"a"}': 1 });
  t.deepEqual(createStaleMarkers(other.state), [{ labels: { __name__: 's', job: 'a' }, value: 'stale' }]);
});

test('a series that moves between two rules of the same name does not end', async (t) => {
  const group = groupOf([
    ['r', 'x'],
    ['r', 'y'],
  ]);
  const first = await evaluateBy(group, { x: of([{ job: 'a' }, 1]) });
  const second = await evaluateBy(group, { y: of([{ job: 'a' }, 2]) }, { prior: first.state });
  t.deepEqual(shown(second), { '{"__name__":"r","job":"a"}': 2 });
});

test('a series that a rule ends counts as ended for later rules', async (t) => {
  await land('ended', startMs - 60_000, [{ labels: { __name__: 'r', job: 'gone' }, value: 5 }]);
  const group = groupOf([
    ['r', 'vector(1)'],
    ['r:count', 'count(r)'],
  ]);
  const prior = { series: { 'r 1': ['{"__name__":"r","job":"gone"}'] } };
  const evaluation = await evaluateOf('ended', group, { prior });
  t.is(shown(evaluation)['{"__name__":"r:count"}'], 1);
});

test('a rule above the limit of its group, or with duplicate series labels, fails and records nothing', async (t) => {
  const limited = await evaluateBy(groupOf([['r', 'x']], { limit: 1 }), { x: of([{ a: '1' }, 1], [{ a: '2' }, 1]) });
  t.deepEqual([limited.series, limited.rules[0]?.error], [[], 'exceeded limit of 1 with 2 series']);
  const equal = await evaluateBy(groupOf([['r', 'x', { a: '' }]]), { x: of([{ a: '1' }, 1], [{ a: '2' }, 1]) });
  t.deepEqual(
    [equal.series, equal.rules[0]?.error],
    [[], 'vector contains metrics with the same labelset after applying rule labels'],
  );
});

test('a result that is neither vector nor number, and an unreadable one, is an error of that rule only', async (t) => {
  const group = groupOf([
    ['text', '"x"'],
    ['range', 'x[5m]'],
    ['broken', 'sum('],
    ['one', '1'],
  ]);
  const evaluation = await evaluateOf('errors', group);
  const errors = evaluation.rules.map(({ error }) => error);
  t.deepEqual(errors.slice(0, 2), Array(2).fill('rule result is not a vector or scalar'));
  t.regex(errors[2] ?? '', /parse error/);
  t.deepEqual(shown(evaluation), { '{"__name__":"one"}': 1 });
});

test('samples have the evaluation time of expressions, which the delay moves back', async (t) => {
  const evaluation = await evaluateBy(groupOf([['r', 'x']], { delay: '30s' }), { x: of([{}, 1]) });
  t.is(evaluation.atMs, startMs - 30_000);
});

test('values that JSON cannot represent as a number are recorded', async (t) => {
  const evaluation = await evaluateBy(groupOf([['r', 'x']]), {
    x: of([{ a: 'nan' }, Number.NaN], [{ a: 'inf' }, Number.POSITIVE_INFINITY]),
  });
  t.deepEqual(
    evaluation.series.map(({ value }) => value),
    ['NaN', '+Inf'],
  );
});

/** Queries a store that never responds, or one in which only expressions with `slow` never respond. */
const makeQuery = (
  { isLoaded, hangs }: { isLoaded: boolean; hangs: (sql: string, values: string) => boolean },
  options: { batchTimeoutMs: number; totalTimeoutMs: number; acquireSlot?: RunInSlot },
) => {
  const { acquireSlot, ...times } = options;
  const columns = tables.columns.forTenant('late');
  const never = (limits: QueryLimits | undefined): Promise<never> =>
    new Promise((_, reject) =>
      limits?.signal?.addEventListener('abort', () => reject(new UnavailableError('the statement was given up'))),
    );
  const query: typeof columns.query = (sql, parameters, limits) =>
    hangs(sql, JSON.stringify(parameters)) ? never(limits) : columns.query(sql, parameters, limits);
  const queryNative: typeof columns.queryNative = (sql, parameters, limits) =>
    hangs(sql, JSON.stringify(parameters)) ? never(limits) : columns.queryNative(sql, parameters, limits);
  const translation = { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true } as const;
  const reader: QueryReader = {
    nowMs: startMs,
    plan: defaultPlans['enterprise'] as QueryReader['plan'],
    columns: { ...columns, query, queryNative },
    promql: { threads: promql, translation },
  };
  const responses = new QueryBatcher({
    batchDelayMs: 0,
    ...times,
    singleTimeoutMs: 20_000,
    ...(acquireSlot && { runInSlot: acquireSlot }),
  });
  const toTimeoutError = (ms: number): Error => (isLoaded ? new TimeoutError(ms) : responses.createTimeoutError(ms));
  const { signal } = new AbortController();
  return createExpressionRun(reader, {
    atMs: startMs,
    signal,
    ...times,
    batcher: { runInSlot: (work, ending) => responses.runInSlot(work, ending), createTimeoutError: toTimeoutError },
  });
};

/** Timers of signals do not keep a process alive. */
const keepAlive = (t: ExecutionContext): void => {
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(alive));
};

test('a group that gets no slot in time is not evaluated, and its rules report no result', async (t) => {
  keepAlive(t);
  const acquireSlot: RunInSlot = (_, signal) =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
  const runQuery = makeQuery(
    { isLoaded: false, hangs: () => false },
    { batchTimeoutMs: 20_000, totalTimeoutMs: 20, acquireSlot },
  );
  const evaluated = evaluateRecordingGroup(groupOf([['r', 'x']]), {
    prior: emptyRecording(),
    nowMs: startMs,
    runExpressions: runQuery,
  });
  await t.throwsAsync(evaluated, { instanceOf: TimeoutError });
});

test('a group is not evaluated if tables do not respond in time, or if all queries are slow', async (t) => {
  keepAlive(t);
  const group = groupOf([
    ['r', 'x'],
    ['s', 'sum(r)'],
  ]);
  for (const [isLoaded, batchTimeoutMs, totalTimeoutMs] of [
    [false, 20_000, 50],
    [true, 50, 20_000],
  ] as const) {
    const runQuery = makeQuery({ isLoaded, hangs: () => true }, { batchTimeoutMs, totalTimeoutMs });
    const evaluated = evaluateRecordingGroup(group, {
      prior: emptyRecording(),
      nowMs: startMs,
      runExpressions: runQuery,
    });
    await t.throwsAsync(evaluated, { instanceOf: TimeoutError });
  }
});

test('a single slow expression is an error of its rule, and the other rules are recorded', async (t) => {
  keepAlive(t);
  await land('late', startMs - 1000, [{ labels: { __name__: 'slow_one' }, value: 1 }]);
  // Meanwhile, the load of the machine may change.
  const batchTimeoutMs = stretched(1000);
  const runQuery = makeQuery(
    { isLoaded: false, hangs: (sql, values) => `${sql}${values}`.includes('slow_one') },
    { batchTimeoutMs, totalTimeoutMs: stretched(30_000) },
  );
  const group = groupOf([
    ['r', 'slow_one'],
    ['s', 'vector(1)'],
  ]);
  const { rules } = await evaluateRecordingGroup(group, {
    prior: emptyRecording(),
    nowMs: startMs,
    runExpressions: runQuery,
  });
  t.deepEqual(
    rules.map(({ series, error }) => [series, error]),
    [
      [0, `the query took longer than ${batchTimeoutMs / 1000} seconds`],
      [1, undefined],
    ],
  );
});
