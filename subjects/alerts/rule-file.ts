/** Prometheus' rule files: groups of alerting rules as YAML, read and written. */
import { stringify } from 'yaml';
import { readYaml, YamlError } from '../../queries/yaml.ts';
import type { alertSeverities } from '../../schemas/alerts.ts';
import { durationText, msOf } from './durations.ts';
import { type AlertRule, AlertRuleFields, alertNameOf, type RuleOrigin } from './rule.ts';
import { type Problem, problemsOf, textProblemsOf } from './rule-problems.ts';

/** What became of one rule of a file. */
export interface FileRule {
  /** `group.3`: the group, and the place in it. */
  readonly place: string;
  /** Undefined where it could not be read. */
  readonly rule: AlertRuleFields | undefined;
  /** Why it could not be read, or which of its texts are shown as they are. */
  readonly problems: readonly Problem[];
}

/** What Prometheus' rules call the severities. */
const severities: Readonly<Record<string, (typeof alertSeverities)[number]>> = {
  page: 'critical',
  critical: 'critical',
  emergency: 'critical',
  disaster: 'critical',
  error: 'error',
  high: 'error',
  major: 'error',
  warning: 'warning',
  warn: 'warning',
  ticket: 'warning',
  minor: 'warning',
  info: 'info',
  none: 'info',
  low: 'info',
};

const unitMs: Readonly<Record<string, number>> = {
  y: 31_536_000_000,
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};

/** `1h30m` as `90m`; what is no duration as it is, for it to be refused. */
const durationIn = (value: unknown, fallback: string): string => {
  if (value === undefined || value === null) return fallback;
  const text = String(value);
  if (!/^(\d+(y|w|d|h|ms|m|s))+$/.test(text)) return text === '0' ? '0s' : text;
  let ms = 0;
  for (const [, count, unit = 's'] of text.matchAll(/(\d+)(y|w|d|h|ms|m|s)/gy))
    ms += Number(count) * (unitMs[unit] ?? 0);
  return durationText(ms);
};

const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(object(value)).map(([name, text]) => [name, String(text)]));

const known = new Set(['alert', 'expr', 'for', 'keep_firing_for', 'labels', 'annotations']);

/** A rule of a file as ours. */
const ruleOf = (given: Record<string, unknown>, group: Record<string, unknown>, origin: RuleOrigin): unknown => {
  const labels = { ...texts(group['labels']), ...texts(given['labels']) };
  const interval = durationIn(group['interval'], '1m');
  return {
    ...{ name: origin.alert, origin },
    condition: {
      kind: 'threshold',
      query: { kind: 'promql', expression: String(given['expr'] ?? '') },
      window: '5m',
      thresholds: [{ severity: severities[(labels['severity'] ?? '').toLowerCase()] ?? 'warning', operator: 'any' }],
    },
    // Ours are evaluated every ten seconds at most.
    interval: /^[1-9]s$|ms$/.test(interval) ? '10s' : interval,
    delay: durationIn(group['query_offset'], '0s'),
    for: durationIn(given['for'], '0s'),
    keepFiringFor: durationIn(given['keep_firing_for'], '0s'),
    onError: 'keep',
    labels,
    annotations: texts(given['annotations']),
  };
};

const placed = (place: string, rule: unknown, more: readonly Problem[]): FileRule => {
  const parsed = AlertRuleFields.safeParse(rule);
  if (parsed.success) {
    const problems = [...more, ...problemsOf(parsed.data)];
    const warnings = textProblemsOf(parsed.data).map(({ path, message }) => ({
      path,
      message: `is shown as it is: ${message}`,
    }));
    return { place, rule: problems.length === 0 ? parsed.data : undefined, problems: [...problems, ...warnings] };
  }
  const wrong = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  return { place, rule: undefined, problems: [...more, ...wrong] };
};

/** The groups of a file, or why it has none. */
const groupsOf = (text: string): readonly unknown[] | string => {
  try {
    const { groups } = object(readYaml(text).value()) as { groups?: unknown };
    return Array.isArray(groups) ? groups : 'has no list of groups';
  } catch (error) {
    if (error instanceof YamlError) return error.text;
    throw error;
  }
};

/**
 * Reads a rule file: every rule with what became of it. Recording rules are not alert rules, and are told as a problem. `problem` says why
 * the file is none.
 */
export const readRuleFile = (
  text: string,
  fileName = '',
): { readonly rules: readonly FileRule[]; readonly problem?: string } => {
  const groups = groupsOf(text);
  if (typeof groups === 'string') return { rules: [], problem: groups };
  const rules = groups.flatMap((each) => {
    const group = object(each);
    const groupName = String(group['name'] ?? '');
    const names = new Map<string, number>();
    return list(group['rules']).map((one, index): FileRule => {
      const given = object(one);
      const place = `${groupName}.${index}`;
      if (given['alert'] === undefined)
        return {
          place,
          rule: undefined,
          problems: [{ path: 'alert', message: 'is missing: recording rules are not read' }],
        };
      const alert = String(given['alert']);
      const nth = (names.get(alert) ?? 0) + 1;
      names.set(alert, nth);
      const unknown = Object.keys(given)
        .filter((name) => !known.has(name))
        .map((path) => ({ path, message: 'is not known' }));
      return placed(place, ruleOf(given, group, { file: fileName, group: groupName, alert, nth }), unknown);
    });
  });
  return { rules };
};

