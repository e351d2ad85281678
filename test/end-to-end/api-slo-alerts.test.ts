/** Queries of the kind `slo`, and alert rules of SLOs, which change only with their SLO. */
import test from 'ava';
import { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import { readTranslation } from '../../queries/promql/settings.ts';
import { parseQuery, run } from '../../queries/run.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { type StoredSlo, slos } from '../../schemas/resources/slo.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { evaluate } from '../../subjects/alerts/evaluate.ts';
import { type AlertRule, AlertRuleFields } from '../../subjects/alerts/rule.ts';
import { queryRule } from '../../subjects/alerts/run-query.ts';
import { emptyState } from '../../subjects/alerts/state.ts';
import { measuring, minuteMs, telemetryIn } from '../cases/slos/measured-telemetry.ts';
import { type Harness, startHarness } from './api-harness.ts';

const hourMs = 60 * minuteMs;
const nowMs = Math.floor(Date.now() / hourMs) * hourMs;
const threads = openPromql({ size: 1 });
const plan = defaultPlans['enterprise'] as Plan;
let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => Promise.all([harness?.close(), threads.close()]));

const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const ratioOf = (service: string) => ({
  bad: count(`service:${service} AND severity:error`),
  total: count(`service:${service}`),
});
const send = (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET', path: string, body?: object) =>
  harness.request(method, path, { as: 'editor', ...(body !== undefined && { body }) });
const create = async (fields: object): Promise<StoredSlo & StoredMetadata> => {
  const { status, body } = await send('POST', '/api/slos', { type: 'ratio', ...fields });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return (await harness.documents.forTenant('a').collection(slos).find(body.id)) as StoredSlo & StoredMetadata;
};
const reader = () => ({
  columns: harness.columns.forTenant('a'),
  plan,
  nowMs: Date.now(),
  promql: { threads, translation: readTranslation(parseSettings({})) },
});
const rulesOf = async (sloId: string): Promise<AlertRule[]> => {
  const { body } = await send('GET', '/api/alerts/rules?limit=200');
  return body.items
    .filter(({ managedBy }: { managedBy: { sloId: string } | null }) => managedBy?.sloId === sloId)
    .toSorted((one: AlertRule, other: AlertRule) => (one.id < other.id ? -1 : 1));
};
const evaluated = async (rule: AlertRule, atMs: number, prior = emptyState()) => {
  const fields = AlertRuleFields.parse(
    Object.fromEntries(Object.entries(rule).filter(([name]) => name in AlertRuleFields.shape)),
  );
  const own = { ...fields, id: rule.id, version: rule.version };
  const result = await queryRule(own, reader(), { nowMs: atMs });
  return evaluate({ tenantId: 'a', rule: own, prior, result, nowMs: atMs });
};
const figureOf = async (query: object, toMs: number) => {
  const { rows, columns } = await run(parseQuery({ kind: 'slo', ...query }), reader(), {
    range: { from: BigInt(toMs - hourMs) * 1_000_000n, to: BigInt(toMs) * 1_000_000n - 1n },
  });
  return columns.map(({ name }, index) => [name, rows[0]?.[index]]);
};

test('each figure of an SLO can be queried, over its own window and others', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const minutes = (from: number, to: number, good: number, bad: number) =>
    Array.from({ length: to - from }, (_, index) => ({ atMs: nowMs - (from + 1 + index) * minuteMs, good, bad }));
  // The last five minutes burn at 50, the hour at (5 × 5 + 55 × 1) / 6,000 / 0.001.
  await logs('asked', [...minutes(0, 5, 95, 5), ...minutes(5, 60, 99, 1)]);
  const slo = await create({ name: 'Asked', windowDays: 1, query: { sli: ratioOf('asked') } });
  t.deepEqual(await figureOf({ sloId: slo.id, figure: 'sli' }, nowMs), [], 'it was not measured yet');
  await measuring(harness)(slo, nowMs);
  const of = (figure: string, windows?: string[]) => figureOf({ sloId: slo.id, figure, windows }, nowMs);
  t.deepEqual(await of('burn-rate', ['1h', '5m']), [
    ['burn-rate', 80 / 6],
    ['bad', 80],
    ['total', 6000],
    ['coverage', 1],
  ]);
  t.is((await of('burn-rate', ['5m']))[0]?.[1], 50);
  t.is((await of('sli', ['5m']))[0]?.[1], 0.95);
  t.is((await of('sli'))[0]?.[1], 5920 / 6000);
  t.is((await of('budget-left'))[0]?.[1], -74 / 6);
  t.is((await of('budget-spent', ['5m']))[0]?.[1], 25 / 6);
  t.is((await of('coverage', ['2h']))[0]?.[1], 0.5);
  t.deepEqual(await figureOf({ sloId: 'none', figure: 'sli' }, nowMs), []);
  const series = await run(parseQuery({ kind: 'slo', sloId: slo.id, figure: 'burn-rate', windows: ['5m'] }), reader(), {
    range: { from: BigInt(nowMs - 15 * minuteMs) * 1_000_000n, to: BigInt(nowMs) * 1_000_000n - 1n },
    stepMs: 5 * minuteMs,
  });
  t.deepEqual(
    series.series.map(({ points }) => points),
    [
      [
        [nowMs - 15 * minuteMs, 10],
        [nowMs - 10 * minuteMs, 10],
        [nowMs - 5 * minuteMs, 50],
      ],
    ],
  );
});

