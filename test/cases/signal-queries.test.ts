/** Detection signals as a query signal, like log records and spans. */
import '../../subjects/query-kinds.ts';
import { QueryError } from '../../queries/errors.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { run } from '../../queries/run.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { AlertRuleFields } from '../../subjects/alerts/rule.ts';
import { queryRule } from '../../subjects/alerts/run-query.ts';
import { test } from '../limit-concurrency.ts';
import { openTables, receivedAtMs, type Tables } from './sink-tables.ts';

let tables: Tables;
test.after.always(() => tables.close());

const row = (
  [id, agoSeconds, rule, severity]: readonly [string, number, string, string],
  {
    entities = ['user ann', 'host web-1'],
    techniques = ['T1033'],
    user = 'ann',
    by = '',
    tenant = 'acme',
    events = 1,
  } = {},
): string => {
  const list = (values: readonly string[]): string => `[${values.map((each) => `'${each}'`).join(', ')}]`;
  return `('${tenant}', 'default', now64(3), 0, ${agoSeconds}, '${id}', 'rule', fromUnixTimestamp64Milli(toInt64(${receivedAtMs - agoSeconds * 1000})), '${rule}', 1, 'Title of ${rule}', '${severity}', 40, '[]', ${events}, ${list(entities)}, ['discovery', 'execution'], ${list(techniques)}, map('User', '${user}'), '${by}')`;
};

test.before(async () => {
  tables = await openTables();
  const rows = [
    row(['s1', 10, 'whoami', 'low']),
    row(['s1', 10, 'whoami', 'low'], { events: 3 }),
    row(['s1', 10, 'whoami', 'low'], { events: 2 }),
    row(['s2', 20, 'whoami', 'critical'], { entities: ['user bob'], user: 'bob', techniques: ['T1059.001', 'T1033'] }),
    row(['s3', 30, 'dump', 'high'], { entities: [], techniques: [] }),
    row(['s4', 30, 'dump', 'high'], { by: 'exception-1' }),
    row(['s5', 30, 'dump', 'high'], { tenant: 'other' }),
    row(['s6', 4_000, 'dump', 'high']),
  ];
  await tables.columns.execute(
    `INSERT INTO signals (tenant_id, project_id, received_at, partition, offset, id, kind, time, rule_id, rule_version, rule_title, severity, risk_score, events, event_count, entities, tactics, techniques, group_by, suppressed_by) VALUES ${rows.join(', ')}`,
  );
});

const reader = (
  plan: Pick<Plan, 'name' | 'entitlements' | 'retentionDays'> = defaultPlans['enterprise'] as Plan,
): TenantReader => ({
  columns: tables.columns.forTenant('acme'),
  plan,
  nowMs: receivedAtMs + 1_000,
});
const range = { from: BigInt(receivedAtMs - 3_600_000) * 1_000_000n, to: BigInt(receivedAtMs) * 1_000_000n };
const respond = async (query: object, stepMs?: number) =>
  run({ signal: 'detections', ...query } as QueryRequest, reader(), { range, stepMs });
const found = async (search: string): Promise<unknown> =>
  (await respond({ kind: 'rows', search, fields: ['id'] })).rows.map(([id]) => id).sort();

const searches: readonly (readonly [search: string, ids: readonly string[]])[] = [
  ['', ['s1', 's2', 's3']],
  ['ruleId:whoami', ['s1', 's2']],
  ['severity:>=high', ['s2', 's3']],
  ['severity:low', ['s1']],
  ['eventCount:3', ['s1']],
  ['eventCount:2', []],
  ['entity:"user bob"', ['s2']],
  ['entity:host*', ['s1']],
  ['NOT entity:*', ['s3']],
  ['user:ann', ['s1']],
  ['technique:T1033', ['s1', 's2']],
  ['technique:/^T1059/', ['s2']],
  ['tactic:execution AND riskScore:>=40', ['s1', 's2', 's3']],
  ['User:bob', ['s2']],
  ['dump', ['s3']],
  ['"bob"', ['s2']],
  ['title whoami', ['s1', 's2']],
];
for (const [search, ids] of searches)
  test(`${JSON.stringify(search)} finds ${ids.join(', ')}`, async (t) => {
    t.deepEqual(await found(search), [...ids]);
  });

