/**
 * The evaluator of alert rules: a pure function of the rule, the previous state, the query result, and the time. Live
 * evaluation, preview, test alerts and backtests all use it.
 */
import { getPromql } from '../../queries/query-kind.ts';
import type { AlertSeverity, AlertState, AlertTransition } from '../../schemas/alerts.ts';
import { getAlertMeasure } from './measure.ts';
import {
  applyCleared,
  applyHeld,
  applyMissingGroup,
  applyNoVerdict,
  applyUnknown,
  endAlert,
  isActive,
  keepState,
  type NextState,
  type PreviousGroup,
} from './next-state.ts';
import { type AlertRule, getAlertName, getGroupingLabels, getHighestSeverity, isPresenceBased } from './rule.ts';
import type { GroupQueryResult, RuleQueryResult } from './rule-query-result.ts';
import {
  type AlertMemo,
  createAlertId,
  createTransitionId,
  hashGrouping,
  type Labels,
  problemKey,
  type RuleState,
  type ThresholdComparison,
  toGroupKey,
} from './state.ts';
import type { QueryResultLookup } from './templates/queries.ts';
import type { ReadableValues, TemplateValues } from './templates/run.ts';
import { renderTemplate } from './templates/template.ts';
import { getConversionFactor } from './units.ts';
import { evaluateGroup } from './verdict.ts';

/** Result of an evaluation for one group. */
export interface GroupResult {
  readonly alertId: string;
  readonly labels: Labels;
  readonly state: AlertState;
  readonly severity: AlertSeverity | null;
  readonly value: number | null;
  /** Reason for the state, as a sentence for people. */
  readonly reason: string;
  /** Since when the condition holds; null if the alert is inactive. */
  readonly sinceMs: number | null;
  /** Since when the alert fires; null if it does not. */
  readonly startedAtMs: number | null;
}

export interface Evaluation {
  readonly state: RuleState;
  readonly transitions: readonly AlertTransition[];
  readonly groups: readonly GroupResult[];
  /** State of the rule: that of its worst alert. */
  readonly ruleState: AlertState;
  /** Reason why the evaluation failed; undefined if it succeeded. */
  readonly error: string | undefined;
}

export interface EvaluationInput {
  readonly tenantId: string;
  readonly rule: AlertRule;
  readonly prior: RuleState;
  readonly result: RuleQueryResult;
  readonly nowMs: number;
  /**
   * Runs the queries in templates of labels and annotations. Without it, the texts state that the query was not run.
   */
  readonly queryResults?: QueryResultLookup;
  readonly isTest?: boolean;
}

/** Values of an alert for the templates of its rule. */
interface AlertValues {
  /** Labels of the group. */
  readonly labels: Labels;
  readonly severity: AlertSeverity;
  readonly value: number | null;
  readonly threshold?: number | null;
  /** Comparison of the value, whose texts annotations show. */
  readonly compared?: ThresholdComparison | undefined;
  /** Evaluation time. */
  readonly atMs: number;
}

/** A number with a unit, such as `2.5 s`, or alone. */
const quantityPattern = /-?\d[\d.]*(?:e[+-]?\d+)?(?: [^\s\d]\S*)?/;

/**
 * Returns the value and the threshold for people. Values of PromQL have no unit, and are written as in Prometheus.
 */
const findReadableValues = (
  { condition }: Pick<AlertRule, 'condition'>,
  { text, threshold }: ThresholdComparison,
): ReadableValues => {
  const isPromql = condition.kind === 'threshold' && getPromql(condition.query) !== undefined;
  const [value] = quantityPattern.exec(text) ?? [];
  const [limit] = quantityPattern.exec(threshold) ?? [];
  // Another text than the number explains a value that is hard to interpret.
  return value !== text || (isPromql && !value.includes(' ')) ? {} : { value, threshold: limit };
};

const renderTemplates = (
  templates: Labels,
  { labels, value, threshold = null, atMs }: AlertValues,
  { queried, readable }: Pick<TemplateValues, 'queried' | 'readable'> = {},
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(templates).map(([name, text]) => [
      name,
      renderTemplate(text, { labels, value, threshold, nowMs: atMs, queried, readable }).slice(0, 16_384),
    ]),
  );