test('SLOs of an organization are queried together, with the same results as alone', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const names = ['first', 'second', 'third'];
  for (const [index, name] of names.entries())
    await logs(name, [{ atMs: nowMs - 10 * minuteMs, good: 90, bad: index + 2 }]);
  const all = await Promise.all(
    names.map((name, index) =>
      create({
        name: `Together ${name}`,
        windowDays: 7 + index,
        query: { sli: ratioOf(name), ...(index === 2 && { budgeting: 'timeslices', sliceTarget: 0.9 }) },
      }),
    ),
  );
  for (const slo of all) await measuring(harness)(slo, nowMs);
  const queries = all.flatMap(({ id: sloId }) => [
    parseQuery({ kind: 'slo', sloId, figure: 'burn-rate', windows: ['1h', '30m'] }),
    parseQuery({ kind: 'slo', sloId, figure: 'sli', windows: ['1h', '30m'].slice(0, 1) }),
    parseQuery({ kind: 'slo', sloId, figure: 'budget-left' }),
  ]);
  const context = { range: { from: 0n, to: BigInt(nowMs) * 1_000_000n - 1n } };
  let statements = 0;
  const { columns, ...more } = reader();
  const counting = {
    ...columns,
    query: ((...of: Parameters<typeof columns.query>) => {
      statements++;
      return columns.query(...of);
    }) as typeof columns.query,
  };
  const responses = new QueryBatcher({ batchDelayMs: 5, batchTimeoutMs: 60_000, singleTimeoutMs: 60_000 });
  const batchResults = await Promise.all(
    queries.map((query) => responses.run(query, { ...more, columns: counting }, context)),
  );
  // Three kinds of windows: for each kind one statement for progress, and one per way of counting slices.
  // Windows of days need two for each length.
  t.true(statements <= 3 + 2 * 2 + 3 * 2, `${statements} statements`);
  for (const [index, query] of queries.entries()) {
    const { columns: named, rows } = await run(query, reader(), context);
    t.deepEqual(batchResults[index]?.columns, named);
    t.deepEqual(batchResults[index]?.rows, rows);
  }
});

test('an SLO has the alert rules of the SRE workbook, which are changed and deleted only with the SLO', async (t) => {
  const slo = await create({ name: 'Ruled', windowDays: 30, query: { sli: ratioOf('ruled') } });
  const before = await rulesOf(slo.id);
  t.deepEqual(
    before.map(({ condition }) => condition.kind === 'threshold' && [condition.query, condition.thresholds]),
    [
      ['1h', '5m', 14.4, 'critical'] as const,
      ['6h', '30m', 6, 'critical'] as const,
      ['1d', '2h', 3, 'warning'] as const,
      ['3d', '6h', 1, 'warning'] as const,
    ].map(([long, short, value, severity]) => [
      { kind: 'slo', sloId: slo.id, figure: 'burn-rate', windows: [long, short] },
      [{ severity, operator: 'at-least', value }],
    ]),
  );
  const [rule] = before as [AlertRule, ...AlertRule[]];
  for (const [method, body] of [
    ['PATCH', { enabled: false }],
    ['PUT', { name: 'Other', condition: rule.condition }],
    ['DELETE', undefined],
  ] as const) {
    const { status, body: refusal } = await send(method, `/api/alerts/rules/${rule.id}`, body);
    t.is(status, 409, method);
    t.regex(JSON.stringify(refusal), new RegExp(`PUT /api/slos/${slo.id}`));
  }
  const rules = [{ severity: 'ticket', rate: 2, long: '2h', short: '10m' }];
  const alerting = { rules, labels: { team: 'shop' } };
  await send('PUT', `/api/slos/${slo.id}`, { query: { ...slo.query, alerting } });
  const after = await rulesOf(slo.id);
  t.is(after.length, 1);
  t.like(after[0], { enabled: true, labels: { team: 'shop', slo: 'Ruled', burn: 'ticket' } });
  await send('PUT', `/api/slos/${slo.id}`, { query: { ...slo.query, alerting: { ...alerting, enabled: false } } });
  t.false((await rulesOf(slo.id))[0]?.enabled);
  t.is((await send('DELETE', `/api/slos/${slo.id}`)).status, 200);
  t.deepEqual(await rulesOf(slo.id), []);
});

