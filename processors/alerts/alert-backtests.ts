/** Runs rules over past time, with the evaluator and the due times of live evaluation. */

import { z } from 'zod';
import { type AlertBacktest, alertBacktests } from '../../schemas/resources/alert-backtest.ts';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { evaluate } from '../../subjects/alerts/evaluate.ts';
import { createTemplateQuery } from '../../subjects/alerts/query-text.ts';
import { type AlertRule, parseStoredRule } from '../../subjects/alerts/rule.ts';
import type { RuleQueryResult } from '../../subjects/alerts/rule-query-result.ts';
import { queryRule } from '../../subjects/alerts/run-query.ts';
import type { RuleState } from '../../subjects/alerts/state.ts';
import { type RunTemplateQuery, renderWithQueries } from '../../subjects/alerts/templates/queries.ts';
import { openTenantReader } from '../engine/open-tenant-reader.ts';
import { defineSchedule } from '../engine/schedule.ts';
import { computeSharedPhase, getNextDueMs, toItemKey } from '../engine/schedule-times.ts';
import { getDueTiming } from './alert-evaluation.ts';

/** Time budget of one run; its progress is saved afterwards. */
const runBudgetMs = 10_000;
/** Number of concurrent queries of one backtest. */
const maxConcurrentQueries = 4;
/** A document can hold at most 4 MB. */
const maxTransitions = 1000;

interface BacktestRun {
  readonly backtest: AlertBacktest;
  readonly rule: AlertRule;
  readonly tenantId: string;
  queryAt(nowMs: number): Promise<RuleQueryResult>;
  readonly runTemplateQuery: RunTemplateQuery;
}

/** Due times after the completed evaluations, as in live evaluation. */
const computeDueTimes = ({ backtest, rule, tenantId }: BacktestRun, count: number): number[] => {
  const intervalMs = parseDurationMs(rule.interval);
  const phase = computeSharedPhase(tenantId, toItemKey(tenantId, rule.id), {
    everyMs: intervalMs,
    ...getDueTiming(rule),
  });
  const times: number[] = [];
  for (
    let timeMs = getNextDueMs(phase, intervalMs, backtest.doneMs);
    timeMs <= backtest.toMs && times.length < count;
    timeMs += intervalMs
  )
    times.push(timeMs);
  return times;
};

/** Advances by several evaluations, whose queries run concurrently. */
const advanceBacktest = async (progress: BacktestRun): Promise<AlertBacktest> => {
  const { backtest, rule, tenantId } = progress;
  const times = computeDueTimes(progress, maxConcurrentQueries);
  if (times.length === 0) return { ...backtest, status: 'finished', doneMs: backtest.toMs };
  const results = await Promise.all(times.map((nowMs) => progress.queryAt(nowMs)));
  let next = backtest;
  for (const [index, nowMs] of times.entries()) {
    const queryResult = results[index] as RuleQueryResult;
    const input = { tenantId, rule, prior: next.state as RuleState, result: queryResult, nowMs };
    const evaluation = await renderWithQueries(
      (queryResults) => evaluate({ ...input, queryResults }),
      progress.runTemplateQuery,
    );
    const remaining = maxTransitions - next.transitions.length;
    next = {
      ...next,
      doneMs: nowMs,
      evaluations: next.evaluations + 1,
      failed: next.failed + (evaluation.error === undefined ? 0 : 1),
      lastError: evaluation.error ?? next.lastError,
      transitions: [...next.transitions, ...evaluation.transitions.slice(0, remaining)],
      isCut: next.isCut || evaluation.transitions.length > remaining,
      // Copies the state, as if it had been saved between two evaluations.
      state: JSON.parse(JSON.stringify(evaluation.state)) as RuleState,
    };
  }
  return next;
};

/**
 * Schedule with one unit of work per backtest. Its document stores the results and is written under its version, so a
 * repeated run adds nothing.
 */
export const alertBacktesting = defineSchedule({
  name: 'alert-backtests',
  summary: 'Runs alert rules over past time.',
  collection: alertBacktests,
  everyMs: ({ status }) => (status === 'running' ? 1000 : undefined),
  missed: 'skip',
  state: { version: 1, schema: z.null(), empty: () => null },
  emits: {},
  concurrency: { total: 4, perTenant: 1 },
  async run({ id }, { tenantId, signal, ports }) {
    const stored = ports.documents.forTenant(tenantId).collection(alertBacktests);
    const document = await stored.find(id);
    if (document?.status !== 'running') return null;
    const { version, createdAt: _createdAt, updatedAt: _updatedAt, ...backtest } = document;
    const { rule: ruleFields, queryVersion, ruleId, ruleVersion } = backtest;
    const storedRule = { ...ruleFields, queryVersion, id: ruleId, version: ruleVersion };
    const rule = parseStoredRule(storedRule);
    const reader = await openTenantReader(ports, tenantId, Date.now());
    if (rule === undefined || reader === undefined) {
      await stored.replace(id, { ...backtest, status: 'failed', lastError: 'the rule cannot be evaluated' }, version);
      return null;
    }
    const queryAt = (nowMs: number): Promise<RuleQueryResult> => queryRule(rule, reader, { nowMs, signal });
    const deadlineMs = performance.now() + runBudgetMs;
    let next: AlertBacktest = backtest;
    while (next.status === 'running' && performance.now() < deadlineMs && !signal.aborted)
      next = await advanceBacktest({
        backtest: next,
        rule,
        tenantId,
        queryAt,
        runTemplateQuery: createTemplateQuery(reader, { signal }),
      });
    await stored.replace(id, next, version);
    return null;
  },
});