/**
 * Returns all labels of an alert: those of the group, overridden by those of the rule, its name, and the severity if
 * neither has one.
 */
export const alertLabels = (
  rule: Pick<AlertRule, 'name' | 'alertName' | 'labels'>,
  values: AlertValues,
): Record<string, string> => ({
  severity: values.severity,
  ...Object.fromEntries(
    Object.entries(values.labels).map(([name, text]) => [name.slice(0, 256), text.slice(0, 16_384)]),
  ),
  ...renderTemplates(rule.labels, values),
  alertname: getAlertName(rule),
});

/**
 * Returns the annotations of an alert, including results of queries in their templates, and values with their unit.
 * Labels contain neither, because they identify the alert.
 */
export const alertAnnotations = (
  rule: Pick<AlertRule, 'annotations' | 'condition'>,
  values: AlertValues,
  queried: QueryResultLookup,
): Record<string, string> =>
  renderTemplates(rule.annotations, values, {
    queried,
    readable: values.compared && findReadableValues(rule, values.compared),
  });

const queriesUnavailable: QueryResultLookup = () => ({ error: 'the query was not run here' });

const finiteOrNull = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

/** Returns the unit of the query's values: that of the result, or else the one declared in the rule. */
const resolveUnit = ({ condition }: AlertRule, unit: string): string =>
  unit === '' && condition.kind === 'threshold' ? (condition.queryUnit ?? '') : unit;

/** Returns the problem of a threshold whose unit is incompatible with that of the query's values. */
const unitProblem = ({ condition }: AlertRule, unit: string): string | undefined => {
  if (condition.kind !== 'threshold') return undefined;
  const mismatched = condition.thresholds.find(
    (threshold) => threshold.unit !== undefined && getConversionFactor(threshold.unit, unit) === undefined,
  );
  return (
    mismatched &&
    `the threshold is in ${mismatched.unit}, and the values of the query in ${unit || 'no unit'}: they cannot be compared`
  );
};

/**
 * Limits the times of an alert to the evaluation time. Later times come from a wrong clock; waiting periods then start
 * now.
 */
const clampToNow = (memo: AlertMemo, nowMs: number): AlertMemo => {
  const { sinceMs, seenMs, clearedAtMs = nowMs } = memo;
  if (Math.max(sinceMs, seenMs, clearedAtMs) <= nowMs) return memo;
  return {
    ...memo,
    sinceMs: Math.min(sinceMs, nowMs),
    seenMs: Math.min(seenMs, nowMs),
    ...(memo.clearedAtMs !== undefined && { clearedAtMs: Math.min(clearedAtMs, nowMs) }),
  };
};

/** Returns the problem of too many alerts, with the message that Prometheus uses. */
const limitProblem = ({ limit }: AlertRule, groups: readonly GroupQueryResult[]): string | undefined =>
  limit !== undefined && groups.length > limit ? `exceeded limit of ${limit} with ${groups.length} alerts` : undefined;

/** One evaluation in progress */
class RuleEvaluation {
  readonly #input: EvaluationInput;
  readonly #groupingHash: string;
  readonly #alerts: Record<string, AlertMemo> = {};
  readonly #transitions: AlertTransition[] = [];
  readonly #groups: GroupResult[] = [];

  constructor(input: EvaluationInput) {
    this.#input = input;
    this.#groupingHash = hashGrouping(input.rule.condition);
  }

