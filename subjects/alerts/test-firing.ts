/** Test alerts: the transitions of a rule as if its condition held. */
import { randomUUID } from 'node:crypto';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { GroupAnswer } from './answer.ts';
import { evaluate } from './evaluate.ts';
import { type AlertRule, groupingOf, highestSeverity } from './rule.ts';
import { alertIdOf, emptyState, type Labels, transitionIdOf } from './state.ts';
import type { Queried } from './templates/queries.ts';

/** A value that crosses the threshold of the highest severity, in that threshold's unit. */
const crossing = (rule: AlertRule): { readonly value: number | null; readonly unit: string } => {
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

interface Fired {
  readonly tenantId: string;
  readonly labels: Labels;
  readonly nowMs: number;
  readonly queried: Queried;
}

/**
 * Returns a firing of the rule and its end, marked as a test. The alert has its own ID, so that no real alert starts or
 * ends. Missing labels have the value `test`.
 */
export const testFiring = (rule: AlertRule, { tenantId, labels, nowMs, queried }: Fired): AlertTransition[] => {
  const { condition } = rule;
  const grouping = condition.kind === 'composite' ? condition.groupBy : (groupingOf(condition.query) ?? []);
  const { value, unit } = crossing(rule);
  const group: GroupAnswer = {
    labels: { ...Object.fromEntries(grouping.map((name) => [name, 'test'])), ...labels },
    points: [value],
    events: rule.minimumEvents,
  };
  const tested = { ...rule, for: '0s', keepFiringFor: '0s' };
  const shared = { tenantId, rule: tested, isTest: true, queried };
  const begun = evaluate({ ...shared, prior: emptyState(), answer: { kind: 'groups', unit, groups: [group] }, nowMs });
  const over = { kind: 'over', reason: 'the test is over' } as const;
  const ended = evaluate({ ...shared, prior: begun.state, answer: over, nowMs: nowMs + 1 });
  const alertId = alertIdOf(rule.id, `test ${randomUUID()}`);
  return [...begun.transitions, ...ended.transitions].map((transition) => ({
    ...transition,
    alertId,
    id: transitionIdOf(alertId, transition.atMs, transition.to),
  }));
};
