/** Alert rules for anomalies and forecasts, evaluated over stored data. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { getMinStepMs } from '../../queries/min-step.ts';
import { parseQuery, run } from '../../queries/run.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { type Evaluation, evaluate } from '../../subjects/alerts/evaluate.ts';
import type { AlertRule } from '../../subjects/alerts/rule.ts';
import { findRuleProblems } from '../../subjects/alerts/rule-problems.ts';
import { queryRule } from '../../subjects/alerts/run-query.ts';
import { emptyState } from '../../subjects/alerts/state.ts';
import { ruleOf } from './alert-evaluation.ts';
import { openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const minute = 60_000;
const nowMs = Date.UTC(2026, 2, 1, 12);
const plan = defaultPlans['enterprise'] as Plan;
const reader = (of: Partial<Plan> = {}) => ({
  columns: tables.columns.forTenant('acme'),
  plan: { ...plan, ...of },
  nowMs,
});
const count = { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }] };
const ms = (at: number): string => `fromUnixTimestamp64Milli(toInt64(${at}), 'UTC')`;

const thresholds = [
  { severity: 'warning', operator: 'at-least', value: 0.9 },
  { severity: 'critical', operator: 'at-least', value: 0.999 },
];
const anomalyRule = (query: object, of: object = {}): AlertRule =>
  ruleOf({
    name: 'Unusual',
    condition: { kind: 'threshold', query: { kind: 'anomaly', ...query }, thresholds },
    ...of,
  });

/** Evaluates at minutes, in order. */
const evaluated = async (rule: AlertRule, minutes: readonly number[], of?: Partial<Plan>): Promise<Evaluation[]> => {
  const found: Evaluation[] = [];
  let prior = emptyState();
  for (const each of minutes) {
    const atMs = nowMs + each * minute;
    const result = await queryRule(rule, reader(of), { nowMs: atMs });
    const evaluation = evaluate({ tenantId: 'acme', rule, prior, result, nowMs: atMs });
    prior = evaluation.state;
    found.push(evaluation);
  }
  return found;
};
const transitionTexts = (all: readonly Evaluation[]) =>
  all.map(({ transitions }) =>
    transitions.map(({ labels, to, severity }) => `${labels['service']} ${to} ${severity}`).join(),
  );

type Score = readonly [minute: number, value: number, score: number, isAnomalous: boolean];
const landScores = (detectorId: string, key: string, scores: readonly Score[]) =>
  tables.columns.execute(
    `INSERT INTO anomaly_scores (tenant_id, detector_id, series, time, value, expected, low, high, score, is_anomalous) VALUES ${scores
      .map(
        ([at, value, score, is]) =>
          `('acme', '${detectorId}', '${key}', ${ms(nowMs + at * minute)}, ${value}, 40, 20, 60, ${score}, ${is ? 1 : 0})`,
      )
      .join(', ')}`,
  );
const landAnomaly = (
  detectorId: string,
  key: string,
  { at, end, revision = 1, direction = 'up' }: { at: number; end?: number; revision?: number; direction?: string },
) =>
  tables.columns.execute(
    `INSERT INTO anomalies (tenant_id, time, id, revision, detector_id, detector_name, signals, step_ms, series, name, unit, labels, sign, direction, end_ms, score, value, expected, before)
    VALUES ('acme', ${ms(nowMs + at * minute)}, '${detectorId}.${key}.${at}', ${revision}, '${detectorId}', 'Latency', ['traces'], 60000, '${key}', 'p95', 'ms', map('service', '${key}'),
      '${direction}', '${direction}', ${end === undefined ? 0 : nowMs + end * minute}, 0.95, 123, 40, 40)`,
  );

test('an anomaly of a detector fires by its score, reports the expected and observed values, and ends', async (t) => {
  await landScores('d1', 'cart', [
    [-2, 41, 0, false],
    [0, 123, 0.95, true],
    [1, 130, 0, true],
    [2, 400, 0.9995, true],
    [3, 42, 0, false],
  ]);
  await landAnomaly('d1', 'cart', { at: 0 });
  const rule = anomalyRule({ detectorId: 'd1' });
  const live = await evaluated(rule, [0, 1, 2, 3]);
  t.deepEqual(transitionTexts(live), ['', 'cart firing warning', '', 'cart firing critical']);
  const begin = live[1]?.transitions[0];
  t.is(
    begin?.reason,
    'higher than expected: 123 ms, expected 40 ms, normal range 20 to 60 ms; since 2026-03-01T12:00:00.000Z, score 0.95',
  );
  t.like(begin?.held, { text: 'unusual', threshold: '' });
  // The anomaly ends, and a second evaluation finds the same anomalies.
  await landAnomaly('d1', 'cart', { at: 0, end: 3, revision: 2 });
  const again = await evaluated(rule, [0, 1, 2, 3, 4]);
  t.deepEqual(transitionTexts(again), [
    '',
    'cart firing warning',
    '',
    'cart firing critical',
    'cart inactive critical',
  ]);
  t.deepEqual(
    again.slice(0, 4).map(({ transitions }) => transitions),
    live.map(({ transitions }) => transitions),
  );
  t.is(again[4]?.transitions[0]?.reason, 'as expected: 42 ms, expected 40');
  t.deepEqual(transitionTexts(await evaluated(anomalyRule({ detectorId: 'd1' }, { for: '2m' }), [1, 2, 3, 4])), [
    ...['cart pending warning', '', 'cart firing critical', 'cart inactive critical'],
  ]);
});

