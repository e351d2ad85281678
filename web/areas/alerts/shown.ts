/** Formats alerts and their rules */
import { formatQuantity } from '../../charts/values.ts';
import type { Rule, Silence } from './calls.ts';

const numberFormat = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });

export const formatValue = (value: number | null): string => (value === null ? '' : numberFormat.format(value));

/** Matches the value with its unit at the start of a reason, such as `2464.44 ms is above 500 ms` */
const valueOfReason = /^(-?\d[\d.]*(?:e[+-]?\d+)?) ([^\s\d]\S*) is /;

/** Formats the value of an alert with the unit that its reason states; without one, the number. */
export const formatAlertValue = ({
  value,
  reason,
}: {
  readonly value: number | null;
  readonly reason: string;
}): string => {
  const [, number, unit] = valueOfReason.exec(reason) ?? [];
  return unit === undefined ? formatValue(value) : formatQuantity(Number(number), unit);
};

const labelsInOtherColumns = new Set(['alertname', 'severity']);

/** Formats labels as `service=cart, team=shop`, without those shown elsewhere. */
export const formatLabels = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .filter(([name]) => !labelsInOtherColumns.has(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** Formats the condition of a rule: `critical: above 5 over 1h`. */
export const formatCondition = ({ condition }: Rule): string => {
  if (condition.kind === 'composite') return `${condition.severity}: ${condition.expression}`;
  const window = condition.window ?? '5m';
  if (condition.kind === 'absence') return `${condition.severity ?? 'warning'}: no data over ${window}`;
  return condition.thresholds
    .map(({ severity, operator, value, upper, unit }) =>
      [`${severity}:`, operator, value, upper === undefined ? undefined : `to ${upper}`, unit, `over ${window}`]
        .filter((part) => part !== undefined)
        .join(' '),
    )
    .join('; ');
};

type Labels = Readonly<Record<string, string>>;

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

/** Parses matchers: `team=shop, service=~"ca.*"`, with or without braces. An invalid matcher becomes a name. */
export const parseMatchers = (text: string): Matchers =>
  splitMatchers(text.trim().replace(/^\{(.*)\}$/s, '$1')).map((part) => {
    const [, name = part, operator = '=', value = ''] = /^([^=!~]+)(=~|!~|!=|=)(.*)$/s.exec(part) ?? [];
    return { name: name.trim(), operator: operator as '=', value: unquote(value.trim()) };
  });
