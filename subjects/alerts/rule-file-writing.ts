/** Rules as a Prometheus rule file. */
import { promqlOf } from '../../queries/query-kind.ts';
import { writeYaml, yamlComment } from '../../queries/yaml-writing.ts';
import type { RecordingGroup } from '../../schemas/resources/recording-group.ts';
import { msOf } from './durations.ts';
import { type AlertRule, alertNameOf } from './rule.ts';

/**
 * The PromQL expression of a rule including its threshold; undefined for a rule without an equivalent in Prometheus.
 */
const expressionOf = ({ condition }: AlertRule): string | undefined => {
  if (condition.kind !== 'threshold' || condition.step !== undefined) return undefined;
  const expression = promqlOf(condition.query);
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

interface Place {
  readonly file: string;
  readonly name: string;
  readonly interval: string;
  readonly delay: string;
  readonly limit: number;
}

interface Placed {
  /** Index in the group of origin. */
  readonly place: number;
  readonly rule: object;
}

/** Groups by position, in order of first occurrence */
class Groups {
  readonly #groups = new Map<string, { readonly of: Place; readonly rules: Placed[] }>();

  add(of: Place, rule: Placed): void {
    const key = JSON.stringify([of.file, of.name, of.interval, of.delay, of.limit]);
    const known = this.#groups.get(key) ?? { of, rules: [] };
    this.#groups.set(key, known);
    known.rules.push(rule);
  }

  /** Names are unique in a file. */
  written(): object[] {
    const names = new Map<string, number>();
    return [...this.#groups.values()].map(({ of: { name, interval, delay, limit }, rules }) => {
      const nth = (names.get(name) ?? 0) + 1;
      names.set(name, nth);
      return {
        name: nth === 1 ? name : `${name} ${nth}`,
        interval,
        ...(delay !== '0s' && { query_offset: delay }),
        ...(limit > 0 && { limit }),
        rules: rules.toSorted((one, other) => one.place - other.place).map(({ rule }) => rule),
      };
    });
  }
}

const writtenAlert = (rule: AlertRule, expr: string): object => {
  const severity = rule.condition.kind === 'threshold' ? rule.condition.thresholds[0]?.severity : undefined;
  return {
    alert: alertNameOf(rule),
    expr,
    ...(msOf(rule.for) > 0 && { for: rule.for }),
    ...(msOf(rule.keepFiringFor) > 0 && { keep_firing_for: rule.keepFiringFor }),
    labels: { severity, ...rule.labels },
    ...(Object.keys(rule.annotations).length > 0 && { annotations: rule.annotations }),
  };
};

/**
 * Returns rules as a rule file, in their groups of origin, others grouped by interval. Also returns the names of rules
 * without an equivalent.
 */
export const writeRuleFile = (
  rules: readonly AlertRule[],
  recordings: readonly RecordingGroup[] = [],
): { readonly text: string; readonly excluded: readonly string[] } => {
  const excluded: string[] = [];
  const groups = new Groups();
  for (const { name, file, enabled, interval, delay, limit, rules: own } of recordings)
    for (const [index, { record, expression, labels, place = index }] of own.entries()) {
      const rule = { record, expr: expression, ...(Object.keys(labels).length > 0 && { labels }) };
      if (enabled) groups.add({ name, file, interval, delay, limit }, { place, rule });
      else excluded.push(record);
    }
  for (const [index, rule] of rules.entries()) {
    const expr = rule.enabled ? expressionOf(rule) : undefined;
    if (expr === undefined) {
      excluded.push(rule.name);
      continue;
    }
    const { origin, interval, delay, limit = 0 } = rule;
    const { file, group, place = index } = origin ?? { file: '', group: `every ${interval}` };
    groups.add({ file, name: group, interval, delay, limit }, { place, rule: writtenAlert(rule, expr) });
  }
  const note =
    excluded.length === 0 ? '' : yamlComment(`Not expressible in Prometheus, or disabled: ${excluded.join(', ')}`);
  return { text: note + writeYaml({ groups: groups.written() }), excluded };
};
