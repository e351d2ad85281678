/** Counts of log patterns as a query signal, like log records and spans, for panels, alert rules and detectors. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { RequestResults } from '../../queries/batch/results.ts';
import { PatternForms } from '../../queries/log-patterns/forms.ts';
import { getMinStepMs } from '../../queries/min-step.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { parseQuery, run } from '../../queries/run.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { AlertRuleFields } from '../../subjects/alerts/rule.ts';
import { queryRule } from '../../subjects/alerts/run-query.ts';
import { DetectorFields } from '../../subjects/anomalies/detector.ts';
import { findDetectorProblems } from '../../subjects/anomalies/detector-problems.ts';
import { findCountingMeasures } from '../../subjects/anomalies/detector-progress.ts';
import { DashboardFields, type Panel } from '../../subjects/dashboards/document.ts';
import { queryPanel } from '../../subjects/dashboards/query/panel.ts';
import { type Line, MinedLogs } from './mined-logs.ts';
import { randomOf } from './random.ts';
import { openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
let logs: MinedLogs;
test.before(async () => {
  tables = await openTables();
  logs = await mined();
});
test.after.always(() => tables.close());

const minute = 60_000;
const endMs = Date.UTC(2026, 2, 20, 12);
const fromMs = endMs - 10 * minute;
const range = { from: BigInt(fromMs) * 1_000_000n, to: BigInt(endMs) * 1_000_000n - 1n };
const createReader = ({ reader: columns }: Pick<MinedLogs, 'reader'>): TenantReader => ({
  columns,
  plan: defaultPlans['enterprise'] as Plan,
  nowMs: endMs + 2 * minute,
});
const respond = (of: Pick<MinedLogs, 'reader'>, query: object, stepMs?: number) =>
  run(
    { kind: 'aggregate', signal: 'log-patterns', measures: [{ function: 'count' }], ...query } as QueryRequest,
    createReader(of),
    {
      range,
      stepMs,
    },
  );
const rows = async (of: Pick<MinedLogs, 'reader'>, query: object) => (await respond(of, query)).rows;

/** Six logins of different users merge into one pattern; a page is served each second for two minutes. */
const mined = async (): Promise<MinedLogs> => {
  const logs = new MinedLogs(tables);
  const logins = ['ann', 'bob', 'cleo', 'dan', 'eve', 'fay'].map(
    (name, at): Line => ({
      service: 'cart',
      body: `Failed login of ${name}`,
      timeMs: fromMs + at * minute,
      severityNumber: 17,
    }),
  );
  for (const each of logins) await logs.send([each]);
  const served = Array.from(
    { length: 120 },
    (_, at): Line => ({ service: 'shop', body: `served page ${at}`, timeMs: fromMs + 7 * minute + at * 1000 }),
  );
  await logs.send(served);
  await logs.idle(endMs + 2 * minute);
  return logs;
};

const searches: readonly (readonly [
  search: string,
  groupBy: readonly string[],
  expected: readonly (readonly unknown[])[],
])[] = [
  [
    '',
    ['template'],
    [
      ['served page <number>', 120],
      ['Failed login of <*>', 6],
    ],
  ],
  ['service:cart', ['template'], [['Failed login of <*>', 6]]],
  ['severity:>=error', ['service', 'severity'], [['cart', 'error', 6]]],
  ['login', [], [[6]]],
  ['template:"served page <number>"', [], [[120]]],
  ['pattern:0000000000000000', [], [[0]]],
];
for (const [search, groupBy, expected] of searches)
  test(`pattern counts with the search ${JSON.stringify(search)} are grouped by ${groupBy.join() || 'nothing'}`, async (t) => {
    t.deepEqual(await rows(logs, { search, groupBy }), expected);
  });

test('a pattern is counted by minute, under its current id and its former ids', async (t) => {
  const [[id = ''] = []] = (await rows(logs, { search: 'login', groupBy: ['pattern'] })) as string[][];
  const [{ ids } = { ids: [] }] = await logs.reader.query<{ ids: string[] }>(
    "SELECT groupUniqArray(pattern_id) AS ids FROM log_pattern_counts WHERE tenant_id = {tenant:String} AND service = 'cart'",
  );
  t.true(ids.length > 1);
  for (const each of new Set([id, ...ids])) {
    const { series } = await respond(logs, { search: `pattern:${each}`, groupBy: ['pattern'] }, minute);
    t.deepEqual(
      series.map(({ labels, unit, points }) => ({ labels, unit, values: points.map(([, value]) => value) })),
      [{ labels: { pattern: id }, unit: '{record}', values: [1, 1, 1, 1, 1, 1, 0, 0, 0, 0] }],
      each,
    );
  }
});

test('filtered counts, rates and row counts also count records', async (t) => {
  const measures = [
    { function: 'count', search: 'severity:error', as: 'errors' },
    { function: 'rate' },
    { function: 'distinct', field: 'pattern' },
  ];
  t.deepEqual(await rows(logs, { measures }), [[6, 0.21, 2]]);
  const request = { kind: 'rows', signal: 'log-patterns', fields: ['timestamp', 'template', 'count'], limit: 1 };
  const newest = await run(request as QueryRequest, createReader(logs), { range });
  t.deepEqual(newest.rows, [['2026-03-20T11:58:00.000000000Z', 'served page <number>', 60]]);
});