test('the direction selects anomalies, and a detector that no longer scores ends no alert', async (t) => {
  await landScores('d2', 'cart', [[0, 5, 0.99, true]]);
  await landAnomaly('d2', 'cart', { at: 0, direction: 'down' });
  t.deepEqual(transitionTexts(await evaluated(anomalyRule({ detectorId: 'd2', direction: 'above' }), [1])), ['']);
  t.deepEqual(transitionTexts(await evaluated(anomalyRule({ detectorId: 'd2', direction: 'below' }), [1, 30])), [
    'cart firing warning',
    '',
  ]);
  const [, late] = await evaluated(anomalyRule({ detectorId: 'd2' }), [1, 30]);
  t.regex(
    late?.groups[0]?.reason ?? '',
    /^its detector has scored no step of the series since .*: its state is unchanged$/,
  );
  const [other] = await evaluated(anomalyRule({ detectorId: 'd2' }), [1], { entitlements: ['ai', 'logs'] });
  t.is(other?.groups.length, 0, 'anomalies of signals that the plan lacks are not reported');
  const [refused] = await evaluated(anomalyRule({ detectorId: 'd2' }), [1], { entitlements: ['traces'] });
  t.regex(refused?.error ?? '', /does not include ai/);
});

let offset = 0;
/** Records of a service, `each(number)` per minute, with a numeric value. */
const landLogs = (service: string, [from, to]: readonly [number, number], each: string, used = '0') =>
  tables.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type, attributes, attribute_types)
    SELECT 'acme', 'p1', ${ms(nowMs + from * minute)} + toIntervalMinute(number) AS at, 0, ${++offset}, number, at, at, '${service}', 9, '', 'done', 's', map('used', toString(${used})), 's'
    FROM (SELECT number, arrayJoin(range(toUInt64(${each}))) FROM numbers(${to - from}))`,
  );

test('a query with a step is scored by its own history, and expected values do not fire', async (t) => {
  const normalValues = '5 + cityHash64(number) % 4';
  await landLogs('shop', [-1600, 20], normalValues);
  await landLogs('mail', [-1600, 20], '3 + cityHash64(number, 1) % 3');
  await landLogs('shop', [2, 5], '60');
  const query = {
    query: { ...count, search: 'service:shop OR service:mail', groupBy: ['service'] },
    step: '1m',
    falseAlarmsPerWeek: 0.1,
    direction: 'above',
  };
  const all = await evaluated(anomalyRule(query), [0, 2, 3, 4]);
  t.deepEqual(transitionTexts(all), ['', '', 'shop firing critical', '']);
  t.regex(
    all[2]?.transitions[0]?.reason ?? '',
    /^higher than expected: 6\d record, expected [5-7].*; since 2026-03-01T12:02:00.000Z, score 1$/,
  );
  t.deepEqual(all[2]?.groups.map(({ labels, state }) => `${labels['service']} ${state}`).toSorted(), [
    'mail inactive',
    'shop firing',
  ]);
  t.deepEqual(transitionTexts(await evaluated(anomalyRule({ ...query, direction: 'below' }), [3])), ['']);
  const table = await run({ kind: 'anomaly', ...query } as never, reader(), {
    range: { from: 0n, to: BigInt(nowMs + 3 * minute) * 1_000_000n - 1n },
  }).catch((error: unknown) => error);
  t.regex(String(table), /retains logs/, 'a range beyond the retention is refused as in every query');
});

test('a value that grows towards its limit fires by probability, and the alert states the expected time', async (t) => {
  await landLogs('disk', [-2880, 0], '1', '100 + number / 20 + cityHash64(number) % 3');
  const query = (above: number, horizon: string) => ({
    kind: 'forecast',
    step: '30m',
    history: '2d',
    horizon,
    until: { above },
    query: {
      kind: 'aggregate',
      signal: 'logs',
      search: 'service:disk',
      groupBy: ['service'],
      measures: [{ function: 'avg', field: 'used' }],
    },
  });
  const rule = (of: object): AlertRule =>
    ruleOf({
      condition: {
        kind: 'threshold',
        query: of,
        thresholds: [{ severity: 'critical', operator: 'at-least', value: 90, unit: '%' }],
      },
    });
  // 244 now, growing by 72 a day.
  const [soon] = await evaluated(rule(query(280, '1d')), [0]);
  t.deepEqual(
    transitionTexts(soon === undefined ? [] : [soon]),
    ['disk firing critical'],
    JSON.stringify(soon?.groups),
  );
  t.regex(
    soon?.transitions[0]?.reason ?? '',
    /^above 280 within 1d with a probability of \d+(\.\d)? %; now 24\d.*, expected to cross it at 2026-03-0.*, between .* and .*$/,
  );
  const [later] = await evaluated(rule(query(600, '1d')), [0]);
  t.deepEqual(transitionTexts(later === undefined ? [] : [later]), ['']);
  const [already] = await evaluated(rule(query(200, '1d')), [0]);
  t.regex(already?.transitions[0]?.reason ?? '', /^24\d.* is above 200 already$/);
});

test('conditions that cannot be evaluated are rejected with their path', (t) => {
  const paths = (query: object, of: object = {}) =>
    findRuleProblems(ruleOf({ condition: { kind: 'threshold', query, thresholds, ...of } })).map(({ path }) => path);

  t.deepEqual(paths({ kind: 'anomaly', detectorId: 'd' }), []);
  t.deepEqual(paths({ kind: 'anomaly', detectorId: 'd' }, { step: '1m' }), ['condition.step']);
  t.deepEqual(paths({ kind: 'anomaly', query: { ...count, search: 'severity:(' }, step: '1m' }), [
    'condition.query.query.search',
  ]);
  t.deepEqual(paths({ kind: 'forecast', query: count, step: '1m', horizon: '4d', until: { above: 1 } }), [
    'condition.query.history',
  ]);
  t.throws(() => ruleOf({ condition: { kind: 'threshold', query: { kind: 'anomaly' }, thresholds } }));
  t.throws(() => ruleOf({ condition: { kind: 'threshold', query: { kind: 'anomaly', query: count }, thresholds } }));
});

const bands = async (query: object, [from, to]: readonly [number, number], stepMs: number, of: Partial<Plan> = {}) => {
  const ns = (at: number): bigint => BigInt(nowMs + at * minute) * 1_000_000n;
  const range = { from: ns(from), to: ns(to) - 1n };
  const { series } = await run(
    { kind: 'anomaly', ...query } as never,
    { ...reader(of), nowMs: nowMs + 60 * minute },
    {
      range,
      stepMs,
    },
  );
  return series.map(({ labels, unit, points }) => ({
    of: labels['service'],
    band: labels['band'],
    unit,
    points: points.map(([at, value]) => [(at - nowMs) / minute, value]),
  }));
};

test('with a step, a detector preview reports the observed and expected values of its unusual series', async (t) => {
  await landScores('d3', 'cart', [
    [-2, 41, 0, false],
    [0, 123, 0.95, true],
    [1, 130, 0, true],
  ]);
  await landAnomaly('d3', 'cart', { at: 0, end: 3 });
  await landScores('d3', 'calm', [[0, 7, 0, false]]);
  const times = (values: readonly number[]) => [-2, 0, 1].map((at, index) => [at, values[index]]);
  const own = { of: 'cart', unit: 'ms' };
  t.deepEqual(await bands({ detectorId: 'd3' }, [-5, 5], minute), [
    { ...own, band: 'value', points: times([41, 123, 130]) },
    { ...own, band: 'expected', points: times([40, 40, 40]) },
    { ...own, band: 'at most', points: times([60, 60, 60]) },
    { ...own, band: 'at least', points: times([20, 20, 20]) },
  ]);
  const [value] = await bands({ detectorId: 'd3' }, [-5, 5], 5 * minute);
  t.deepEqual(value?.points, [
    [-5, 41],
    [0, 130],
  ]);
  t.deepEqual(await bands({ detectorId: 'd3' }, [10, 20], minute), [], 'nothing was unusual then');
  t.deepEqual(await bands({ detectorId: 'd3' }, [-5, 5], minute, { entitlements: ['ai', 'logs'] }), []);
});

test('with a step, a query preview includes the band of its own history', async (t) => {
  await landLogs('bank', [-1600, 20], '20 + cityHash64(number, 3) % 5');
  const query = { query: { ...count, search: 'service:bank', groupBy: ['service'] }, step: '1m' };
  t.is(getMinStepMs(parseQuery({ kind: 'anomaly', ...query })), minute);
  const found = await bands(query, [0, 20], minute);
  t.deepEqual(
    found.map(({ of, band, points }) => [of, band, points.length]),
    ['value', 'expected', 'at most', 'at least'].map((band) => ['bank', band, 20]),
  );
  const [values = [], , maxValues = [], minValues = []] = found.map(({ points }) =>
    points.map(([, value]) => Number(value)),
  );
  t.true(values.every((value, at) => value >= (minValues[at] as number) && value <= (maxValues[at] as number)));
  t.true(maxValues.every((value) => value < 40));
  const longer = await bands(query, [0, 20], 5 * minute);
  t.deepEqual(
    longer[0]?.points.map(([at]) => at),
    [0, 5, 10, 15],
  );
});
