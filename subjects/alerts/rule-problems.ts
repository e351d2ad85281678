/** Validation of alert rules beyond their schema. */
import { getQueryKind, listMeasures, returnsRecords } from '../../queries/query-kind.ts';
import { listStaticErrors } from '../../queries/validity.ts';
import { findRuleNames } from './composite.ts';
import { parseDurationMs } from './durations.ts';
import type { AlertRuleFields, Threshold } from './rule.ts';
import { findTemplateProblem } from './templates/template.ts';

export interface Problem {
  readonly path: string;
  readonly message: string;
}

const maxSteps = 1000;

const findRecoveryProblem = ({ operator, value = 0, recovery = value }: Threshold): string | undefined => {
  if (operator === 'above' || operator === 'at-least') return recovery > value ? 'must not be above value' : undefined;
  if (operator === 'below') return recovery < value ? 'must not be below value' : undefined;
  return 'is allowed only for above, at-least and below';
};

const findThresholdProblems = (threshold: Threshold, path: string): Problem[] => {
  const { operator, value, upper, recovery } = threshold;
  const checks: readonly (readonly [field: string, isWrong: boolean, message: string])[] = [
    ['value', operator === 'any' && value !== undefined, 'must not be set for any'],
    ['value', operator !== 'any' && value === undefined, `is required for ${operator}`],
    ['upper', operator === 'outside' && upper === undefined, 'is required for outside'],
    ['upper', operator !== 'outside' && upper !== undefined, 'is allowed only for outside'],
    ['upper', upper !== undefined && value !== undefined && upper < value, 'must not be below value'],
  ];
  const problems = checks.flatMap(([field, isInvalid, message]) =>
    isInvalid ? [{ path: `${path}.${field}`, message }] : [],
  );
  const recoveryMessage = recovery === undefined ? undefined : findRecoveryProblem(threshold);
  return recoveryMessage === undefined
    ? problems
    : [...problems, { path: `${path}.recovery`, message: recoveryMessage }];
};

/** Returns the problems of conditions on anomalies and forecasts. */
const findPredictionProblems = ({
  kind,
  query,
}: Extract<AlertRuleFields['condition'], { query: unknown }>): Problem[] => {
  if (getQueryKind(query).isPrediction !== true) return [];
  const message = 'must query telemetry: only telemetry can be absent';
  return [
    ...(kind === 'absence' ? [{ path: 'condition.query.kind', message }] : []),
    ...listStaticErrors(query, 'condition.query'),
  ];
};

const findConditionProblems = (condition: AlertRuleFields['condition']): Problem[] => {
  if (condition.kind === 'composite') {
    const { names, problem } = findRuleNames(condition.expression);
    const missing = names.filter((name) => !Object.hasOwn(condition.rules, name));
    return [
      ...(problem === undefined ? [] : [{ path: 'condition.expression', message: problem }]),
      ...missing.map((name) => ({
        path: 'condition.expression',
        message: `names ${name}, which is not one of the rules`,
      })),
    ];
  }
  const problems: Problem[] = [];
  const { query } = condition;
  if (returnsRecords(query))
    problems.push({
      path: 'condition.query.kind',
      message: 'must return aggregated values, not rows: use an aggregate',
    });
  problems.push(...findPredictionProblems(condition));
  if (condition.kind === 'absence') return problems;
  if (condition.measure !== undefined && listMeasures(query).length === 0)
    problems.push({ path: 'condition.measure', message: 'is for aggregates only' });
  const { step, window, match, thresholds } = condition;
  const { singleValue } = getQueryKind(query);
  if (step !== undefined && singleValue !== undefined)
    problems.push({ path: 'condition.step', message: `must not be set: ${singleValue} at a time` });
  if (step !== undefined && parseDurationMs(window) % parseDurationMs(step) !== 0)
    problems.push({ path: 'condition.step', message: `must divide the window of ${window}` });
  else if (step !== undefined && parseDurationMs(window) / parseDurationMs(step) > maxSteps)
    problems.push({ path: 'condition.step', message: `gives more than ${maxSteps} steps in the window` });
  if (step === undefined && match !== 'last')
    problems.push({ path: 'condition.match', message: 'needs a step: without a step there is a single value' });
  return [
    ...problems,
    ...thresholds.flatMap((threshold, index) => findThresholdProblems(threshold, `condition.thresholds.${index}`)),
  ];
};

/** Returns the problems of invalid templates in labels and annotations of a rule. */
export const findTemplateProblems = ({
  labels,
  annotations,
}: Pick<AlertRuleFields, 'labels' | 'annotations'>): Problem[] =>
  Object.entries({ labels, annotations }).flatMap(([field, templates]) =>
    Object.entries(templates).flatMap(([name, template]) => {
      const message = findTemplateProblem(template, field === 'annotations');
      return message === undefined ? [] : [{ path: `${field}.${name}`, message }];
    }),
  );

/**
 * Returns the problems that prevent the evaluation of a rule, each with its path. Invalid templates in rules from files
 * are not problems: the alert is more important than its texts, and an invalid template is shown unchanged.
 */
export const findRuleProblems = (rule: AlertRuleFields): Problem[] => [
  ...findConditionProblems(rule.condition),
  ...(rule.origin === undefined ? findTemplateProblems(rule) : []),
  ...(Object.hasOwn(rule.labels, 'alertname')
    ? [{ path: 'labels.alertname', message: "is the rule's name: set alertName" }]
    : []),
];

/**
 * Returns the problems of a rule that will be stored, including those of its query. A test run reports those in its
 * result instead.
 */
export const findStoredRuleProblems = (rule: AlertRuleFields): Problem[] => {
  const problems = findRuleProblems(rule);
  const { condition } = rule;
  return problems.length > 0 || condition.kind === 'composite'
    ? problems
    : [...listStaticErrors(condition.query, 'condition.query')];
};
