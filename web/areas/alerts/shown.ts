/** How alerts and their rules are written. */
import type { Rule, Silence } from './calls.ts';

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });

export const shownValue = (value: number | null): string => (value === null ? '' : number.format(value));

const own = new Set(['alertname', 'severity']);

/** `service=cart, team=shop`: without what stands elsewhere. */
export const shownLabels = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .filter(([name]) => !own.has(name))
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** When a rule fires: `critical: above 5 over 1h`. */
export const shownCondition = ({ condition }: Rule): string => {
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

type Matchers = Silence['matchers'];

export const shownMatchers = ({ matchers }: { readonly matchers: Readonly<Matchers> }): string =>
  matchers.map(({ name, operator = '=', value }) => `${name}${operator}${value}`).join(', ');

/** Matchers as somebody wrote them: `team=shop, service=~"ca.*"`. Of what is none, all is the name. */
export const matchersIn = (text: string): Matchers =>
  text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, name = part, operator = '=', value = ''] = /^([^=!~]+)(=~|!~|!=|=)(.*)$/.exec(part) ?? [];
      const bare = value.trim().replace(/^"(.*)"$/, '$1');
      return { name: name.trim(), operator: operator as '=', value: bare };
    });
