/**
 * The alert rule of a check, evaluated like in production: verdicts are stored, rules query them, and alerts follow.
 */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import { batchMs } from '../../../processors/alerts/alert-evaluation.ts';
import { computeSharedPhase, getNextDueMs } from '../../../processors/engine/schedule-times.ts';
import { checkStates } from '../../../processors/synthetics/check-states.ts';
import { QueryBatcher } from '../../../queries/batch/query-batcher.ts';
import { parseQuery, run } from '../../../queries/run.ts';
import { defaultPlans, type Plan } from '../../../schemas/resources/plan.ts';
import type { SyntheticVerdict } from '../../../schemas/synthetic-runs.ts';
import { parseDurationMs } from '../../../subjects/alerts/durations.ts';
import { type Evaluation, evaluate } from '../../../subjects/alerts/evaluate.ts';
import type { AlertRule } from '../../../subjects/alerts/rule.ts';
import { buildQueryRequest, queryRule } from '../../../subjects/alerts/run-query.ts';
import { emptyState } from '../../../subjects/alerts/state.ts';
import { createAlertRule } from '../../../subjects/synthetics/alert-rules.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { openTables, type Tables } from '../sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const nowMs = Date.UTC(2026, 2, 1, 12);
const check = CheckFields.parse({
  name: 'Shop',
  type: 'tcp',
  tcp: { host: 'shop.example', port: 443 },
  labels: { service: 'cart' },
});
const ruleOf = (id: string, of: object = {}): AlertRule => ({
  ...createAlertRule(id, { ...check, ...of }),
  id,
  version: 1,
});
const reader = () => ({ columns: tables.columns.forTenant('acme'), plan: defaultPlans['enterprise'] as Plan, nowMs });

type VerdictFields = Pick<SyntheticVerdict, 'state' | 'says'> & Partial<SyntheticVerdict>;
/** Stores verdicts of a check at the given seconds. */
const landed = (checkId: string, verdicts: readonly (readonly [second: number, verdict: VerdictFields])[]) => {
  const rows = verdicts.map(([second, { state, says: summary, isMaintenance = false, locations = [] }]) => {
    const judged = `fromUnixTimestamp64Milli(toInt64(${nowMs + second * 1000}))`;
    return `('acme', '${checkId}', ${judged}, '${state}', ${isMaintenance ? 1 : 0}, '${summary}', '${JSON.stringify(locations)}')`;
  });
  return tables.columns.execute(
    `INSERT INTO synthetic_verdicts (tenant_id, check_id, judged, state, is_maintenance, says, locations) VALUES ${rows.join(', ')}`,
  );
};
/** Evaluates at the given seconds, in order. */
const evaluated = async (rule: AlertRule, seconds: readonly number[]): Promise<Evaluation[]> => {
  const found: Evaluation[] = [];
  let prior = emptyState();
  for (const second of seconds) {
    const atMs = nowMs + second * 1000;
    const result = await queryRule(rule, reader(), { nowMs: atMs });
    const evaluation = evaluate({ tenantId: 'acme', rule, prior, result, nowMs: atMs });
    prior = evaluation.state;
    found.push(evaluation);
  }
  return found;
};
const summarizeTransitions = (all: readonly Evaluation[]) =>
  all.map(({ transitions }) =>
    transitions.map(({ labels, to, severity }) => `${labels['location'] ?? 'check'} ${to} ${severity}`).join(),
  );

test('down has the severity of the check, degraded a lower one, and unknown neither ends nor starts an alert', async (t) => {
  await landed('states', [
    [0, { state: 'up', says: 'it is up' }],
    [10, { state: 'down', says: 'it is down since 12:00:09: 2 of 3 locations fail' }],
    [20, { state: 'unknown', says: 'it is unknown' }],
    [30, { state: 'degraded', says: 'it is degraded' }],
    [40, { state: 'up', says: 'it is up since 12:00:39' }],
    [50, { state: 'unknown', says: 'it is unknown' }],
  ]);
  const all = await evaluated(ruleOf('states'), [5, 15, 25, 35, 45, 55]);
  t.deepEqual(summarizeTransitions(all), [
    '',
    'check firing critical',
    '',
    'check firing warning',
    'check inactive warning',
    '',
  ]);
  const [, begin] = all;
  const transition = begin?.transitions[0];
  t.is(transition?.reason, 'it is down since 12:00:09: 2 of 3 locations fail');
  t.like(transition?.labels, { alertname: 'Shop fails', check: 'Shop', check_id: 'states', service: 'cart' });
  t.deepEqual(transition?.annotations, { summary: 'Shop is down', runs: '/api/synthetics/checks/states/runs' });
  t.like(transition?.held, { text: 'down', threshold: '' });
  t.is(all[3]?.transitions[0]?.annotations['summary'], 'Shop is degraded');
  t.regex(all[4]?.transitions[0]?.reason ?? '', /it is up since 12:00:39/);
  const mild = await evaluated(ruleOf('states', { alerting: { enabled: true, severity: 'warning' } }), [15, 35]);
  t.deepEqual(summarizeTransitions(mild), ['check firing warning', 'check firing info']);
});

