/** Helpers that write alert rules in short form, and evaluate them at given times with given query results. */

import { type Evaluation, evaluate } from '../../subjects/alerts/evaluate.ts';
import { type AlertRule, AlertRuleFields } from '../../subjects/alerts/rule.ts';
import type { RuleQueryResult } from '../../subjects/alerts/rule-query-result.ts';
import { emptyState } from '../../subjects/alerts/state.ts';

type Given = Record<string, unknown>;

/** Counts errors by service. */
export const errorsByService = {
  kind: 'aggregate',
  signal: 'logs',
  search: 'severity:error',
  groupBy: ['service'],
  measures: [{ function: 'count' }],
} as const;

/** Creates a rule with the given fields; its condition is `above 10` by default. */
export const ruleOf = ({ condition, ...given }: Given = {}): AlertRule => ({
  ...AlertRuleFields.parse({
    name: 'Errors',
    condition:
      (condition as Given | undefined)?.['kind'] !== undefined
        ? condition
        : {
            kind: 'threshold',
            query: errorsByService,
            thresholds: [{ severity: 'critical', operator: 'above', value: 10 }],
            ...(condition as Given),
          },
    ...given,
  }),
  id: 'rule-1',
  version: 3,
});

/** Values by group, which is the value of `service`; an array has one value for each step. */
export type Values = Readonly<Record<string, number | null | readonly (number | null)[]>>;

export const answerOfValues = (values: Values, unit = ''): RuleQueryResult => ({
  kind: 'groups',
  unit,
  groups: Object.entries(values).map(([service, given]) => ({
    labels: service === '' ? {} : { service },
    points: (Array.isArray(given) ? given : [given]) as (number | null)[],
  })),
});

const originMs = Date.UTC(2026, 2, 1);

/** Evaluates at minutes after the first one, in order. */
export const evaluations = (
  rule: AlertRule | ((minute: number) => AlertRule),
  responses: readonly (readonly [minute: number, result: Values | RuleQueryResult])[],
  unit = '',
): Evaluation[] => {
  let prior = emptyState();
  return responses.map(([minute, given]) => {
    const result = 'kind' in given ? (given as RuleQueryResult) : answerOfValues(given as Values, unit);
    const evaluation = evaluate({
      tenantId: 'tenant',
      prior,
      result,
      nowMs: originMs + minute * 60_000,
      rule: typeof rule === 'function' ? rule(minute) : rule,
    });
    // The state between evaluations is stored as JSON.
    prior = JSON.parse(JSON.stringify(evaluation.state));
    return evaluation;
  });
};

/** `0 cart: inactive → firing critical`: transitions as short text. */
export const transitionLines = (all: readonly Evaluation[]): string[] =>
  all.flatMap(({ transitions }) =>
    transitions.map(
      ({ atMs, labels, from, to, severity }) =>
        `${(atMs - originMs) / 60_000} ${labels['service'] ?? labels['reason'] ?? '-'}: ${from} → ${to}${to === 'inactive' ? '' : ` ${severity}`}`,
    ),
  );
