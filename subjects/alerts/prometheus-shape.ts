/** Alert rules and alerts in the format of Prometheus's API, `/api/v1/rules` and `/api/v1/alerts`. */
import { getPromql } from '../../queries/query-kind.ts';
import type { RecordingGroup } from '../../schemas/resources/recording-group.ts';
import { parseDurationMs } from './durations.ts';
import { alertAnnotations, alertLabels } from './evaluate.ts';
import type { ActiveAlert } from './history.ts';
import { recordingRuleId } from './recording/group.ts';
import { type AlertRule, getAlertName } from './rule.ts';
import type { Labels } from './state.ts';
import type { QueryResultLookup } from './templates/queries.ts';

export interface PrometheusAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
  readonly activeAt: string;
  /** Number in Prometheus's scientific notation. */
  readonly value: string;
}

const states: Readonly<Record<string, 'pending' | 'firing' | undefined>> = {
  pending: 'pending',
  firing: 'firing',
  recovering: 'firing',
};

const formatFloat = (value: number | null): string => {
  if (value === null) return 'NaN';
  const [digits = '0', exponent = '+0'] = value.toExponential().split('e');
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
};

/** Returns pending and firing alerts of the given rules. */
export const toPrometheusAlerts = (
  rules: ReadonlyMap<string, AlertRule>,
  alerts: readonly ActiveAlert[],
  queried: QueryResultLookup,
): PrometheusAlert[] =>
  alerts.flatMap(({ ruleId, labels, severity, value, sinceMs, evaluatedMs, state }) => {
    const rule = rules.get(ruleId);
    const prometheusState = states[state];
    if (rule === undefined || prometheusState === undefined) return [];
    const values = { labels, value, severity: severity ?? 'info', atMs: evaluatedMs };
    return [
      {
        labels: alertLabels(rule, values),
        annotations: alertAnnotations(rule, values, queried),
        state: prometheusState,
        activeAt: new Date(sinceMs ?? 0).toISOString(),
        value: formatFloat(value),
      },
    ];
  });

/** A rule's query as text: PromQL unchanged, other queries as JSON. */
const formatQueryText = ({ condition }: AlertRule): string => {
  if (condition.kind === 'composite') return condition.expression;
  return getPromql(condition.query) ?? JSON.stringify(condition.query);
};

/** Stored rules of both kinds. */
export interface StoredRules {
  readonly alerting: readonly AlertRule[];
  readonly recording: readonly (RecordingGroup & { readonly id: string })[];
}

/** A rule with the fields by which clients filter. Its state is queried by its ID. */
export interface ListedRule {
  readonly id: string;
  readonly type: 'alerting' | 'recording';
  readonly name: string;
  readonly labels: Labels;
  /** Group in a file. Rules without a file are grouped by interval. */
  readonly group: Pick<RecordingGroup, 'name' | 'file' | 'interval' | 'limit'>;
  readonly place: number;
  /** Undefined for a recording rule. */
  readonly alert: AlertRule | undefined;
  readonly query: string;
}

/** File name of rules without a file. */
const unnamedFile = 'alert-rules';

const toListedRule = (rule: AlertRule, index: number): ListedRule => {
  const { origin, interval, limit = 0 } = rule;
  const { group = `every ${interval}`, file = '', place = index } = origin ?? {};
  return {
    id: rule.id,
    type: 'alerting',
    name: getAlertName(rule),
    labels: rule.labels,
    alert: rule,
    place,
    group: { name: group, file: file || unnamedFile, interval, limit },
    query: formatQueryText(rule),
  };
};

/** Returns all rules individually. */
export const listedRules = ({ alerting, recording }: StoredRules): ListedRule[] => [
  ...recording.flatMap(({ id, name, file, interval, limit, rules }) =>
    rules.map(({ record, labels, expression, place }, index): ListedRule => {
      const group = { name, file: file || unnamedFile, interval, limit };
      return {
        id: recordingRuleId(id, index),
        type: 'recording',
        name: record,
        labels,
        query: expression,
        group,
        place: place ?? index,
        alert: undefined,
      };
    }),
  ),
  ...alerting.map(toListedRule),
];

/** Common fields of both kinds of rules. */
const getCommonFields = (lastState: ActiveAlert | undefined) => ({
  health: lastState === undefined ? ('unknown' as const) : lastState.error === '' ? ('ok' as const) : ('err' as const),
  ...(lastState !== undefined && lastState.error !== '' && { lastError: lastState.error }),
  evaluationTime: (lastState?.durationMs ?? 0) / 1000,
  lastEvaluation: new Date(lastState?.evaluatedMs ?? 0).toISOString(),
});

/** Converts a rule. `lastStates` contains the states of rules after their last evaluation, by ID (`readRuleStates`). */
const toPrometheusRule = (
  { id, alert, name, labels, query }: ListedRule,
  lastStates: ReadonlyMap<string, ActiveAlert>,
  alerts: readonly ActiveAlert[],
  queried: QueryResultLookup,
) => {
  const evaluationFields = getCommonFields(lastStates.get(id));
  if (alert === undefined) return { name, query, labels, ...evaluationFields, type: 'recording' as const };
  const ruleAlerts = toPrometheusAlerts(new Map([[id, alert]]), alerts, queried);
  return {
    state: getWorstState(ruleAlerts),
    name,
    query,
    duration: parseDurationMs(alert.for) / 1000,
    keepFiringFor: parseDurationMs(alert.keepFiringFor) / 1000,
    labels,
    annotations: alert.annotations,
    alerts: ruleAlerts,
    ...evaluationFields,
    type: 'alerting' as const,
  };
};

/** Returns the rules in the groups of their files, in file order. */
export const toPrometheusRules = (
  rules: readonly ListedRule[],
  lastStates: ReadonlyMap<string, ActiveAlert>,
  alerts: readonly ActiveAlert[],
  queried: QueryResultLookup,
) => {
  const byRule = Map.groupBy(alerts, ({ ruleId }) => ruleId);
  const groups = Map.groupBy(rules, ({ group: { file, name } }) => JSON.stringify([file, name]));
  return [...groups.values()].map((groupedRules) => {
    const groupRules = groupedRules
      .toSorted((left, right) => left.place - right.place)
      .map((rule) => toPrometheusRule(rule, lastStates, byRule.get(rule.id) ?? [], queried));
    const { name, file, interval, limit } = (groupedRules[0] as ListedRule).group;
    return {
      name,
      file,
      rules: groupRules,
      interval: parseDurationMs(interval) / 1000,
      limit,
      evaluationTime: groupRules.reduce((sum, { evaluationTime }) => sum + evaluationTime, 0),
      lastEvaluation:
        groupRules
          .map(({ lastEvaluation }) => lastEvaluation)
          .sort()
          .at(-1) ?? '',
    };
  });
};

const getWorstState = (alerts: readonly PrometheusAlert[]): 'firing' | 'pending' | 'inactive' => {
  if (alerts.some(({ state }) => state === 'firing')) return 'firing';
  return alerts.length > 0 ? 'pending' : 'inactive';
};
