/** Problems of a rule beyond its schema. */
import { kindOf, measuresOf, returnsRecords } from '../../queries/query-kind.ts';
import { staticErrorsOf } from '../../queries/validity.ts';
import { rulesIn } from './composite.ts';
import { msOf } from './durations.ts';
import type { AlertRuleFields, Threshold } from './rule.ts';
import { templateProblem } from './templates/template.ts';

export interface Problem {
  readonly path: string;
  readonly message: string;
}

const maxSteps = 1000;

const ofRecovery = ({ operator, value = 0, recovery = value }: Threshold): string | undefined => {
  if (operator === 'above' || operator === 'at-least') return recovery > value ? 'must not be above value' : undefined;
  if (operator === 'below') return recovery < value ? 'must not be below value' : undefined;
  return 'is allowed only for above, at-least and below';
};

const ofThreshold = (threshold: Threshold, path: string): Problem[] => {
  const { operator, value, upper, recovery } = threshold;
  const checks: readonly (readonly [field: string, isWrong: boolean, message: string])[] = [
    ['value', operator === 'any' && value !== undefined, 'must not be set for any'],
    ['value', operator !== 'any' && value === undefined, `is required for ${operator}`],
    ['upper', operator === 'outside' && upper === undefined, 'is required for outside'],
    ['upper', operator !== 'outside' && upper !== undefined, 'is allowed only for outside'],
    ['upper', upper !== undefined && value !== undefined && upper < value, 'must not be below value'],
  ];
  const wrong = checks.flatMap(([field, isWrong, message]) => (isWrong ? [{ path: `${path}.${field}`, message }] : []));
  const ofIts = recovery === undefined ? undefined : ofRecovery(threshold);
  return ofIts === undefined ? wrong : [...wrong, { path: `${path}.recovery`, message: ofIts }];
};

/** Problems of anomaly and forecast conditions. */
const ofPrediction = ({ kind, query }: Extract<AlertRuleFields['condition'], { query: unknown }>): Problem[] => {
  if (kindOf(query).isPrediction !== true) return [];
  const message = 'must query telemetry: only telemetry can be absent';
  return [
    ...(kind === 'absence' ? [{ path: 'condition.query.kind', message }] : []),
    ...staticErrorsOf(query, 'condition.query'),
  ];
};

const ofCondition = (condition: AlertRuleFields['condition']): Problem[] => {
  if (condition.kind === 'composite') {
    const { names, problem } = rulesIn(condition.expression);
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
  problems.push(...ofPrediction(condition));
  if (condition.kind === 'absence') return problems;
  if (condition.measure !== undefined && measuresOf(query).length === 0)
    problems.push({ path: 'condition.measure', message: 'is for aggregates only' });
  const { step, window, match, thresholds } = condition;
  const { singleValue } = kindOf(query);
  if (step !== undefined && singleValue !== undefined)
    problems.push({ path: 'condition.step', message: `must not be set: ${singleValue} at a time` });
  if (step !== undefined && msOf(window) % msOf(step) !== 0)
    problems.push({ path: 'condition.step', message: `must divide the window of ${window}` });
  else if (step !== undefined && msOf(window) / msOf(step) > maxSteps)
    problems.push({ path: 'condition.step', message: `gives more than ${maxSteps} steps in the window` });
  if (step === undefined && match !== 'last')
    problems.push({ path: 'condition.match', message: 'needs a step: without a step there is a single value' });
  return [...problems, ...thresholds.flatMap((one, index) => ofThreshold(one, `condition.thresholds.${index}`))];
};

/** Returns invalid templates in the texts of a rule. */
export const textProblemsOf = ({ labels, annotations }: Pick<AlertRuleFields, 'labels' | 'annotations'>): Problem[] =>
  Object.entries({ labels, annotations }).flatMap(([field, templates]) =>
    Object.entries(templates).flatMap(([name, template]) => {
      const message = templateProblem(template, field === 'annotations');
      return message === undefined ? [] : [{ path: `${field}.${name}`, message }];
    }),
  );

/**
 * Returns the problems that prevent the evaluation of a rule, each with its path. Texts of rules from files cause no
 * problems: the alert matters more than its texts, and an invalid template is shown unchanged.
 */
export const problemsOf = (rule: AlertRuleFields): Problem[] => [
  ...ofCondition(rule.condition),
  ...(rule.origin === undefined ? textProblemsOf(rule) : []),
  ...(Object.hasOwn(rule.labels, 'alertname')
    ? [{ path: 'labels.alertname', message: "is the rule's name: set alertName" }]
    : []),
];

/**
 * Returns the problems of a rule that will be stored, including those of its query. A test run reports those in its
 * result instead.
 */
export const storedRuleProblemsOf = (rule: AlertRuleFields): Problem[] => {
  const problems = problemsOf(rule);
  const { condition } = rule;
  return problems.length > 0 || condition.kind === 'composite'
    ? problems
    : [...staticErrorsOf(condition.query, 'condition.query')];
};
