/** Test alerts: the transitions of a rule as if its condition held. */
import { randomUUID } from 'node:crypto';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { GroupResponse } from './answer.ts';
import { evaluate } from './evaluate.ts';
import { type AlertRule, getGroupingLabels, highestSeverity } from './rule.ts';
import { createAlertId, createTransitionId, emptyState, type Labels } from './state.ts';
import type { QueryResultLookup } from './templates/queries.ts';

/** Returns a value that crosses the threshold of the highest severity, in that threshold's unit. */
const findCrossingValue = (rule: AlertRule): { readonly value: number | null; readonly unit: string } => {
  const { condition } = rule;
  if (condition.kind !== 'threshold') return { value: condition.kind === 'composite' ? 1 : null, unit: '' };
  const highest = condition.thresholds.find(({ severity }) => severity === highestSeverity(rule));
  const { operator = 'any', value = 1, upper = value, unit = '' } = highest ?? {};
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
  readonly queried: QueryResultLookup;
}

/**
 * Returns the transitions that start and end a test alert of the rule. The alert has its own ID, so that no real alert
 * starts or ends. Missing labels have the value `test`.
 */
export const createTestTransitions = (
  rule: AlertRule,
  { tenantId, labels, nowMs, queried: queryResults }: TestOptions,
): AlertTransition[] => {
  const { condition } = rule;
  const grouping = condition.kind === 'composite' ? condition.groupBy : (getGroupingLabels(condition.query) ?? []);
  const { value, unit } = findCrossingValue(rule);
  const group: GroupResponse = {
    labels: { ...Object.fromEntries(grouping.map((name) => [name, 'test'])), ...labels },
    points: [value],
    eventCount: rule.minimumEvents,
  };
  const immediateRule = { ...rule, for: '0s', keepFiringFor: '0s' };
  const evaluationInput = { tenantId, rule: immediateRule, isTest: true, queryResults };
  const started = evaluate({
    ...evaluationInput,
    prior: emptyState(),
    answer: { kind: 'groups', unit, groups: [group] },
    nowMs,
  });
  const endOfTest = { kind: 'over', reason: 'the test is over' } as const;
  const ended = evaluate({ ...evaluationInput, prior: started.state, answer: endOfTest, nowMs: nowMs + 1 });
  const alertId = createAlertId(rule.id, `test ${randomUUID()}`);
  return [...started.transitions, ...ended.transitions].map((transition) => ({
    ...transition,
    alertId,
    id: createTransitionId(alertId, transition.atMs, transition.to),
  }));
};
