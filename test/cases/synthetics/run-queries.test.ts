/** Runs of synthetic checks as a query signal, like log records and spans. */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import type { QueryRequest } from '../../../queries/query.ts';
import { run } from '../../../queries/run.ts';
import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { defaultPlans, type Plan } from '../../../schemas/resources/plan.ts';
import { AlertRuleFields } from '../../../subjects/alerts/rule.ts';
import { queryRule } from '../../../subjects/alerts/run-query.ts';
import { SloFields } from '../../../subjects/slos/document.ts';
import { findSloProblems } from '../../../subjects/slos/problems.ts';
import { openTables, receivedAtMs, type Tables } from '../sink-tables.ts';

let tables: Tables;
test.after.always(() => tables.close());

const dueMs = Math.floor(receivedAtMs / 1000) * 1000;
type Given = readonly [check: string, location: string, agoSeconds: number, outcome: string, durationMs: number];
const row = (
  [check, location, agoSeconds, outcome, durationMs]: Given,
  { tenant = 'acme', project = '', team = 'shop', manual = 0, earliness = 1, message = '' } = {},
): string => {
  const at = `fromUnixTimestamp64Milli(toInt64(${dueMs - agoSeconds * 1000}))`;
  return `('${tenant}', '${project}', '${check}', '${location}', ${at}, ${manual}, ${earliness}, ${at}, '${outcome}', 2, ${durationMs}, '{"connect":${durationMs / 4},"wait":${durationMs / 2}}', '[]', '${message}', 'abc', 'Name of ${check}', 'http', map('team', '${team}'), now64(3))`;
};

test.before(async () => {
  tables = await openTables();
  const rows = [
    row(['c1', 'local', 10, 'passed', 100], { project: 'p1' }),
    // Sent again later: the first result counts.
    row(['c1', 'local', 10, 'failed', 900], { project: 'p1', earliness: 0 }),
    row(['c1', 'zurich', 20, 'failed', 400], { project: 'p1', message: 'status is 500' }),
    row(['c2', 'local', 30, 'degraded', 2000], { team: 'post' }),
    row(['c2', 'local', 40, 'passed', 50], { team: 'post', manual: 1 }),
    row(['c3', 'local', 10, 'failed', 1], { tenant: 'other' }),
    row(['c1', 'local', 4000, 'failed', 1]),
  ];
  // Duplicates that merges would remove are still there.
  await tables.columns.execute('SYSTEM STOP MERGES synthetic_runs');
  for (const each of rows) await tables.columns.execute(`INSERT INTO synthetic_runs VALUES ${each}`);
});

const reader = (): TenantReader => ({
  columns: tables.columns.forTenant('acme'),
  plan: defaultPlans['enterprise'] as Plan,
  nowMs: receivedAtMs + 1000,
});
const range = { from: BigInt(receivedAtMs - 3_600_000) * 1_000_000n, to: BigInt(receivedAtMs) * 1_000_000n };
const respond = (query: object) => run({ signal: 'synthetics', ...query } as QueryRequest, reader(), { range });
const found = async (search: string, more: object = {}) =>
  (await respond({ kind: 'rows', search, fields: ['checkId', 'location'], ...more })).rows.map((one) => one.join(' '));

const searches: readonly (readonly [search: string, runs: readonly string[]])[] = [
  ['', ['c1 local', 'c1 zurich', 'c2 local', 'c2 local']],
  ['outcome:failed', ['c1 zurich']],
  ['check:"Name of c1" location:local', ['c1 local']],
  ['durationMs:>=400', ['c1 zurich', 'c2 local']],
  ['phases.wait:>100 NOT outcome:failed', ['c2 local']],
  ['team:post isManual:false', ['c2 local']],
  ['attempts:2 team:shop', ['c1 local', 'c1 zurich']],
  ['500', ['c1 zurich']],
];
for (const [search, runs] of searches)
  test(`${JSON.stringify(search)} finds ${runs.join(', ')}`, async (t) => {
    t.deepEqual(await found(search), [...runs]);
  });

test('a run has its fields, the newest run first, and each project has its own runs', async (t) => {
  const { columns, rows } = await respond({ kind: 'rows', limit: 1 });
  const newest = Object.fromEntries(columns.map(({ name }, at) => [name, rows[0]?.[at]]));
  t.like(newest, { id: `local-${dueMs - 10_000}`, check: 'Name of c1', type: 'http', outcome: 'passed', attempts: 2 });
  t.like(newest, { durationMs: 100, 'phases.connect': 25, 'phases.wait': 50, 'phases.tls': 0, isManual: 'false' });
  t.deepEqual(await found('', { projectId: 'p1' }), ['c1 local', 'c1 zurich']);
});

test('runs are counted and aggregated by check, location, outcome and label', async (t) => {
  const { rows } = await respond({
    kind: 'aggregate',
    groupBy: ['team', 'outcome'],
    measures: [{ function: 'count' }, { function: 'max', field: 'durationMs' }],
  });
  t.deepEqual(rows.toSorted(), [
    ['post', 'degraded', 1, 2000],
    ['post', 'passed', 1, 50],
    ['shop', 'failed', 1, 400],
    ['shop', 'passed', 1, 100],
  ]);
});

const count = (search: string) => ({
  kind: 'aggregate',
  signal: 'synthetics',
  search,
  measures: [{ function: 'count' }],
});

test('alert rules and objectives can query runs', async (t) => {
  const condition = {
    kind: 'threshold',
    query: { ...count('outcome:failed'), groupBy: ['check'] },
    window: '1h',
    thresholds: [{ severity: 'warning', operator: 'above', value: 0 }],
  };
  const rule = { id: 'r', version: 1, ...AlertRuleFields.parse({ name: 'Failures', condition }) };
  t.like(await queryRule(rule, reader(), { nowMs: receivedAtMs + 1000 }), {
    groups: [{ labels: { check: 'Name of c1' }, points: [1] }],
  });
  const slo = SloFields.parse({
    name: 'Runs pass',
    type: 'ratio',
    targetPct: 99,
    windowDays: 30,
    query: { sli: { bad: count('outcome:failed'), total: count('NOT outcome:unknown') } },
  });
  t.deepEqual(findSloProblems(slo), []);
});
