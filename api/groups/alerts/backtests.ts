import { z } from 'zod';
import { listSignals } from '../../../queries/freshness.ts';
import { queryVersion } from '../../../queries/query.ts';
import { parseRange, requireRetained } from '../../../queries/range.ts';
import { timeParameter } from '../../../queries/time-parameters.ts';
import type { AlertTransition } from '../../../schemas/alerts.ts';
import type { StoredMetadata } from '../../../schemas/ports/documents.ts';
import { type AlertBacktest, alertBacktests } from '../../../schemas/resources/alert-backtest.ts';
import { parseDurationMs } from '../../../subjects/alerts/durations.ts';
import { AlertRuleFields, getWindowMs } from '../../../subjects/alerts/rule.ts';
import { findRuleProblems } from '../../../subjects/alerts/rule-problems.ts';
import { emptyState } from '../../../subjects/alerts/state.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, createFieldError, createFieldErrors, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { collection, parseRuleDocument } from './alert-rule.ts';
import { TransitionView, toTransitionView } from './views.ts';

const maxEvaluations = 20_000;
/** One backtest per organization runs at a time; the others wait. */
const maxRunningBacktests = 100;

const BacktestView = z.strictObject({
  id: z.string(),
  ruleId: z.string().nullable().describe('Id of the saved rule; null if the request contained the rule'),
  rule: AlertRuleFields,
  from: z.string(),
  to: z.string(),
  status: z.enum(['running', 'finished', 'failed']),
  progress: z.number().min(0).max(1),
  evaluations: z.int().describe('Evaluations completed so far'),
  failed: z.int().describe('Number of failed evaluations'),
  lastError: z.string().nullable(),
  groups: z
    .array(
      z.strictObject({
        alertId: z.string(),
        labels: z.record(z.string(), z.string()),
        firings: z.int(),
        firingMs: z.int().describe('Total firing time, up to the current progress'),
      }),
    )
    .describe('Alerts that would have fired, by group'),
  transitions: z.array(TransitionView),
  isTruncated: z.boolean().describe('Whether there were more transitions'),
  createdAt: z.string(),
});

/** Returns how often and how long each alert would have fired until `doneMs`; those that never fired are omitted. */
export const summarizeGroups = (transitions: readonly AlertTransition[], doneMs: number) => {
  const groupsByAlert = new Map<
    string,
    { labels: Record<string, string>; firings: number; firingMs: number; sinceMs?: number | undefined }
  >();
  for (const { alertId, labels, to, atMs, from, startedAtMs } of transitions) {
    const group = groupsByAlert.get(alertId) ?? { labels, firings: 0, firingMs: 0 };
    groupsByAlert.set(alertId, group);
    if (to === 'firing' && startedAtMs === atMs && from !== 'firing') {
      group.firings++;
      group.sinceMs = atMs;
    }
    if (to !== 'inactive' || group.sinceMs === undefined) continue;
    group.firingMs += atMs - group.sinceMs;
    group.sinceMs = undefined;
  }
  return [...groupsByAlert]
    .filter(([, { firings }]) => firings > 0)
    .map(([alertId, { labels, firings, firingMs, sinceMs }]) => ({
      alertId,
      labels,
      firings,
      firingMs: firingMs + (sinceMs === undefined ? 0 : doneMs - sinceMs),
    }));
};

const toView = (backtest: AlertBacktest & StoredMetadata): z.input<typeof BacktestView> => {
  const { id, ruleId, fromMs, toMs, status, doneMs, evaluations, failed, lastError, transitions } = backtest;
  const formatTime = (ms: number): string => new Date(ms).toISOString();
  return {
    id,
    ruleId: backtest.ruleVersion === 0 ? null : ruleId,
    rule: AlertRuleFields.parse(backtest.rule),
    from: formatTime(fromMs),
    to: formatTime(toMs),
    status,
    evaluations,
    failed,
    lastError: lastError || null,
    progress: toMs === fromMs ? 1 : Math.min(1, Math.max(0, (doneMs - fromMs) / (toMs - fromMs))),
    groups: summarizeGroups(transitions, doneMs),
    transitions: transitions.map(toTransitionView),
    isTruncated: backtest.isCut,
    createdAt: backtest.createdAt,
  };
};

const BacktestRequest = z.strictObject({
  ruleId: z.string().min(1).max(128).optional().describe('A saved rule; alternatively `rule`'),
  rule: AlertRuleFields.optional(),
  from: timeParameter,
  to: timeParameter.default('now'),
});