  run(): Evaluation {
    const error = this.#evaluate();
    const states = new Set(Object.values(this.#alerts).map(({ state }) => state));
    const worstState = (['firing', 'recovering', 'unknown', 'pending'] as const).find((value) => states.has(value));
    return {
      state: { form: this.#groupingHash, alerts: this.#alerts },
      transitions: this.#transitions,
      groups: this.#groups,
      ruleState: worstState ?? 'inactive',
      error,
    };
  }

  /** Returns the reason if the evaluation failed. */
  #evaluate(): string | undefined {
    const { result, rule, prior } = this.#input;
    if (result.kind === 'over') {
      for (const key of Object.keys(prior.alerts)) this.#apply(key, this.#previousGroup(key), endAlert(result.reason));
      return undefined;
    }
    const unit = result.kind === 'groups' ? resolveUnit(rule, result.unit) : '';
    const error =
      result.kind === 'error' ? result.message : (unitProblem(rule, unit) ?? limitProblem(rule, result.groups));
    if (result.kind === 'error' || error !== undefined) this.#fail(`the evaluation failed: ${error}`);
    else this.#evaluateGroups(result.groups, unit, result.isTruncated === true);
    return error;
  }

  #previousGroup(key: string, labels?: Labels): PreviousGroup {
    const { rule, nowMs, prior } = this.#input;
    const storedMemo = Object.hasOwn(prior.alerts, key) ? prior.alerts[key] : undefined;
    const memo = storedMemo && clampToNow(storedMemo, nowMs);
    return { rule, nowMs, memo, labels: labels ?? memo?.labels ?? {} };
  }

  /** Preserves all alerts: a failed query gives no information about them. */
  #fail(message: string): void {
    for (const key of Object.keys(this.#input.prior.alerts)) {
      const previousGroup = this.#previousGroup(key);
      if (key !== problemKey) this.#apply(key, previousGroup, keepState(previousGroup, message));
    }
    this.#raiseProblem(this.#input.rule.onError, 'evaluation-failed', message);
  }

  /** Applies the rule's policy for a failed evaluation or missing data to the alert about the rule itself. */
  #raiseProblem(policy: AlertRule['noData'], reason: string, explanation: string): void {
    const previousGroup = this.#previousGroup(problemKey, { reason });
    const severity = getHighestSeverity(this.#input.rule);
    if (policy === 'alert')
      this.#apply(
        problemKey,
        previousGroup,
        applyHeld(previousGroup, { kind: 'held', severity, value: null, reason: explanation }),
      );
    else if (policy === 'unknown') this.#apply(problemKey, previousGroup, applyUnknown(previousGroup, explanation));
    else this.#resolveProblem();
  }

