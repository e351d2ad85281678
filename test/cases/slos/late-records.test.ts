/**
 * Which slices are measured again, and when: late records are found by their receive time, and all slices are measured
 * again periodically.
 */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { QueryBatcher } from '../../../queries/batch/query-batcher.ts';
import { openPromql } from '../../../queries/promql/evaluation/threads.ts';
import { readTranslation } from '../../../queries/promql/settings.ts';
import { defaultPlans, type Plan } from '../../../schemas/resources/plan.ts';
import { parseSettings } from '../../../schemas/settings.ts';
import { SloFields } from '../../../subjects/slos/document.ts';
import { findLateWindows } from '../../../subjects/slos/late-records.ts';
import { measureSlices } from '../../../subjects/slos/measure.ts';
import { type MeasuredExtent, planMeasurements } from '../../../subjects/slos/measurement-times.ts';
import { findChangedSlices, type MeasuredSlice } from '../../../subjects/slos/slices/slices.ts';
import { openTables, type Tables } from '../sink-tables.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const nowMs = Date.UTC(2026, 4, 4, 12);

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
const threads = openPromql({ size: 1 });
test.after.always(() => Promise.all([tables?.close(), threads.close()]));

const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const ofRequests = SloFields.parse({ name: 'requests', service: 'shop' });
const ofLogs = SloFields.parse({
  name: 'logs',
  type: 'ratio',
  query: { slice: '5m', sli: { bad: count('service:shop severity:error'), total: count('service:shop') } },
});
const ofPromql = SloFields.parse({
  name: 'promql',
  type: 'threshold',
  query: { sli: { value: { kind: 'promql', expression: 'up' }, operator: 'gte', threshold: 1 } },
});
const increase = (metric: string) => ({ kind: 'metric', metric, overTime: 'increase' });
const ofMetrics = SloFields.parse({
  name: 'metrics',
  type: 'ratio',
  query: { slice: '5m', sli: { bad: increase('failed'), total: increase('served') } },
});
const measureEveryMinute = (slo: SloFields, minutes: number, known?: MeasuredExtent) => {
  let state = known;
  return Array.from({ length: minutes }, (_, minute) => {
    const checks = planMeasurements(slo, state, { nowMs: nowMs + minute * minuteMs + 7000, retentionDays: 30 });
    state = checks.next;
    return { minute, ...checks };
  });
};

test('late records are checked every nine minutes, in the same minute for queries of one service or total', (t) => {
  const minutesOf = (slo: SloFields): number[] =>
    measureEveryMinute(slo, 60).flatMap(({ minute, late }) => (late.length > 0 ? [minute] : []));
  const [first = 0, ...others] = minutesOf(ofRequests);
  t.true(first <= 9);
  t.deepEqual(
    others,
    others.map((_, index) => first + (index + 1) * 9),
  );
  const fast = { ...ofRequests, type: 'latency' as const, latencyThresholdMs: 300 };
  t.deepEqual(minutesOf(fast), [first, ...others]);
  const phases = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((service) => minutesOf({ ...ofRequests, service })[0]);
  t.true(new Set(phases).size > 2);
});

test('a late-record check covers every slice of the last day: the last hour always, the rest every three hours and after a pause', (t) => {
  const known = (ms: number): MeasuredExtent => ({
    series: measureEveryMinute(ofRequests, 1)[0]?.next.series ?? '',
    fromMs: nowMs - 30 * 24 * hourMs,
    upToMs: nowMs,
    lateMs: nowMs - ms,
    allMs: nowMs - ms,
  });
  const lates = measureEveryMinute(ofRequests, 181 + 9, known(0)).filter(
    ({ late, recheck: backFill }) => late.length + backFill.length > 0,
  );
  const whole: number[] = [];
  for (const [index, { minute, late, recheck: backFill }] of lates.entries()) {
    const atMs = nowMs + minute * minuteMs;
    const before = index === 0 ? nowMs : nowMs + (lates[index - 1]?.minute ?? 0) * minuteMs;
    const windows = [...backFill, ...late];
    t.is(windows[0]?.fromMs, before - 24 * hourMs);
    t.is(windows.at(-1)?.toMs, atMs - 3 * minuteMs);
    t.deepEqual(
      windows.slice(1).map(({ fromMs }) => fromMs),
      windows.slice(0, -1).map(({ toMs }) => toMs),
    );
    if (backFill.length === 0) whole.push(minute);
    else t.is(late[0]?.fromMs, atMs - hourMs);
  }
  t.is(whole.length, 1);
  t.true((whole[0] ?? 0) >= 180 && (whole[0] ?? 0) < 189);
  const [paused] = measureEveryMinute(ofRequests, 1, known(40 * minuteMs));
  t.deepEqual([paused?.recheck, paused?.late[0]?.fromMs], [[], nowMs - 40 * minuteMs - 24 * hourMs]);
  const { allMs: _, ...former } = known(20 * minuteMs);
  t.deepEqual(measureEveryMinute(ofRequests, 1, former)[0]?.recheck, []);
});