test('an alert rule counts a pattern', async (t) => {
  const query = { kind: 'aggregate', signal: 'log-patterns', search: 'login', measures: [{ function: 'count' }] };
  const condition = {
    kind: 'threshold',
    query: { ...query, groupBy: ['service'] },
    window: '10m',
    thresholds: [{ severity: 'warning', operator: 'above', value: 3 }],
  };
  const rule = { id: 'r', version: 1, ...AlertRuleFields.parse({ name: 'Failed logins', condition, delay: '0s' }) };
  t.like(await queryRule(rule, createReader(logs), { nowMs: endMs }), {
    groups: [{ labels: { service: 'cart' }, points: [6] }],
  });
});

test('a panel with patterns queries whole minutes, and so do the inputs of its formulas', async (t) => {
  const signal = 'log-patterns';
  const counted = { name: 'a', query: { kind: 'aggregate', signal, measures: [{ function: 'count' }] } };
  const records = { name: 'b', query: { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }] } };
  const runQueries = async (queries: object[], formulas: object[] = []) => {
    const { panels } = DashboardFields.parse({
      name: 'Patterns',
      panels: [{ id: 'p', place: { width: 12, height: 6 }, visual: { kind: 'time-series' }, queries, formulas }],
    });
    const shown = { panel: panels[0] as Panel, repeat: null, scope: new Map(), partial: [] };
    const item = await queryPanel(shown, {
      question: { step: '25s' },
      range,
      filters: [],
      saved: new Map(),
      names: undefined,
      results: new RequestResults(createReader(logs), AbortSignal.timeout(60_000)),
      getFault: (error) => ({ code: 'INTERNAL', message: String(error) }),
    });
    return [item.error, Object.values(item.results).map(({ stepMs }) => stepMs)];
  };
  t.deepEqual(await runQueries([counted, records]), [null, [minute, 25_000]]);
  t.deepEqual(await runQueries([counted, records], [{ name: 'c', expression: 'a / b' }]), [
    null,
    [minute, minute, minute],
  ]);
});

test('a detector counts patterns by whole minutes, and missing counts of a pattern are zero', async (t) => {
  const query = parseQuery({
    kind: 'aggregate',
    signal: 'log-patterns',
    groupBy: ['pattern'],
    measures: [{ function: 'count' }],
  });
  const problemsAt = (step: string) => findDetectorProblems(DetectorFields.parse({ name: 'Patterns', query, step }));
  t.deepEqual(problemsAt('5m'), []);
  t.deepEqual(
    problemsAt('90s').map(({ path }) => path),
    ['step'],
  );
  t.deepEqual(findCountingMeasures(query, await respond(logs, query, minute)), ['count']);
  t.is(getMinStepMs(query), minute);
  t.is(getMinStepMs(parseQuery({ kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }] })), 1);
});

test('freshness is reported up to the end of the last minute, regardless of late counts', async (t) => {
  const own = new MinedLogs(tables);
  const land = (minuteMs: number, receivedMs: number) =>
    tables.columns.execute(
      `INSERT INTO log_pattern_counts (tenant_id, minute, service, pattern_id, severity, count, received_at) VALUES
      ('${own.tenantId}', fromUnixTimestamp(${minuteMs / 1000}), 'cart', 'p', 'info', 1, fromUnixTimestamp64Milli(${receivedMs}))`,
    );
  const upTo = async () => (await respond(own, {})).freshness;
  await land(endMs - 2 * minute, endMs - minute + 20_000);
  t.deepEqual(await upTo(), { landedUpTo: '2026-03-20T11:59:00.000000000Z' });
  await land(endMs - 5 * minute, endMs);
  await land(endMs + 5 * minute, endMs);
  t.deepEqual(await upTo(), { landedUpTo: '2026-03-20T11:59:00.000000000Z' });
});

test('the pattern of an id is determined by the stored forms, whichever forms cover others', async (t) => {
  const random = randomOf(7);
  const pick = (of: number): number => Math.floor(random() * of);
  const { reader, tenantId } = new MinedLogs(tables);
  // Few words, so that many forms cover others; some ids have two forms.
  const forms = Array.from({ length: 40 }, (_, at) => ({
    id: `id-${at % 36}`,
    places: Array.from({ length: 2 + pick(3) }, () => [1, 1, 0, 5, 6][pick(5)] as number),
  }));
  const first = `fromUnixTimestamp64Milli(${fromMs})`;
  await tables.columns.execute(
    `INSERT INTO log_patterns (tenant_id, service, structure, pattern_id, places, template, first_seen, last_seen) VALUES
    ${forms.map(({ id, places }) => `('${tenantId}', 'cart', 1, '${id}', [${places}], 'of ${id}', ${first}, ${first})`)}`,
  );
  const ids = [...new Set(forms.map(({ id }) => id))];
  await tables.columns.execute(
    `INSERT INTO log_pattern_counts (tenant_id, minute, service, pattern_id, severity, count, received_at) VALUES
    ${ids.map((id) => `('${tenantId}', fromUnixTimestamp(${fromMs / 1000}), 'cart', '${id}', 'info', 1, now64(3))`)}`,
  );
  const resolved = new PatternForms(forms);
  const expected = Map.groupBy(ids, (id) => resolved.resolve(id));
  t.true(expected.size < ids.length);
  const found = await rows({ reader }, { groupBy: ['pattern', 'template'], limit: 1000 });
  t.deepEqual(found.toSorted(), [...expected].map(([id, its]) => [id, `of ${id}`, its.length]).toSorted());
});
