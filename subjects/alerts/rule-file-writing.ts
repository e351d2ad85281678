/** Rules as a Prometheus rule file. */
import { getPromql } from '../../queries/query-kind.ts';
import { formatYamlComment, writeYaml } from '../../queries/yaml-writing.ts';
import type { RecordingGroup } from '../../schemas/resources/recording-group.ts';
import { parseDurationMs } from './durations.ts';
import { type AlertRule, getAlertName } from './rule.ts';

/**
 * The PromQL expression of a rule including its threshold; undefined for a rule without an equivalent in Prometheus.
 */
const toPromqlExpression = ({ condition }: AlertRule): string | undefined => {
  if (condition.kind !== 'threshold' || condition.step !== undefined) return undefined;
  const expression = getPromql(condition.query);
  if (expression === undefined) return undefined;
  const [threshold, ...others] = condition.thresholds;
  if (threshold === undefined || others.length > 0 || threshold.unit !== undefined) return undefined;
  const { operator, value, upper, recovery } = threshold;
  if (recovery !== undefined) return undefined;
  switch (operator) {
    case 'any':
      return expression;
    case 'outside':
      return `(${expression}) < ${value} or (${expression}) > ${upper}`;
    default:
      return `(${expression}) ${{ above: '>', 'at-least': '>=', below: '<', equal: '==', 'not-equal': '!=' }[operator]} ${value}`;
  }
};

interface GroupSettings {
  readonly file: string;
  readonly name: string;
  readonly interval: string;
  readonly delay: string;
  readonly limit: number;
}

interface IndexedRule {
  /** Index in the group of origin. */
  readonly position: number;
  readonly rule: object;
}

/** Groups with equal settings, in order of first occurrence */
class RuleGroups {
  readonly #groups = new Map<string, { readonly settings: GroupSettings; readonly rules: IndexedRule[] }>();

  add(group: GroupSettings, rule: IndexedRule): void {
    const key = JSON.stringify([group.file, group.name, group.interval, group.delay, group.limit]);
    const entry = this.#groups.get(key) ?? { settings: group, rules: [] };
    this.#groups.set(key, entry);
    entry.rules.push(rule);
  }

  /** Returns the groups in the format of a rule file, with unique names. */
  toYamlGroups(): object[] {
    const names = new Map<string, number>();
    return [...this.#groups.values()].map(({ settings: { name, interval, delay, limit }, rules }) => {
      const occurrence = (names.get(name) ?? 0) + 1;
      names.set(name, occurrence);
      return {
        name: occurrence === 1 ? name : `${name} ${occurrence}`,
        interval,
        ...(delay !== '0s' && { query_offset: delay }),
        ...(limit > 0 && { limit }),
        rules: rules.toSorted((left, right) => left.position - right.position).map(({ rule }) => rule),
      };
    });
  }
}

const toAlertingRule = (rule: AlertRule, expr: string): object => {
  const severity = rule.condition.kind === 'threshold' ? rule.condition.thresholds[0]?.severity : undefined;
  return {
    alert: getAlertName(rule),
    expr,
    ...(parseDurationMs(rule.for) > 0 && { for: rule.for }),
    ...(parseDurationMs(rule.keepFiringFor) > 0 && { keep_firing_for: rule.keepFiringFor }),
    labels: { severity, ...rule.labels },
    ...(Object.keys(rule.annotations).length > 0 && { annotations: rule.annotations }),
  };
};

/**
 * Returns a rule file with these rules, in the groups of the files that they were imported from; others are grouped by
 * interval. Also returns the names of rules that Prometheus cannot express, or that are disabled.
 */
export const writeRuleFile = (
  rules: readonly AlertRule[],
  recordings: readonly RecordingGroup[] = [],
): { readonly text: string; readonly excluded: readonly string[] } => {
  const excluded: string[] = [];
  const groups = new RuleGroups();
  for (const { name, file, enabled, interval, delay, limit, rules: recordingRules } of recordings)
    for (const [index, { record, expression, labels, place: position = index }] of recordingRules.entries()) {
      const rule = { record, expr: expression, ...(Object.keys(labels).length > 0 && { labels }) };
      if (enabled) groups.add({ name, file, interval, delay, limit }, { position: position, rule });
      else excluded.push(record);
    }
  for (const [index, rule] of rules.entries()) {
    const expr = rule.enabled ? toPromqlExpression(rule) : undefined;
    if (expr === undefined) {
      excluded.push(rule.name);
      continue;
    }
    const { origin, interval, delay, limit = 0 } = rule;
    const { file, group, place: position = index } = origin ?? { file: '', group: `every ${interval}` };
    groups.add({ file, name: group, interval, delay, limit }, { position: position, rule: toAlertingRule(rule, expr) });
  }
  const excludedNote =
    excluded.length === 0
      ? ''
      : formatYamlComment(`Not expressible in Prometheus, or disabled: ${excluded.join(', ')}`);
  return { text: excludedNote + writeYaml({ groups: groups.toYamlGroups() }), excluded };
};
