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

export const toStateFilter = ({ states: displayedStates = ['firing'] }: AlertListSettings): string =>
  [...new Set(displayedStates.map((state) => states[state]))].join(',');

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
  const isMatching = operator.endsWith('~') ? isMatch(`^(${value})$`, labelValue) : labelValue === value;
  return operator.startsWith('!') ? !isMatching : isMatching;
};

const severityOrder = ['critical', 'error', 'warning', 'info'];
const getSeverityRank = ({ severity }: Alert): number => {
  const rank = severityOrder.indexOf(severity ?? '');
  return rank === -1 ? severityOrder.length : rank;
};
const getStartMs = ({ since }: Alert): number => (since === null ? 0 : Date.parse(since));
const compareNames = (left: Alert, right: Alert): number => left.ruleName.localeCompare(right.ruleName);

const comparators: Readonly<Record<NonNullable<AlertListSettings['order']>, (left: Alert, right: Alert) => number>> = {
  severity: (left, right) => getSeverityRank(left) - getSeverityRank(right) || getStartMs(right) - getStartMs(left),
  newest: (left, right) => getStartMs(right) - getStartMs(left),
  oldest: (left, right) => getStartMs(left) - getStartMs(right),
  name: compareNames,
  'name-descending': (left, right) => compareNames(right, left),
};

/** Returns the alerts of the panel in order; `undefined` if its labels are invalid. */
export const selectAlerts = (alerts: readonly Alert[], settings: AlertListSettings): readonly Alert[] | undefined => {
  const { severities = [], rules = [], search = '', labels = '', order = 'severity' } = settings;
  const matchers = parseMatchers(labels);
  if (matchers === undefined) return undefined;
  const lowercaseSearch = search.toLowerCase();
  return alerts
    .filter(
      (alert) =>
        (severities.length === 0 || severities.includes(alert.severity ?? '')) &&
        (rules.length === 0 || rules.includes(alert.ruleId)) &&
        alert.ruleName.toLowerCase().includes(lowercaseSearch) &&
        matchers.every((matcher) => matchesLabels(matcher, alert.labels)),
    )
    .sort(comparators[order]);
};

/** Groups alerts by label values; a single unnamed group without grouping labels. */
export const groupAlerts = (
  alerts: readonly Alert[],
  labels: readonly string[],
): readonly (readonly [name: string, alerts: readonly Alert[]])[] => [
  ...Map.groupBy(alerts, (alert) => labels.map((label) => `${label}=${alert.labels[label] ?? ''}`).join(', ')),
];