test('of the earlier time, only slices with late records are measured again', async (t) => {
  const tenant = 'late';
  const at = (ms: number): string => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
  const window = { fromMs: nowMs - 24 * hourMs, toMs: nowMs - hourMs };
  const landed = async (
    table: 'logs' | 'spans',
    service: string,
    aboutMs: number,
    receivedMs: number,
  ): Promise<void> => {
    const more = table === 'logs' ? ['observed_timestamp', at(aboutMs)] : ['name', "'GET /'"];
    await tables.columns.execute(
      `INSERT INTO ${table} (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, service, ${more[0]})
      SELECT '${tenant}', 'default', ${at(receivedMs)}, 0, 1, 0, ${at(aboutMs)}, '${service}', ${more[1]}`,
    );
  };
  const reader = { columns: tables.columns.forTenant(tenant), plan: defaultPlans['enterprise'] as Plan, nowMs };
  const answers = () => new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: 60_000, singleTimeoutMs: 60_000 });
  const lateOf = (slo: SloFields) => findLateWindows(slo, window, { reader, batcher: answers() });
  for (const table of ['logs', 'spans'] as const) {
    await landed(table, 'shop', nowMs - 2 * hourMs, nowMs - 2 * hourMs + 500);
    // Equally late, but within the last hour or older than a day.
    await landed(table, 'shop', nowMs - 50 * minuteMs, nowMs);
    await landed(table, 'shop', nowMs - 25 * hourMs, nowMs);
  }
  for (const slo of [ofRequests, ofLogs]) t.deepEqual(await lateOf(slo), []);
  // Without a PromQL evaluator, the slices affected by late points are unknown.
  t.deepEqual(await lateOf(ofPromql), [window]);
  const [first, near, far] = [nowMs - 20 * hourMs, nowMs - 20 * hourMs + 10 * minuteMs, nowMs - 3 * hourMs];
  for (const ms of [first, near, far])
    for (const table of ['logs', 'spans'] as const) await landed(table, 'shop', ms + 59_000, nowMs);
  t.deepEqual(await lateOf(ofRequests), [
    { fromMs: first, toMs: near + minuteMs },
    { fromMs: far, toMs: far + minuteMs },
  ]);
  t.deepEqual(await lateOf({ ...ofRequests, service: 'other' }), []);
  t.deepEqual(await lateOf(ofLogs), [
    { fromMs: first, toMs: near + 5 * minuteMs },
    { fromMs: far, toMs: far + 5 * minuteMs },
  ]);
  for (let hour = 4; hour < 20; hour++) await landed('spans', 'shop', nowMs - hour * hourMs, nowMs);
  t.deepEqual(await lateOf(ofRequests), [window]);
});

test('for metrics, slices are measured again from the first late point of a metric that they count', async (t) => {
  const at = (ms: number): string => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
  const window = { fromMs: nowMs - 24 * hourMs, toMs: nowMs - hourMs };
  const landed = (table: 'samples' | 'histograms', metric: string, aboutMs: number, receivedMs: number) =>
    tables.columns.execute(
      `INSERT INTO ${table} (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp)
      SELECT 'points', 'default', ${at(receivedMs)}, 0, 1, '${metric}', 1, ${at(aboutMs)}`,
    );
  const reader = { columns: tables.columns.forTenant('points'), plan: defaultPlans['enterprise'] as Plan, nowMs };
  const lateOf = (slo: SloFields) =>
    findLateWindows(slo, window, {
      reader,
      batcher: new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: 60_000, singleTimeoutMs: 60_000 }),
    });
  await landed('samples', 'served', nowMs - 3 * hourMs, nowMs - 3 * hourMs + 500);
  await landed('samples', 'other', nowMs - 3 * hourMs, nowMs);
  await landed('samples', 'served', nowMs - 50 * minuteMs, nowMs);
  await landed('samples', 'served', nowMs - 25 * hourMs, nowMs);
  t.deepEqual(await lateOf(ofMetrics), []);
  await landed('histograms', 'failed', nowMs - 2 * hourMs + 7 * minuteMs, nowMs);
  const last = { fromMs: nowMs - 2 * hourMs + 5 * minuteMs, toMs: window.toMs };
  t.deepEqual(await lateOf(ofMetrics), [last]);
  await landed('samples', 'served', nowMs - 4 * hourMs, nowMs);
  t.deepEqual(await lateOf(ofMetrics), [{ ...last, fromMs: nowMs - 4 * hourMs }]);
});

