/** Selection and order of the alerts in a panel */
import type { Alert } from '../../alerts/calls.ts';
import type { Visual } from '../calls.ts';
import { isMatch } from '../patterns.ts';

/** Settings of the panel; a draft omits defaults */
export type AlertListSettings = Partial<Extract<Visual, { kind: 'alerts' }>>;
type State = NonNullable<AlertListSettings['states']>[number];

/** Maps panel states to API states */
const states: Readonly<Record<State, Alert['state']>> = {
  firing: 'firing',
  pending: 'pending',
  recovering: 'recovering',
  'no-data': 'unknown',
  error: 'unknown',
  resolved: 'inactive',
};

export const toStateFilter = ({ states: shownStates = ['firing'] }: AlertListSettings): string =>
  [...new Set(shownStates.map((state) => states[state]))].join(',');

interface Matcher {
  readonly name: string;
  readonly operator: string;
  readonly value: string;
}

/** Parses `{team="core", zone!~"a|b"}`; returns `undefined` if it is invalid. */
export const parseMatchers = (text: string): readonly Matcher[] | undefined => {
  const inner = text
    .trim()
    .replace(/^\{(.*)\}$/s, '$1')
    .trim();
  const matchers: Matcher[] = [];
  let rest = inner;
  while (rest !== '') {
    const [matchedText, name, operator, value] =
      /^([A-Za-z_][\w.]{0,255})\s{0,9}(=~|!~|!=|=)\s{0,9}"((?:[^"\\]|\\.)*)"\s{0,9}(?:,\s{0,9}|$)/s.exec(rest) ?? [];
    if (matchedText === undefined || name === undefined || operator === undefined || value === undefined)
      return undefined;
    matchers.push({ name, operator, value: value.replace(/\\(.)/gs, '$1') });
    rest = rest.slice(matchedText.length);
  }
  return matchers;
};

const matchesLabels = ({ name, operator, value }: Matcher, labels: Alert['labels']): boolean => {
  const labelValue = labels[name] ?? '';
  const isSame = operator.endsWith('~') ? isMatch(`^(${value})$`, labelValue) : labelValue === value;
  return operator.startsWith('!') ? !isSame : isSame;
};

const ranks = ['critical', 'error', 'warning', 'info'];
const severityRank = ({ severity }: Alert): number => {
  const rank = ranks.indexOf(severity ?? '');
  return rank === -1 ? ranks.length : rank;
};
const startMs = ({ since }: Alert): number => (since === null ? 0 : Date.parse(since));
const nameOrder = (one: Alert, other: Alert): number => one.ruleName.localeCompare(other.ruleName);

const orders: Readonly<Record<NonNullable<AlertListSettings['order']>, (one: Alert, other: Alert) => number>> = {
  severity: (one, other) => severityRank(one) - severityRank(other) || startMs(other) - startMs(one),
  newest: (one, other) => startMs(other) - startMs(one),
  oldest: (one, other) => startMs(one) - startMs(other),
  name: nameOrder,
  'name-descending': (one, other) => nameOrder(other, one),
};

/** Returns the alerts of the panel in order; `undefined` if its labels are invalid. */
export const selectAlerts = (alerts: readonly Alert[], shown: AlertListSettings): readonly Alert[] | undefined => {
  const { severities = [], rules = [], search = '', labels = '', order = 'severity' } = shown;
  const matchers = parseMatchers(labels);
  if (matchers === undefined) return undefined;
  const lowerSearch = search.toLowerCase();
  return alerts
    .filter(
      (alert) =>
        (severities.length === 0 || severities.includes(alert.severity ?? '')) &&
        (rules.length === 0 || rules.includes(alert.ruleId)) &&
        alert.ruleName.toLowerCase().includes(lowerSearch) &&
        matchers.every((matcher) => matchesLabels(matcher, alert.labels)),
    )
    .sort(orders[order]);
};

/** Groups alerts by label values; a single unnamed group without grouping labels. */
export const groupAlerts = (
  alerts: readonly Alert[],
  labels: readonly string[],
): readonly (readonly [name: string, alerts: readonly Alert[]])[] => [
  ...Map.groupBy(alerts, (alert) => labels.map((label) => `${label}=${alert.labels[label] ?? ''}`).join(', ')),
];