  #resolveProblem(): void {
    const previousGroup = this.#previousGroup(problemKey);
    if (previousGroup.memo !== undefined) this.#apply(problemKey, previousGroup, endAlert('the query succeeds again'));
  }

  #evaluateGroups(groups: readonly GroupQueryResult[], unit: string, isTruncated: boolean): void {
    const { rule, prior } = this.#input;
    const { condition } = rule;
    const groupsByKey = new Map(groups.map((group) => [toGroupKey(group.labels), group]));
    // An ungrouped rule has one group, which may have no data.
    const isUngrouped = condition.kind !== 'composite' && getGroupingLabels(condition.query)?.length === 0;
    if (isUngrouped && groupsByKey.size === 0 && !isPresenceBased(rule))
      groupsByKey.set('', { labels: {}, points: [] });
    for (const [key, group] of groupsByKey) this.#evaluateGroup(key, group, unit);
    const isSameForm = prior.form === this.#groupingHash;
    for (const key of Object.keys(prior.alerts)) {
      if (key === problemKey || groupsByKey.has(key)) continue;
      const previousGroup = this.#previousGroup(key);
      const isMissingByLimit = isTruncated && isSameForm;
      const next = isMissingByLimit
        ? keepState(previousGroup, 'it is not among the returned groups, because there are too many')
        : applyMissingGroup(previousGroup, { unit, isSameForm });
      this.#apply(key, previousGroup, next);
    }
    this.#evaluateNoData(groupsByKey.size);
  }

  /**
   * A rule without any known group cannot report which group has no data, so it raises an alert about the rule itself.
   */
  #evaluateNoData(groupCount: number): void {
    const { rule, prior } = this.#input;
    const { condition } = rule;
    const hasKnownGroup = groupCount > 0 || Object.keys(prior.alerts).some((key) => key !== problemKey);
    if (hasKnownGroup || condition.kind === 'composite' || isPresenceBased(rule)) this.#resolveProblem();
    else {
      const policy = condition.kind === 'absence' ? 'alert' : rule.noData;
      this.#raiseProblem(policy, 'no-data', `the query had no data for ${condition.window}`);
    }
  }

  #evaluateGroup(key: string, group: GroupQueryResult, unit: string): void {
    const previousGroup = this.#previousGroup(key, group.labels);
    const { memo } = previousGroup;
    const active = memo !== undefined && isActive(memo.state) ? memo.severity : undefined;
    const verdict = evaluateGroup(this.#input.rule, group, unit, active);
    const applyVerdict = { held: applyHeld, clear: applyCleared, missing: applyNoVerdict }[verdict.kind];
    this.#apply(key, previousGroup, applyVerdict(previousGroup, verdict));
  }

  /** Applies the next state of an alert, and emits a transition if it changed. */
  #apply(key: string, { memo: previousMemo, labels }: PreviousGroup, next: NextState): void {
    const alertId = createAlertId(this.#input.rule.id, key);
    if (next.memo !== undefined) this.#alerts[key] = next.memo;
    const severity = next.memo?.severity ?? previousMemo?.severity ?? null;
    const { state, reason, value } = next;
    this.#groups.push({
      alertId,
      labels,
      state,
      reason,
      value: finiteOrNull(value),
      severity: state === 'inactive' ? null : severity,
      sinceMs: state === 'inactive' ? null : (next.memo?.sinceMs ?? null),
      startedAtMs: next.memo?.firedAtMs ?? null,
    });
    const from = previousMemo?.state ?? 'inactive';
    const isOtherSeverity = previousMemo !== undefined && previousMemo.severity !== severity && isActive(state);
    if (from === state && !isOtherSeverity) return;
    this.#pushTransition(alertId, { before: previousMemo, next, labels, severity: severity ?? 'info' });
  }

  #pushTransition(alertId: string, { before, next, labels, severity }: StateChange): void {
    const { tenantId, rule, nowMs, isTest, queryResults = queriesUnavailable } = this.#input;
    const { value } = next;
    const from = before?.state ?? 'inactive';
    const startedAtMs = next.memo?.firedAtMs ?? before?.firedAtMs;
    const hasEnded = next.state === 'inactive' && before?.firedAtMs !== undefined;
    const reason = from === next.state ? `${next.reason} (its severity was ${before?.severity})` : next.reason;
    // The values from when the condition last held: at the end of an alert there may be no value, and earlier
    // notifications contained these.
    const held = next.memo?.held ?? before?.held ?? { value: value ?? before?.value ?? null };
    const { compared } = held;
    const values = { labels, severity, value: held.value, threshold: compared?.limit ?? null, compared, atMs: nowMs };
    this.#transitions.push({
      tenantId,
      ...(rule.projectId !== null && { projectId: rule.projectId }),
      id: createTransitionId(alertId, nowMs, `${next.state} ${severity}`),
      alertId,
      ruleId: rule.id,
      ruleVersion: rule.version,
      ruleName: rule.name,
      labels: alertLabels(rule, values),
      annotations: alertAnnotations(rule, values, queryResults),
      severity,
      from,
      to: next.state,
      atMs: nowMs,
      value: finiteOrNull(value),
      ...(startedAtMs !== undefined && { startedAtMs }),
      ...(hasEnded && { endedAtMs: nowMs }),
      held: {
        value: finiteOrNull(held.value),
        text: compared?.text ?? '',
        threshold: compared?.threshold ?? '',
        ...getAlertMeasure(rule.condition),
      },
      reason: reason.slice(0, 4096),
      ...(isTest === true && { isTest }),
    });
  }
}

interface StateChange {
  readonly before: AlertMemo | undefined;
  readonly next: NextState;
  readonly labels: Labels;
  readonly severity: AlertSeverity;
}

/** Evaluates a rule once. The same arguments give exactly the same result. */
export const evaluate = (input: EvaluationInput): Evaluation => new RuleEvaluation(input).run();
