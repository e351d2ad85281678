/** Evaluates alert rules when they are due. */
import { z } from 'zod';
import type { RuleAnswer } from '../../queries/alerts/answer.ts';
import { ask } from '../../queries/alerts/ask.ts';
import { msOf } from '../../queries/alerts/durations.ts';
import { evaluate } from '../../queries/alerts/evaluate.ts';
import { type AlertRule, readRule } from '../../queries/alerts/rule.ts';
import { emptyState, type RuleState } from '../../queries/alerts/state.ts';
import { toldEvaluation, toldEvent } from '../../queries/alerts/told.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import { alertRules, type StoredAlertRule } from '../../schemas/resources/alert-rule.ts';
import { topics } from '../../schemas/topics.ts';
import { defineSchedule } from '../engine/schedule.ts';
import { ruleAnswers } from './rule-answers.ts';
import { tenantReading } from './tenant-reading.ts';

/** Documents are the same objects until they change. */
const read = new WeakMap<object, AlertRule>();

const ruleIn = (document: StoredAlertRule & Stored): AlertRule => {
  const rule = read.get(document) ?? readRule(document);
  if (rule === undefined)
    throw new Error(
      `the form of the alert rule ${document.id}, version ${document.queryVersion}, is not understood here`,
    );
  read.set(document, rule);
  return rule;
};

/** Rules of an organization come due in moments so far apart: those of one moment are asked together. */
export const togetherMs = 5000;

const switchedOff: RuleAnswer = { kind: 'over', reason: 'the rule was switched off' };

/**
 * One rule is one thing. Its query reads up to the due time, whenever that is run: a due time that was missed is evaluated as it would
 * have been. Ids of what is told follow from rule, group and due time.
 */
export const alertEvaluation = defineSchedule({
  name: 'alert-evaluation',
  summary: 'Evaluates alert rules.',
  things: alertRules,
  everyMs: (document) => {
    const rule = ruleIn(document);
    // What is switched off is looked at now and then, so that its alerts end.
    return rule.enabled ? msOf(rule.interval) : Math.min(60_000, msOf(rule.interval));
  },
  togetherMs,
  missed: { makeUp: 10 },
  state: { version: 1, schema: z.custom<RuleState>(), empty: emptyState },
  emits: { transitions: topics.alertTransitions, evaluations: topics.alertEvaluations, events: topics.events },
  // What they ask waits for its turn (`rule-answers.ts`).
  atOnce: { total: 4000, perTenant: 2000 },
  budgetMs: 60_000,
  async run(document, run) {
    const { tenantId, dueMs, emit, signal, ports } = run;
    const rule = ruleIn(document);
    if (!rule.enabled && Object.keys(run.state.alerts).length === 0) return run.state;
    const reading = await tenantReading(ports, tenantId, Math.max(dueMs, Date.now()));
    if (reading === undefined) return run.state;
    const started = performance.now();
    const answers = ruleAnswers(ports.columns, tenantId);
    const answer = rule.enabled ? await ask(rule, reading, { nowMs: dueMs, signal, answers }) : switchedOff;
    const prior = run.state;
    const evaluation = evaluate({ tenantId, rule, prior, answer, nowMs: dueMs });
    const durationMs = performance.now() - started;
    for (const transition of evaluation.transitions) {
      emit.transitions(transition);
      const event = toldEvent(transition);
      if (event !== undefined) emit.events(event);
    }
    const lateMs = Date.now() - dueMs;
    for (const part of toldEvaluation(evaluation, { tenantId, rule, nowMs: dueMs, durationMs, lateMs }))
      emit.evaluations(part);
    return evaluation.state;
  },
});
