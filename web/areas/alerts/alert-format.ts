/** Formats alerts and their rules */
import { formatQuantity } from '../../charts/values.ts';
import type { Rule, RulePreview, Silence } from './calls.ts';

type PastValues = NonNullable<RulePreview['past']>;

const numberFormat = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });

export const formatValue = (value: number | null): string => (value === null ? '' : numberFormat.format(value));

type Labels = Readonly<Record<string, string>>;

interface AlertValue {
  readonly value: number | null;
  readonly reason: string;
}

/** Matches the value with its unit at the start of a reason, such as `2464.44 ms is above 500 ms` */
const valueOfReason = /^(-?\d[\d.]*(?:e[+-]?\d+)?) ([^\s\d]\S*) is /;

/** Reads the value of an alert in the unit that its reason states; without one, the number without a unit. */
const readAlertValue = ({ value, reason }: AlertValue): { readonly value: number | null; readonly unit: string } => {
  const [, number, unit] = valueOfReason.exec(reason) ?? [];
  return unit === undefined ? { value, unit: '' } : { value: Number(number), unit };
};

/** Formats the value of an alert with the unit that its reason states; without one, the number. */
export const formatAlertValue = (alert: AlertValue): string => {
  // Without data, the value is that of an earlier evaluation, and its unit is unknown.
  if (alert.reason.startsWith('there was no data')) return '';
  const { value, unit } = readAlertValue(alert);
  return unit === '' || value === null ? formatValue(value) : formatQuantity(value, unit);
};

interface Evaluation extends AlertValue {
  readonly at: string;
}

/** Returns the stored evaluations of an alert as values of a chart, with the thresholds of its rule. */
export const toEvaluatedValues = (
  evaluations: readonly Evaluation[],
  { condition }: Rule,
  labels: Labels,
): PastValues | undefined => {
  const [newest] = evaluations;
  const oldest = evaluations.at(-1);
  if (newest === undefined || oldest === undefined || evaluations.length < 2) return undefined;
  const values = evaluations.toReversed().map((evaluation) => ({ at: evaluation.at, ...readAlertValue(evaluation) }));
  const points = values.map(({ at, value }): [number, number | null] => [Date.parse(at), value]);
  const unit = values.find((value) => value.unit !== '')?.unit ?? '';
  const thresholds = condition.kind === 'threshold' ? condition.thresholds : [];
  return {
    from: oldest.at,
    to: newest.at,
    stepMs: 0,
    series: [{ name: '', labels: { ...labels }, unit, points }],
    limits: thresholds.flatMap(({ severity, operator, value, upper }) =>
      value === undefined ? [] : [{ severity, operator, value, upper: upper ?? null }],
    ),
    partial: [],
    error: null,
  };
};

const labelsInOtherColumns = new Set(['alertname', 'severity']);

/** Formats labels as `service=cart, team=shop`, without those shown elsewhere. */
export const formatLabels = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .filter(([name]) => !labelsInOtherColumns.has(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

type QueryCondition = Exclude<Rule['condition'], { readonly kind: 'composite' }>;

/** Returns the unit of the values of a query, as far as the rule states it. */
const findQueryUnit = (condition: QueryCondition): string => {
  if ('queryUnit' in condition && condition.queryUnit !== undefined) return condition.queryUnit;
  const { query } = condition;
  if (query?.kind !== 'aggregate' || query.signal !== 'traces') return '';
  const [measure] = query.measures;
  return measure !== undefined && 'field' in measure && measure.field === 'duration' && measure.function !== 'distinct'
    ? 'ns'
    : '';
};

/** Titles of the operators of thresholds */
export const operatorTitles = {
  above: 'above',
  'at-least': 'at least',
  below: 'below',
  equal: 'equal to',
  'not-equal': 'other than',
  outside: 'outside of',
  any: 'any',
} as const;

/** Formats the condition of a rule: `critical: above 500 ms over 5m`. */
export const formatCondition = ({ condition }: Rule): string => {
  if (condition.kind === 'composite') return `${condition.severity}: ${condition.expression}`;
  const window = condition.window ?? '5m';
  if (condition.kind === 'absence') return `${condition.severity ?? 'warning'}: no data over ${window}`;
  return condition.thresholds
    .map(({ severity, operator, value, upper, unit = findQueryUnit(condition) }) =>
      [
        `${severity}:`,
        operatorTitles[operator],
        value === undefined ? undefined : formatQuantity(value, unit),
        upper === undefined ? undefined : `to ${formatQuantity(upper, unit)}`,
        `over ${window}`,
      ]
        .filter((part) => part !== undefined)
        .join(' '),
    )
    .join('; ');
};

/** Returns whether a series is the one of an alert: no label of the series has another value in the alert. */
export const isSeriesOfAlert = (seriesLabels: Labels, alertLabels: Labels): boolean =>
  Object.entries(seriesLabels).every(([name, value]) => alertLabels[name] === undefined || alertLabels[name] === value);

type Matchers = Silence['matchers'];

/** Returns a value without quotes if possible, and quoted if it contains delimiters. */
const quoteIfNeeded = (value: string): string =>
  /[,"\n]|^\s|\s$/.test(value) ? `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"` : value;

export const formatMatchers = ({ matchers }: { readonly matchers: Readonly<Matchers> }): string =>
  matchers.map(({ name, operator = '=', value }) => `${name}${operator}${quoteIfNeeded(value)}`).join(', ');

/** Splits a text at commas and line ends outside of quotes. */
const splitMatchers = (text: string): string[] => {
  const parts = [''];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[^",\n]+|[,\n]/gs))
    if (token === ',' || token === '\n') parts.push('');
    else parts.push(`${parts.pop()}${token}`);
  return parts.map((part) => part.trim()).filter((part) => part !== '');
};

const unquote = (value: string): string => {
  const [, inner] = /^"(.*)"$/s.exec(value) ?? [];
  if (inner === undefined) return value;
  return inner.replace(/\\(["\\n])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
};

/** Parses matchers: `team=shop, service=~"ca.*"`, with or without braces. Text without an operator is used as the label name. */
export const parseMatchers = (text: string): Matchers =>
  splitMatchers(text.trim().replace(/^\{(.*)\}$/s, '$1')).map((part) => {
    const [, name = part, operator = '=', value = ''] = /^([^=!~]+)(=~|!~|!=|=)(.*)$/s.exec(part) ?? [];
    return { name: name.trim(), operator: operator as '=', value: unquote(value.trim()) };
  });
