/** Rules of SLOs, evaluated each minute while slices are measured, and backtested over the same time. */
import test from 'ava';
import { alertBacktesting } from '../../processors/alerts/alert-backtests.ts';
import { alertEvaluation, getDueTiming } from '../../processors/alerts/alert-evaluation.ts';
import { computeSharedPhase, getNextDueMs, toItemKey } from '../../processors/engine/schedule-times.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { alertBacktests } from '../../schemas/resources/alert-backtest.ts';
import { alertRules, type StoredAlertRule } from '../../schemas/resources/alert-rule.ts';
import { type StoredSlo, slos } from '../../schemas/resources/slo.ts';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { parseStoredRule } from '../../subjects/alerts/rule.ts';
import { emptyState } from '../../subjects/alerts/state.ts';
import { measuring, minuteMs, telemetryIn } from '../cases/slos/measured-telemetry.ts';
import { type Harness, startHarness } from './api-harness.ts';

const minutes = 100;
const hourMs = 60 * minuteMs;
const beginMs = Math.floor(Date.now() / hourMs) * hourMs - 3 * hourMs;
const endMs = beginMs + minutes * minuteMs;
let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const request = async (method: string, path: string, body?: object) => {
  const response = await harness.request(method, path, { as: 'editor', ...(body !== undefined && { body }) });
  if (response.status !== 200)
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
};
const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const idle = () => ({
  tenantId: 'a',
  canWait: false,
  signal: new AbortController().signal,
  ports: { columns: harness.columns, documents: harness.documents },
});
/** The value as read from the store. */
const toStored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Returns a function that evaluates a rule at each due time up to a given time, once. */
const evaluating = (document: StoredAlertRule & StoredMetadata) => {
  const rule = parseStoredRule(document);
  if (rule === undefined) throw new Error('the rule cannot be parsed');
  const everyMs = parseDurationMs(rule.interval);
  const phase = computeSharedPhase('a', toItemKey('a', rule.id), { everyMs, ...getDueTiming(rule) });
  const transitions: AlertTransition[] = [];
  let state: unknown = emptyState();
  let dueMs = getNextDueMs(phase, everyMs, beginMs);
  let evaluations = 0;
  const ignored = (): void => undefined;
  const upTo = async (ms: number): Promise<void> => {
    for (; dueMs <= ms; dueMs += everyMs) {
      state = await alertEvaluation.run(document, {
        ...idle(),
        dueMs,
        state: toStored(state),
        emit: {
          transitions: (value: unknown) => void transitions.push(toStored(value as AlertTransition)),
          evaluations: ignored,
          events: ignored,
          samples: ignored,
        },
      });
      evaluations++;
    }
  };
  return { upTo, transitions, evaluations: () => evaluations };
};

/** Runs a backtest like its schedule. */
const backtested = async (ruleId: string) => {
  const [from, to] = [beginMs, endMs].map((ms) => new Date(ms).toISOString());
  const { id } = await request('POST', '/api/v2/alerts/backtests', { ruleId, from, to });
  const find = () => harness.documents.forTenant('a').collection(alertBacktests).find(id);
  for (let found = await find(); found?.status === 'running'; found = await find())
    await alertBacktesting.run(found, { ...idle(), dueMs: Date.now(), state: null, emit: {} });
  return find();
};

/** Bad records per hundred in each minute; undefined in minutes without records. */
const episodes = (minute: number): number | undefined => {
  if (minute >= 55 && minute < 75) return undefined;
  if (minute >= 80 && minute < 86) return 40;
  if (minute >= 12 && minute < 18) return 20;
  return minute >= 30 && minute < 36 ? 60 : minute % 2;
};

const rules = [
  { severity: 'page', rate: 10, long: '30m', short: '5m' },
  { severity: 'ticket', rate: 3, long: '1h', short: '10m' },
];
const objectives: Record<string, { readonly targetPct: number; readonly query?: object }> = {
  events: { targetPct: 99.5 },
  slices: { targetPct: 98, query: { budgeting: 'timeslices', sliceTarget: 0.95 } },
  maintained: { targetPct: 99.5, query: { excludeMaintenance: true } },
};

/** Creates an SLO with rules. Only the first rule has the function that measures the SLO. */
const ruled = async (name: string) => {
  const { targetPct, query } = objectives[name] ?? {};
  const sli = { bad: count('service:shop AND severity:error'), total: count('service:shop') };
  const created = { name, type: 'ratio', windowDays: 1, targetPct, query: { ...query, sli, alerting: { rules } } };
  const { id } = await request('POST', '/api/slos', created);
  const own = harness.documents.forTenant('a');
  const slo = (await own.collection(slos).find(id)) as StoredSlo & StoredMetadata;
  const documents = await Promise.all(rules.map((_, index) => own.collection(alertRules).find(`${id}-${index + 1}`)));
  return (documents as (StoredAlertRule & StoredMetadata)[]).map((rule, index) => ({
    name,
    slo,
    rule,
    evaluate: evaluating(rule),
    measure: index === 0 ? measuring(harness) : undefined,
  }));
};

test('backtests of SLO rules over past slices give the same results as live, bit by bit', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  await request('POST', '/api/maintenance-windows', {
    name: 'Deploys',
    timeZone: 'UTC',
    durationMinutes: 20,
    excludedFromSlos: true,
    startsAt: new Date(beginMs + 28 * minuteMs).toISOString().slice(0, 16),
    matchers: [{ name: 'slo', value: 'maintained' }],
  });
  const live = (await Promise.all(Object.keys(objectives).map(ruled))).flat();
  const measured = (ms: number) => Promise.all(live.map(({ slo, measure }) => measure?.(slo, ms)));
  await measured(beginMs);
  for (let minute = 0; minute < minutes; minute++) {
    const sliceMs = beginMs + minute * minuteMs;
    const bad = episodes(minute);
    if (bad !== undefined) await logs('shop', [{ atMs: sliceMs, good: 100 - bad, bad }]);
    // A slice is evaluated after it was measured, and before the next one ends.
    await measured(sliceMs + minuteMs + 5000);
    const toMs = Math.min(endMs, sliceMs + 2 * minuteMs - 1);
    await Promise.all(live.map(({ evaluate }) => evaluate.upTo(toMs)));
  }
  const found = await Promise.all(live.map(({ rule }) => backtested(rule.id)));
  for (const [index, { name, rule, evaluate }] of live.entries()) {
    t.like(found[index], { status: 'finished', failed: 0, isCut: false, evaluations: evaluate.evaluations() });
    t.true(evaluate.evaluations() >= minutes - 1);
    t.deepEqual(found[index]?.transitions, evaluate.transitions, `${name}, ${rule.name}`);
    const fired = evaluate.transitions.filter(({ to }) => to === 'firing').map(({ atMs }) => atMs);
    t.true(fired.length > 0, `${name}, ${rule.name} never fired`);
    const isMaintained = (ms: number): boolean => ms > beginMs + 30 * minuteMs && ms < beginMs + 48 * minuteMs;
    t.is(fired.some(isMaintained), name !== 'maintained', `${name}, ${rule.name}`);
  }
});