test('a planned downtime starts no alert; a firing alert ends when the check is up, and a check still down afterwards alerts', async (t) => {
  const planned = { isMaintenance: true };
  await landed('planned', [
    [0, { state: 'down', says: 'planned', ...planned }],
    [20, { state: 'down', says: 'it is down, as it was before the end' }],
    [30, { state: 'down', says: 'planned again', ...planned }],
    [40, { state: 'up', says: 'planned, and up', ...planned }],
    [50, { state: 'degraded', says: 'planned, and slow', ...planned }],
  ]);
  const all = await evaluated(ruleOf('planned'), [5, 15, 25, 35, 45, 55]);
  t.deepEqual(summarizeTransitions(all), ['', '', 'check firing critical', '', 'check inactive critical', '']);
});

test('a location that fails alone is a separate alert, with lower severity', async (t) => {
  const at = (fails: boolean) => [{ location: 'f', fails, says: `it ${fails ? 'fails' : 'passes'} at Frankfurt` }];
  await landed('alone', [
    [0, { state: 'up', says: 'up', locations: at(true) }],
    [10, { state: 'down', says: 'down', locations: at(false) }],
    [20, { state: 'up', says: 'up', locations: at(true) }],
    [30, { state: 'up', says: 'up' }],
  ]);
  const all = await evaluated(ruleOf('alone'), [5, 15, 25, 35, 35 + 16 * 60]);
  t.deepEqual(summarizeTransitions(all).slice(0, 3), [
    'f firing warning',
    'check firing critical,f inactive warning',
    'check inactive critical,f firing warning',
  ]);
  t.is(all[0]?.transitions[0]?.annotations['summary'], 'Shop fails at one location');
  t.is(all[0]?.transitions[0]?.reason, 'it fails at Frankfurt');
  t.deepEqual(
    summarizeTransitions(all).slice(3),
    ['', 'f inactive warning'],
    'a location without further verdicts is forgotten',
  );
});

test('states of many checks are read with one statement, with the same results as alone', async (t) => {
  const ids = Array.from({ length: 20 }, (_, index) => `many-${index}`);
  for (const [index, id] of ids.entries())
    await landed(id, [[0, { state: index % 2 === 0 ? 'up' : 'down', says: `number ${index}` }]]);
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
  const context = { range: { from: 0n, to: BigInt(nowMs + 5000) * 1_000_000n - 1n } };
  const queries = ids.map((checkId) => parseQuery({ kind: 'check', checkId }));
  const batchResults = await Promise.all(
    queries.map((query) => responses.run(query, { ...more, columns: counting }, context)),
  );
  t.is(statements, 1);
  for (const [index, query] of queries.entries())
    t.deepEqual(batchResults[index]?.rows, (await run(query, reader(), context)).rows);
  t.deepEqual(batchResults[3]?.rows, [['', 3, 'down', 'number 3', 0]]);
  t.deepEqual((await run({ kind: 'check', checkId: 'nobody' }, reader(), context)).rows, []);
  await t.throwsAsync(run({ kind: 'check', checkId: 'many-1' }, reader(), { ...context, stepMs: 1000 }), {
    message: /one state at a time/,
  });
});

test('an evaluation reports a failure within 7.5 seconds of its landing, for every tenant', (t) => {
  const { interval, delay } = ruleOf('c');
  const everyMs = parseDurationMs(interval);
  for (let index = 0; index < 500; index++) {
    const tenant = `tenant-${index}`;
    const phase = (key: string, of: { batchMs: number; within?: { fromMs: number; toMs: number } | undefined }) =>
      computeSharedPhase(tenant, `${tenant}/${key}`, { everyMs, ...of });
    const judging = phase('check', { batchMs: checkStates.batchMs ?? 0, within: checkStates.within });
    const landedMs = nowMs + index * 37;
    const judgedMs = getNextDueMs(judging, 5000, landedMs);
    const dueMs = getNextDueMs(phase('rule', { batchMs }), everyMs, judgedMs);
    t.true(dueMs - landedMs <= 7501, `${dueMs - landedMs}`);
    // The verdict has landed by then, and is within the queried window.
    const { window } = buildQueryRequest(ruleOf('c') as Parameters<typeof buildQueryRequest>[0], dueMs);
    t.true(window.toMs > judgedMs, delay);
    t.true(dueMs - judgedMs >= 2400);
  }
});

test('the rule is disabled with its check, and if the check has no location', (t) => {
  const isOn = (of: object) => ruleOf('c', of).enabled;
  t.true(isOn({}));
  t.false(isOn({ enabled: false }));
  t.true(isOn({ type: 'heartbeat', http: undefined, heartbeat: {}, locations: [] }));
  t.false(isOn({ locations: [] }));
  t.false(isOn({ alerting: { enabled: false, severity: 'critical' } }));
  t.is(ruleOf('c', { name: '{{ evil }}' }).annotations['summary']?.includes('{{ evil }}'), false);
});