test('a rule fires exactly at its burn rate, and has a preview like any rule', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const input = (bad: number) =>
    Array.from({ length: 60 }, (_, index) => ({ atMs: nowMs - (index + 1) * minuteMs, good: 1000 - bad, bad }));
  await logs('exactly', input(12));
  const alerting = { rules: [{ severity: 'page', rate: 12, long: '1h', short: '5m' }] };
  const slo = await create({ name: 'Exactly', query: { sli: ratioOf('exactly'), alerting } });
  await measuring(harness)(slo, nowMs);
  const [rule] = (await rulesOf(slo.id)) as [AlertRule, ...AlertRule[]];
  const firing = await evaluated(rule, nowMs + 70_000);
  t.is(firing.ruleState, 'firing');
  t.is(firing.groups[0]?.value, 12);
  const { condition, delay, name } = rule;
  const { status, body } = await send('POST', '/api/alerts/rules/preview', { name, condition, delay });
  t.is(status, 200);
  t.is(body.error, null);
});

test('one bad event does not page, and below half coverage the state stays unchanged with the reason', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const slo = await create({ name: 'Low traffic', query: { sli: ratioOf('low') } });
  const measure = measuring(harness);
  const at = (minute: number): number => nowMs - 3 * hourMs + minute * minuteMs;
  const each = (from: number, to: number, bad: (minute: number) => number) =>
    Array.from({ length: to - from }, (_, index) => ({ atMs: at(from + index), good: 1, bad: bad(from + index) }));
  await logs('low', [...each(0, 60, (minute) => (minute === 57 ? 1 : 0)), ...each(60, 64, () => 1)]);
  await measure(slo, at(100));
  const [rule] = (await rulesOf(slo.id)) as [AlertRule, ...AlertRule[]];
  const one = await evaluated(rule, at(60) + 70_000);
  t.is(one.ruleState, 'inactive');
  t.regex(one.groups[0]?.reason ?? '', /is at least 14\.4 .*but 1 bad events do not exceed 1/);
  const burning = await evaluated(rule, at(64) + 70_000);
  t.is(burning.ruleState, 'firing');
  const unknown = await evaluated(rule, at(100) + 70_000, burning.state);
  t.is(unknown.ruleState, 'firing', 'the short window has no events');
  const sparse = await evaluated(rule, at(95) + 70_000, burning.state);
  t.is(sparse.ruleState, 'firing');
  t.regex(sparse.groups[0]?.reason ?? '', /48 % of the slices .*its state is unchanged/);
});

test('rules query an SLO one figure at a time, and an SLO cannot query another SLO', async (t) => {
  const threshold = {
    kind: 'threshold',
    window: '1h',
    thresholds: [{ severity: 'error', operator: 'above', value: 1 }],
  };
  const preview = (query: object, more: object = {}) =>
    send('POST', '/api/alerts/rules/preview', {
      name: 'Wrong',
      condition: { ...threshold, query: { kind: 'slo', sloId: 'x', ...query }, ...more },
    });
  for (const [query, more, path] of [
    [{ figure: 'burn-rate' }, {}, /condition\.query\.windows/],
    [{ figure: 'sli', windows: ['1h', '5m'] }, {}, /condition\.query\.windows/],
    [{ figure: 'budget-left', windows: ['1h'] }, {}, /condition\.query\.windows/],
    [{ figure: 'sli' }, { step: '1m' }, /condition\.step/],
  ] as const) {
    const { status, body } = await preview(query, more);
    t.is(status, 400);
    t.regex(JSON.stringify(body), path);
  }
  const { status, body } = await send('POST', '/api/slos', {
    name: 'Of another',
    type: 'threshold',
    query: { sli: { value: { kind: 'slo', sloId: 'x', figure: 'sli' }, operator: 'gte', threshold: 1 } },
  });
  t.is(status, 400);
  t.regex(JSON.stringify(body), /query\.sli\.value\.kind/);
});