/** What is known of a rule before a file is read. */
export type KnownRule = Pick<AlertRule, 'id' | 'name' | 'origin'>;

/**
 * Gives rules of files their names. One of the same origin has its name back; else one of the same name that is of no file is meant. Names
 * are unique here and not in Prometheus: where the alert's is taken, the group is added, and `alertName` keeps it.
 */
export class RuleNames {
  readonly #byOrigin = new Map<string, KnownRule>();
  readonly #byName = new Map<string, KnownRule | undefined>();

  constructor(known: Iterable<KnownRule>) {
    for (const rule of known) this.#know(rule);
  }

  /** The rule under its name, and the known one that it replaces. */
  take(rule: AlertRuleFields): { readonly rule: AlertRuleFields; readonly replaces: KnownRule | undefined } {
    const { origin } = rule;
    if (origin === undefined) return { rule, replaces: this.#byName.get(rule.name) };
    const ofNone = this.#byName.get(rule.name);
    const replaces =
      this.#byOrigin.get(keyOf(origin)) ?? (ofNone !== undefined && ofNone.origin === undefined ? ofNone : undefined);
    const name = replaces?.name ?? this.#freeName(origin);
    this.#know({ id: replaces?.id ?? '', name, origin });
    return { rule: { ...rule, name, ...(name !== origin.alert && { alertName: origin.alert }) }, replaces };
  }

  #know(rule: KnownRule): void {
    this.#byName.set(rule.name, rule);
    if (rule.origin !== undefined) this.#byOrigin.set(keyOf(rule.origin), rule);
  }

  #freeName({ alert, group }: RuleOrigin): string {
    let name = alert;
    for (let count = 1; this.#byName.has(name); count++) {
      const more = ` (${group.slice(0, 100)}${count === 1 ? '' : ` ${count}`})`;
      name = alert.slice(0, longestName - more.length) + more;
    }
    return name;
  }
}

const longestName = 256;
const keyOf = ({ file, group, alert, nth }: RuleOrigin): string => JSON.stringify([file, group, alert, nth]);

/** The expression of a rule whose query is PromQL, with its threshold; undefined for one that has no form in Prometheus. */
const expressionOf = ({ condition }: AlertRule): string | undefined => {
  if (condition.kind !== 'threshold' || condition.query.kind !== 'promql' || condition.step !== undefined)
    return undefined;
  const [threshold, ...others] = condition.thresholds;
  if (threshold === undefined || others.length > 0 || threshold.unit !== undefined) return undefined;
  const { expression } = condition.query;
  const { operator, value, upper, recovery } = threshold;
  if (recovery !== undefined) return undefined;
  switch (operator) {
    case 'any':
      return expression;
    case 'outside':
      return `(${expression}) < ${value} or (${expression}) > ${upper}`;
    default:
      return `(${expression}) ${{ above: '>', below: '<', equal: '==', 'not-equal': '!=' }[operator]} ${value}`;
  }
};

/** Rules as a rule file, in the groups that they came in, others in a group for each interval; and the names of those that have no form there. */
export const writeRuleFile = (
  rules: readonly AlertRule[],
): { readonly text: string; readonly leftOut: readonly string[] } => {
  const leftOut: string[] = [];
  const groups = new Map<string, object[]>();
  for (const rule of rules) {
    const expr = rule.enabled ? expressionOf(rule) : undefined;
    if (expr === undefined) {
      leftOut.push(rule.name);
      continue;
    }
    const severity = rule.condition.kind === 'threshold' ? rule.condition.thresholds[0]?.severity : undefined;
    const key = JSON.stringify([rule.origin?.group ?? `every ${rule.interval}`, rule.interval, rule.delay]);
    groups.set(key, [
      ...(groups.get(key) ?? []),
      {
        ...{ alert: alertNameOf(rule), expr },
        ...(msOf(rule.for) > 0 && { for: rule.for }),
        ...(msOf(rule.keepFiringFor) > 0 && { keep_firing_for: rule.keepFiringFor }),
        labels: { severity, ...rule.labels },
        ...(Object.keys(rule.annotations).length > 0 && { annotations: rule.annotations }),
      },
    ]);
  }
  const names = new Map<string, number>();
  const file = {
    groups: [...groups].map(([key, own]) => {
      const [name, interval, delay] = JSON.parse(key) as [string, string, string];
      const nth = (names.get(name) ?? 0) + 1;
      names.set(name, nth);
      return {
        ...{ name: nth === 1 ? name : `${name} ${nth}`, interval },
        ...(delay !== '0s' && { query_offset: delay }),
        rules: own,
      };
    }),
  };
  const note =
    leftOut.length === 0
      ? ''
      : `# Without a form in Prometheus, or switched off: ${leftOut.join(', ').replaceAll(/[\r\n]/g, ' ')}\n`;
  return { text: note + stringify(file), leftOut };
};
