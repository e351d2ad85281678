/** Selection and order of the alerts in a panel */
import type { Alert } from '../../alerts/calls.ts';
import type { Visual } from '../calls.ts';
import { isMatch } from '../patterns.ts';

/** Settings of the panel; a draft omits defaults */
export type AlertsShown = Partial<Extract<Visual, { kind: 'alerts' }>>;
type State = NonNullable<AlertsShown['states']>[number];

/** Maps panel states to API states */
const states: Readonly<Record<State, Alert['state']>> = {
  firing: 'firing',
  pending: 'pending',
  recovering: 'recovering',
  'no-data': 'unknown',
  error: 'unknown',
  resolved: 'inactive',
};

export const stateFilter = ({ states: shownStates = ['firing'] }: AlertsShown): string =>
  [...new Set(shownStates.map((state) => states[state]))].join(',');

interface Matcher {
  readonly name: string;
  readonly operator: string;
  readonly value: string;
}

/** Parses `{team="core", zone!~"a|b"}`; returns `undefined` if it is invalid. */
export const matchersIn = (text: string): readonly Matcher[] | undefined => {
  const inner = text
    .trim()
    .replace(/^\{(.*)\}$/s, '$1')
    .trim();
  const matchers: Matcher[] = [];
  let rest = inner;
  while (rest !== '') {
    const [whole, name, operator, value] =
      /^([A-Za-z_][\w.]{0,255})\s{0,9}(=~|!~|!=|=)\s{0,9}"((?:[^"\\]|\\.)*)"\s{0,9}(?:,\s{0,9}|$)/s.exec(rest) ?? [];
    if (whole === undefined || name === undefined || operator === undefined || value === undefined) return undefined;
    matchers.push({ name, operator, value: value.replace(/\\(.)/gs, '$1') });
    rest = rest.slice(whole.length);
  }
  return matchers;
};

const holds = ({ name, operator, value }: Matcher, labels: Alert['labels']): boolean => {
  const own = labels[name] ?? '';
  const isSame = operator.endsWith('~') ? isMatch(`^(${value})$`, own) : own === value;
  return operator.startsWith('!') ? !isSame : isSame;
};

const ranks = ['critical', 'error', 'warning', 'info'];
const rankOf = ({ severity }: Alert): number => {
  const rank = ranks.indexOf(severity ?? '');
  return rank === -1 ? ranks.length : rank;
};
const sinceOf = ({ since }: Alert): number => (since === null ? 0 : Date.parse(since));
const nameOrder = (one: Alert, other: Alert): number => one.ruleName.localeCompare(other.ruleName);

const orders: Readonly<Record<NonNullable<AlertsShown['order']>, (one: Alert, other: Alert) => number>> = {
  severity: (one, other) => rankOf(one) - rankOf(other) || sinceOf(other) - sinceOf(one),
  newest: (one, other) => sinceOf(other) - sinceOf(one),
  oldest: (one, other) => sinceOf(one) - sinceOf(other),
  name: nameOrder,
  'name-descending': (one, other) => nameOrder(other, one),
};

/** Returns the alerts of the panel in order; `undefined` if its labels are invalid. */
export const chosenAlerts = (alerts: readonly Alert[], shown: AlertsShown): readonly Alert[] | undefined => {
  const { severities = [], rules = [], search = '', labels = '', order = 'severity' } = shown;
  const matchers = matchersIn(labels);
  if (matchers === undefined) return undefined;
  const word = search.toLowerCase();
  return alerts
    .filter(
      (alert) =>
        (severities.length === 0 || severities.includes(alert.severity ?? '')) &&
        (rules.length === 0 || rules.includes(alert.ruleId)) &&
        alert.ruleName.toLowerCase().includes(word) &&
        matchers.every((matcher) => holds(matcher, alert.labels)),
    )
    .sort(orders[order]);
};

/** Groups alerts by label values; a single unnamed group without grouping labels. */
export const grouped = (
  alerts: readonly Alert[],
  labels: readonly string[],
): readonly (readonly [name: string, alerts: readonly Alert[]])[] => [
  ...Map.groupBy(alerts, (alert) => labels.map((label) => `${label}=${alert.labels[label] ?? ''}`).join(', ')),
];
