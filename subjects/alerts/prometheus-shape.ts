/** Alert rules and alerts in the shape of Prometheus' API, `/api/v1/rules` and `/api/v1/alerts`. */
import { msOf } from './durations.ts';
import { alertAnnotations, alertLabels } from './evaluate.ts';
import type { StandingAlert } from './history.ts';
import { type AlertRule, alertNameOf } from './rule.ts';

export interface PrometheusAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
  readonly activeAt: string;
  /** As Prometheus prints figures. */
  readonly value: string;
}

const states: Readonly<Record<string, 'pending' | 'firing' | undefined>> = {
  pending: 'pending',
  firing: 'firing',
  recovering: 'firing',
};

const figure = (value: number | null): string => {
  if (value === null) return 'NaN';
  const [digits = '0', exponent = '+0'] = value.toExponential().split('e');
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
};

/** Alerts that are pending or fire. Those of rules that are not given are none. */
export const prometheusAlerts = (
  rules: ReadonlyMap<string, AlertRule>,
  alerts: readonly StandingAlert[],
): PrometheusAlert[] =>
  alerts.flatMap(({ ruleId, labels, severity, value, sinceMs, evaluatedMs, state }) => {
    const rule = rules.get(ruleId);
    const shown = states[state];
    if (rule === undefined || shown === undefined) return [];
    const told = { labels, value, severity: severity ?? 'info', atMs: evaluatedMs };
    return [
      {
        ...{ labels: alertLabels(rule, told), annotations: alertAnnotations(rule, told), state: shown },
        ...{ activeAt: new Date(sinceMs ?? 0).toISOString(), value: figure(value) },
      },
    ];
  });

/** What a rule asks, as text: PromQL as it is, others as JSON. */
const queryText = ({ condition }: AlertRule): string => {
  if (condition.kind === 'composite') return condition.expression;
  return condition.query.kind === 'promql' ? condition.query.expression : JSON.stringify(condition.query);
};

/** The rules as groups of one interval each. `standing`: rules by their last evaluation (`readRuleStates`). */
export const prometheusRules = (
  rules: readonly AlertRule[],
  standing: ReadonlyMap<string, StandingAlert>,
  alerts: readonly StandingAlert[],
) => {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const byRule = Map.groupBy(alerts, ({ ruleId }) => ruleId);
  const shown = rules.map((rule) => {
    const last = standing.get(rule.id);
    const own = prometheusAlerts(byId, byRule.get(rule.id) ?? []);
    return {
      interval: rule.interval,
      rule: {
        ...{ state: worst(own), name: alertNameOf(rule), query: queryText(rule), duration: msOf(rule.for) / 1000 },
        keepFiringFor: msOf(rule.keepFiringFor) / 1000,
        ...{ labels: rule.labels, annotations: rule.annotations, alerts: own, type: 'alerting' as const },
        health: last === undefined ? ('unknown' as const) : last.error === '' ? ('ok' as const) : ('err' as const),
        ...(last !== undefined && last.error !== '' && { lastError: last.error }),
        evaluationTime: (last?.durationMs ?? 0) / 1000,
        lastEvaluation: new Date(last?.evaluatedMs ?? 0).toISOString(),
      },
    };
  });
  const intervals = [...new Set(shown.map(({ interval }) => interval))];
  return intervals.map((interval) => {
    const own = shown.filter((each) => each.interval === interval).map(({ rule }) => rule);
    return {
      ...{ name: `every ${interval}`, file: 'alert-rules', rules: own, interval: msOf(interval) / 1000, limit: 0 },
      evaluationTime: own.reduce((sum, { evaluationTime }) => sum + evaluationTime, 0),
      lastEvaluation:
        own
          .map(({ lastEvaluation }) => lastEvaluation)
          .sort()
          .at(-1) ?? '',
    };
  });
};

const worst = (alerts: readonly PrometheusAlert[]): 'firing' | 'pending' | 'inactive' => {
  if (alerts.some(({ state }) => state === 'firing')) return 'firing';
  return alerts.length > 0 ? 'pending' : 'inactive';
};