test('signals are counted by rule and severity, each once', async (t) => {
  const { rows } = await respond({
    kind: 'aggregate',
    groupBy: ['ruleId', 'severity'],
    measures: [{ function: 'count' }, { function: 'sum', field: 'riskScore' }],
  });
  t.deepEqual(rows.toSorted(), [
    ['dump', 'high', 1, 40],
    ['whoami', 'critical', 1, 40],
    ['whoami', 'low', 1, 40],
  ]);
});

test('a signal counts for each of its entities, and for none if it has none', async (t) => {
  const { rows } = await respond({ kind: 'aggregate', groupBy: ['entity'], measures: [{ function: 'count' }] });
  t.deepEqual(rows.toSorted(), [
    ['', 1],
    ['host web-1', 1],
    ['user ann', 1],
    ['user bob', 1],
  ]);
});

test('signals can be read as series by step, and as complete rows', async (t) => {
  const { series } = await respond(
    { kind: 'aggregate', groupBy: ['technique'], measures: [{ function: 'count' }] },
    3_600_000,
  );
  const sums = series.map(({ labels, points }) => [
    labels['technique'],
    points.reduce((sum, [, count]) => sum + Number(count), 0),
  ]);
  t.deepEqual(sums.toSorted(), [
    ['', 1],
    ['T1033', 2],
    ['T1059.001', 1],
  ]);
  const { columns, rows } = await respond({ kind: 'rows', search: 'user:ann' });
  const whole = Object.fromEntries(columns.map(({ name }, at) => [name, rows[0]?.[at]]));
  t.like(whole, { id: 's1', rule: 'Title of whoami', severity: 'low', entity: 'user ann, host web-1', host: 'web-1' });
});

test('signals can be read with the SIEM entitlement, within the longest retention', async (t) => {
  const query: QueryRequest = { kind: 'aggregate', signal: 'detections', measures: [{ function: 'count' }] };
  const plan = defaultPlans['enterprise'] as Plan;
  const codeOf = async (entitlements: readonly string[], fromMs: number): Promise<string> => {
    try {
      const at = { from: BigInt(fromMs) * 1_000_000n, to: range.to };
      await run(query, reader({ ...plan, entitlements: [...entitlements] }), { range: at });
      return 'answered';
    } catch (error) {
      return error instanceof QueryError ? error.code : String(error);
    }
  };
  const days = Math.max(...Object.values(plan.retentionDays));
  t.is(await codeOf(['logs', 'metrics', 'traces'], receivedAtMs), 'UPGRADE_REQUIRED');
  t.is(await codeOf(['siem'], receivedAtMs - (days - 1) * 86_400_000), 'answered');
  t.is(await codeOf(['siem'], receivedAtMs - (days + 1) * 86_400_000), 'RETENTION_EXCEEDED');
});

test('an alert rule can query signals, by their entities', async (t) => {
  const rule = {
    id: 'r1',
    version: 1,
    ...AlertRuleFields.parse({
      name: 'Much about one',
      condition: {
        kind: 'threshold',
        query: {
          kind: 'aggregate',
          signal: 'detections',
          search: 'severity:>=low',
          groupBy: ['user'],
          measures: [{ function: 'sum', field: 'riskScore' }],
        },
        window: '1h',
        thresholds: [{ severity: 'warning', operator: 'above', value: 30 }],
      },
    }),
  };
  const response = await queryRule(rule, reader(), { nowMs: receivedAtMs + 1_000 });
  t.is(response.kind, 'groups');
  const groups = response.kind === 'groups' ? response.groups : [];
  t.deepEqual(groups.map(({ labels, points }) => [labels['user'] ?? '', points[0]]).toSorted(), [
    ['', 40],
    ['ann', 40],
    ['bob', 40],
  ]);
});
