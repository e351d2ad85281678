/** Test alerts: the transitions of a rule as if its condition held. */
import { randomUUID } from 'node:crypto';
import type { AlertTransition } from '../../schemas/alerts.ts';
import { evaluate } from './evaluate.ts';
import { type AlertRule, getGroupingLabels, getHighestSeverity } from './rule.ts';
import type { GroupQueryResult } from './rule-query-result.ts';
import { createAlertId, createTransitionId, emptyState, type Labels } from './state.ts';
import type { QueryResultLookup } from './templates/queries.ts';

/** Returns a value that crosses the threshold of the highest severity, in that threshold's unit. */
const findCrossingValue = (rule: AlertRule): { readonly value: number | null; readonly unit: string } => {
  const { condition } = rule;
  if (condition.kind !== 'threshold') return { value: condition.kind === 'composite' ? 1 : null, unit: '' };
  const highestThreshold = condition.thresholds.find(({ severity }) => severity === getHighestSeverity(rule));
  const { operator = 'any', value = 1, upper = value, unit = '' } = highestThreshold ?? {};
  const values = {
    above: value + 1,
    'at-least': value,
    below: value - 1,
    equal: value,
    'not-equal': value + 1,
    outside: upper + 1,
    any: 1,
  };
  return { value: values[operator], unit };
};

interface TestOptions {
  readonly tenantId: string;
  readonly labels: Labels;
  readonly nowMs: number;
  readonly queryResults: QueryResultLookup;
}

/**
 * Returns the transitions that start and end a test alert of the rule. The alert has its own ID, so that no real alert
 * starts or ends. Missing labels have the value `test`.
 */
export const createTestTransitions = (
  rule: AlertRule,
  { tenantId, labels, nowMs, queryResults }: TestOptions,
): AlertTransition[] => {
  const { condition } = rule;
  const groupingLabels =
    condition.kind === 'composite' ? condition.groupBy : (getGroupingLabels(condition.query) ?? []);
  const { value, unit } = findCrossingValue(rule);
  const group: GroupQueryResult = {
    labels: { ...Object.fromEntries(groupingLabels.map((name) => [name, 'test'])), ...labels },
    points: [value],
    eventCount: rule.minimumEvents,
  };
  const immediateRule = { ...rule, for: '0s', keepFiringFor: '0s' };
  const evaluationInput = { tenantId, rule: immediateRule, isTest: true, queryResults };
  const startEvaluation = evaluate({
    ...evaluationInput,
    prior: emptyState(),
    result: { kind: 'groups', unit, groups: [group] },
    nowMs,
  });
  const endOfTest = { kind: 'over', reason: 'the test is over' } as const;
  const endEvaluation = evaluate({
    ...evaluationInput,
    prior: startEvaluation.state,
    result: endOfTest,
    nowMs: nowMs + 1,
  });
  const alertId = createAlertId(rule.id, `test ${randomUUID()}`);
  return [...startEvaluation.transitions, ...endEvaluation.transitions].map((transition) => ({
    ...transition,
    alertId,
    id: createTransitionId(alertId, transition.atMs, transition.to),
  }));
};