/**
 * The slices that each expression affects if a point is late at 05:30, in a window of half a day that ends at 11:00.
 */
const expressions: readonly (readonly [string, 'from it on' | 'all'])[] = [
  ['sum(served)', 'from it on'],
  ['sum(increase(served[5m]))', 'from it on'],
  ['sum(increase(served[1h] offset 10m))', 'from it on'],
  ['max_over_time(sum(rate(served[2m]))[30m:1m])', 'from it on'],
  ['sum(served) - (sum(failed) or vector(0))', 'from it on'],
  ['sum(served offset -20m)', 'all'],
  [`sum(served @ ${Date.UTC(2026, 4, 4, 5, 33) / 1000})`, 'all'],
  ['sum({__name__=~"serv.*"})', 'all'],
];

test('PromQL slices measured again after late points equal a single query over the whole window', async (t) => {
  const tenant = 'promql';
  const at = (ms: number): string => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
  const window = { fromMs: nowMs - 13 * hourMs, toMs: nowMs - hourMs };
  const lateMs = Date.UTC(2026, 4, 4, 5, 30);
  const metrics = ['served', 'failed', 'other'];
  const seriesIn = metrics.map(
    (metric, index) =>
      `('${tenant}', 'p', '${metric}', ${index + 1}, 'counter', 0, false, 'prometheus', map('k', 'v'), 's', ${at(window.fromMs)}, ${at(nowMs)})`,
  );
  await tables.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, source, attributes, attribute_types, first_seen, last_seen) VALUES ${seriesIn.join(', ')}`,
  );
  const landed = async (points: readonly (readonly [number, number])[], receivedMs: (ms: number) => number) => {
    const rows = points.flatMap(([ms, value]) =>
      metrics.map(
        (metric, index) =>
          `('${tenant}', 'p', ${at(receivedMs(ms))}, '${metric}', ${index + 1}, ${at(ms)}, ${value * (index + 1)})`,
      ),
    );
    await tables.columns.execute(
      `INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value) VALUES ${rows.join(', ')}`,
    );
  };
  const minutes = (window.toMs - window.fromMs) / minuteMs;
  const numberAt = (minute: number): number => minute * 3 + (minute % 7);
  const all = Array.from(
    { length: minutes + 60 },
    (_, minute) => [window.fromMs + minute * minuteMs, numberAt(minute)] as const,
  );
  // The point at the end of the window is received after it, like late ones. A quarter of an hour is missing at first,
  // and its first point is at the end of a slice.
  const isLate = ([ms]: readonly [number, number]): boolean => ms >= lateMs && ms < lateMs + 15 * minuteMs;
  await landed(
    all.filter((point) => !isLate(point) && point[0] !== window.toMs),
    (ms) => ms + 500,
  );
  const reader = {
    columns: tables.columns.forTenant(tenant),
    plan: defaultPlans['enterprise'] as Plan,
    nowMs,
    promql: { threads, translation: readTranslation(parseSettings({})) },
  };
  const makeContext = () => ({
    reader,
    batcher: new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: 60_000, singleTimeoutMs: 60_000 }),
  });
  const slos = expressions.map(([expression]) =>
    SloFields.parse({
      name: expression,
      type: 'ratio',
      query: {
        slice: '5m',
        sli: { good: { kind: 'promql', expression }, total: { kind: 'promql', expression: `1000000 + ${expression}` } },
      },
    }),
  );
  const before: MeasuredSlice[][] = [];
  for (const slo of slos) {
    before.push(await measureSlices(slo, window, makeContext()));
    const isKnown = expressions.some(([expression, which]) => expression === slo.name && which === 'from it on');
    t.deepEqual(await findLateWindows(slo, window, makeContext()), isKnown ? [] : [window], slo.name);
  }
  await landed(all.filter(isLate), () => nowMs);
  for (const [index, slo] of slos.entries()) {
    const [expression, which] = expressions[index] as (typeof expressions)[number];
    const windows = await findLateWindows(slo, window, makeContext());
    const fromMs = which === 'all' ? window.fromMs : lateMs - 5 * minuteMs;
    t.deepEqual(windows, [{ fromMs, toMs: window.toMs }], expression);
    const slices = new Map((before[index] ?? []).map((slice) => [slice[0], slice]));
    for (const each of windows) {
      const known = [...slices.values()].filter(([beginMs]) => beginMs >= each.fromMs && beginMs < each.toMs);
      for (const slice of findChangedSlices(known, await measureSlices(slo, each, makeContext())))
        slices.set(slice[0], slice);
    }
    const ought = await measureSlices(slo, window, makeContext());
    t.notDeepEqual(ought, before[index], expression);
    t.deepEqual(
      [...slices.values()].filter(([, , total]) => total > 0).toSorted(([one], [other]) => one - other),
      ought,
      expression,
    );
  }
});

test('a formula uses the same slice in all its parts, and is measured again if records of one part are late', async (t) => {
  const tenant = 'formula';
  const at = (ms: number): string => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
  const window = { fromMs: nowMs - 13 * hourMs, toMs: nowMs - hourMs };
  const minutes = Array.from({ length: 13 * 60 }, (_, minute) => window.fromMs + minute * minuteMs);
  await tables.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, source, attributes, attribute_types, first_seen, last_seen)
    VALUES ('${tenant}', 'p', 'limit', 1, 'gauge', 0, false, 'prometheus', map('k', 'v'), 's', ${at(window.fromMs)}, ${at(nowMs)})`,
  );
  const pointsAt = (times: readonly number[], receivedMs?: number) =>
    tables.columns.execute(
      `INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value) VALUES ${times
        .map((ms) => `('${tenant}', 'p', ${at(receivedMs ?? ms + 500)}, 'limit', 1, ${at(ms)}, 1)`)
        .join(', ')}`,
    );
  let ordinal = 0;
  const loggedAt = (times: readonly number[], receivedMs?: number) =>
    tables.columns.execute(
      `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service) VALUES ${times
        .map(
          (ms) => `('${tenant}', 'p', ${at(receivedMs ?? ms + 500)}, 0, 1, ${ordinal++}, ${at(ms)}, ${at(ms)}, 'shop')`,
        )
        .join(', ')}`,
    );
  await pointsAt(minutes.filter((ms) => ms !== window.toMs));
  // Two records in one slice, and one in each other slice.
  const twiceMs = window.fromMs + 90 * minuteMs;
  await loggedAt([...minutes.map((ms) => ms + 1000), twiceMs + 2000]);
  const reader = {
    columns: tables.columns.forTenant(tenant),
    plan: defaultPlans['enterprise'] as Plan,
    nowMs,
    promql: { threads, translation: readTranslation(parseSettings({})) },
  };
  const makeContext = () => ({
    reader,
    batcher: new QueryBatcher({ batchDelayMs: 0, batchTimeoutMs: 60_000, singleTimeoutMs: 60_000 }),
  });
  const formula = (expression: string) => ({
    kind: 'formula',
    expression,
    queries: { limit: { kind: 'promql', expression: 'sum(limit)' }, records: count('service:shop') },
  });
  const slo = SloFields.parse({
    name: 'formula',
    type: 'threshold',
    query: { sli: { value: formula('records / limit'), operator: 'lt', threshold: 2 } },
  });
  const slices = await measureSlices(slo, window, makeContext());
  t.is(slices.length, 12 * 60);
  t.deepEqual(
    slices.filter(([, good]) => good === 0),
    [[twiceMs, 0, 1]],
  );
  t.deepEqual(await findLateWindows(slo, window, makeContext()), []);
  const [recordMs, pointMs] = [window.fromMs + 200 * minuteMs, window.fromMs + 700 * minuteMs];
  await loggedAt([recordMs + 5000], nowMs);
  const ofRecord = { fromMs: recordMs, toMs: recordMs + minuteMs };
  t.deepEqual(await findLateWindows(slo, window, makeContext()), [ofRecord]);
  await pointsAt([pointMs], nowMs);
  t.deepEqual(await findLateWindows(slo, window, makeContext()), [
    ofRecord,
    { fromMs: pointMs - minuteMs, toMs: window.toMs },
  ]);
});