/** Returns the validated rule of the request. `ruleVersion` is 0 for an unsaved rule. */
const resolveRule = async (
  { ruleId, rule }: z.output<typeof BacktestRequest>,
  { tenantId }: Caller,
  { documents }: Ports,
) => {
  if ((ruleId === undefined) === (rule === undefined))
    throw createFieldError('rule', 'specify either a rule or the id of a saved rule');
  if (rule !== undefined) {
    const problems = findRuleProblems(rule).map(({ path, message }) => ({ path: `rule.${path}`, message }));
    if (problems.length > 0) throw createFieldErrors(problems);
    return { fields: rule, ruleId: '', ruleVersion: 0 };
  }
  const document = await documents
    .forTenant(tenantId)
    .collection(collection)
    .find(ruleId ?? '');
  const saved = document && parseRuleDocument(document);
  if (saved === undefined) throw createNotFoundError('alert rule');
  const { id, version, ...fields } = saved;
  return { fields, ruleId: id, ruleVersion: version };
};

/** Throws if the range exceeds the retention, or has too many evaluations. */
const parseBacktestRange = (
  body: z.output<typeof BacktestRequest>,
  fields: AlertRuleFields,
  caller: Caller,
  ports: Ports,
) => {
  const reader = createQueryReader(caller, ports);
  const range = parseRange(body, reader.nowMs);
  const [fromMs, toMs] = [Number(range.from / 1_000_000n), Math.min(Number(range.to / 1_000_000n), reader.nowMs)];
  const { condition } = fields;
  const firstReadNs = range.from - BigInt(getWindowMs(fields) + parseDurationMs(fields.delay)) * 1_000_000n;
  for (const signal of condition.kind === 'composite' ? [] : listSignals(condition.query))
    requireRetained({ from: firstReadNs }, { caller: reader, signal, nowMs: reader.nowMs });
  const evaluationCount = Math.floor((toMs - fromMs) / parseDurationMs(fields.interval));
  if (evaluationCount > maxEvaluations)
    throw createFieldError(
      'from',
      `gives ${evaluationCount} evaluations, and at most ${maxEvaluations} are run: use a shorter range or a longer interval`,
    );
  return { fromMs, toMs };
};

export const startBacktest = defineOperation({
  method: 'POST',
  path: '/api/v2/alerts/backtests',
  operationId: 'startAlertBacktest',
  summary: 'Run a rule on past data to find when it would have fired, by group. It starts with no firing alerts',
  role: 'editor',
  audit: 'alert-backtest.create',
  body: BacktestRequest,
  response: BacktestView,
  async handler({ caller, body, change }, ports) {
    const { fields, ...ruleReference } = await resolveRule(body, caller, ports);
    const { fromMs, toMs } = parseBacktestRange(body, fields, caller, ports);
    const createdBacktest = await change(async (scope) => {
      const stored = scope.forTenant(caller.tenantId).collection(alertBacktests);
      const running = await stored.count({ status: 'running' });
      if (running >= maxRunningBacktests)
        throw new ApiError(
          'CONFLICT',
          `${running} backtests of this organization are running already: wait for one to end`,
        );
      const initialFields: AlertBacktest = {
        rule: fields,
        queryVersion,
        ...ruleReference,
        fromMs,
        toMs,
        status: 'running',
        doneMs: fromMs,
        evaluations: 0,
        failed: 0,
        transitions: [],
        isCut: false,
        lastError: '',
        state: emptyState(),
      };
      const inserted = await stored.insert(initialFields);
      // An unsaved rule uses the id of the backtest.
      const { id } = inserted;
      const backtest = ruleReference.ruleId === '' ? await stored.update(id, { ruleId: id }) : inserted;
      scope.record({ id, name: fields.name, after: { ...ruleReference, fromMs, toMs } });
      return backtest;
    });
    return toView(createdBacktest);
  },
});

export const getBacktest = defineOperation({
  method: 'GET',
  path: '/api/v2/alerts/backtests/{id}',
  operationId: 'getAlertBacktest',
  summary: 'Get the progress and the result of a backtest',
  role: 'viewer',
  params: idParameter,
  response: BacktestView,
  async handler({ caller, params }, ports) {
    const backtest = await ports.documents.forTenant(caller.tenantId).collection(alertBacktests).find(params.id);
    if (backtest === undefined) throw createNotFoundError('backtest');
    return toView(backtest);
  },
});
