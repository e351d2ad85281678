/** Alert rules of an SLO, generated from its `alerting` and evaluated like all other rules */

import { durationText, msOf } from '../alerts/durations.ts';
import { plain } from '../alerts/plain.ts';
import { AlertRuleFields } from '../alerts/rule.ts';
import { type BurnRule, defaultBurnRules, isReachable } from './burn-rules.ts';
import type { SloFields } from './document.ts';
import type { SloPolicyFields, SloPolicyStep } from './policy.ts';
import { asNumber, decimal, dividedBy, fraction } from './slices/fraction.ts';
import { objectiveOf } from './status.ts';

const dayMs = 86_400_000;
/** Approximate length of calendar periods for the rules, in days */
const daysOf = { day: 1, week: 7, month: 30, quarter: 90, year: 365 } as const;
/** Evaluation delay: slices of an SLO are measured within 12 s after they end, and stored seconds later */
const delay = '20s';

const severities = { page: 'critical', ticket: 'warning' } as const;

/** Returns the burn rate rules of an SLO: its own, or the defaults. Rates that cannot be reached are omitted. */
const burnRulesOf = (slo: SloFields): BurnRule[] => {
  const { alerting, calendar } = slo.query;
  const windowDays = calendar === undefined ? slo.windowDays : daysOf[calendar.period];
  const own = alerting.rules?.map(
    ({ severity, rate, long, short }): BurnRule => ({
      severity,
      rate: decimal(rate),
      longMs: msOf(long),
      shortMs: msOf(short),
    }),
  );
  return (own ?? defaultBurnRules(windowDays * dayMs)).filter((rule) => isReachable(rule, objectiveOf(slo)));
};

/** Routing labels must be valid label names of alerts. */
const labelsOf = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels)
      .filter(([name]) => name !== 'alertname')
      .map(([name, value]) => [name.replaceAll(/[^\w.]/g, '_'), value]),
  );

/** Returns labels of all alerts of an SLO. */
const labelsOfSlo = (id: string, slo: SloFields): Record<string, string> => ({
  slo: plain(slo.name),
  slo_id: id,
  ...(slo.service !== '' && { service: plain(slo.service) }),
  ...labelsOf(slo.query.alerting.labels),
});

const madeBy = 'Managed by an SLO. Change it in the SLO.';

/** Returns the burn rate rules. Windows are multiples of the slice, and at least one slice. */
const rulesOfRates = (id: string, slo: SloFields): AlertRuleFields[] => {
  const { alerting, minimumEvents } = slo.query;
  const sliceMs = msOf(slo.query.slice);
  const inSlices = (ms: number): string => durationText(Math.ceil(ms / sliceMs) * sliceMs);
  return burnRulesOf(slo).map(({ severity, rate, longMs, shortMs }, index) => {
    const [long, short] = [inSlices(longMs), inSlices(shortMs)];
    const burns = `burns at ${asNumber(rate)} in ${long} and ${short}`;
    return AlertRuleFields.parse({
      // Rule names are unique and limited in length, while SLO names may use the full length.
      name: `${slo.name.slice(0, 120)}: ${burns} (${id}, ${index + 1})`,
      alertName: `${slo.name.slice(0, 200)} burns its error budget`,
      description: madeBy,
      enabled: slo.enabled && alerting.enabled,
      condition: {
        kind: 'threshold',
        query: { kind: 'slo', sloId: id, figure: 'burn-rate', windows: [long, short] },
        window: long,
        thresholds: [{ severity: severities[severity], operator: 'at-least', value: asNumber(rate) }],
      },
      delay,
      minimumEvents,
      labels: { burn: severity, ...labelsOfSlo(id, slo), ...labelsOf(alerting.severityLabels?.[severity] ?? {}) },
      annotations: {
        summary: `${plain(slo.name)} consumes its error budget {{ $value | humanize }} times faster than allowed`,
        ...labelsOf(alerting.annotations),
      },
    });
  });
};

/**
 * Returns the rule of a policy step. It is used for routing and requires no minimum number of events, because a budget
 * covers all events.
 */
const ruleOfStep = (id: string, slo: SloFields, step: SloPolicyStep, place: number): AlertRuleFields => {
  const { name, severity, labels, budgetRemainingBelow, burnRate, window = '5m' } = step;
  const isOfBudget = budgetRemainingBelow !== undefined;
  return AlertRuleFields.parse({
    name: `${slo.name.slice(0, 100)}: ${name} (${id}, policy ${place})`,
    alertName: `${slo.name.slice(0, 180)}: ${name}`,
    description: madeBy,
    enabled: slo.enabled,
    condition: {
      kind: 'threshold',
      query: isOfBudget
        ? { kind: 'slo', sloId: id, figure: 'budget-left' }
        : { kind: 'slo', sloId: id, figure: 'burn-rate', windows: [window] },
      window,
      thresholds: [
        isOfBudget
          ? { severity, operator: 'below', value: asNumber(dividedBy(decimal(budgetRemainingBelow), fraction(100n))) }
          : { severity, operator: 'at-least', value: burnRate },
      ],
    },
    delay,
    minimumEvents: 1,
    labels: { policy_step: plain(name), ...labelsOfSlo(id, slo), ...labelsOf(labels) },
    annotations: {
      summary: isOfBudget
        ? `Less than ${budgetRemainingBelow} % of the error budget of ${plain(slo.name)} is left`
        : `${plain(slo.name)} burns its error budget {{ $value | humanize }} times faster than allowed`,
    },
  });
};

/** Returns the alert rules of an SLO and its policy, by id. */
export const alertRulesOf = (
  id: string,
  slo: SloFields,
  policy: SloPolicyFields = { steps: [] },
): readonly (readonly [ruleId: string, AlertRuleFields])[] => [
  ...rulesOfRates(id, slo).map((rule, index) => [`${id}-${index + 1}`, rule] as const),
  ...policy.steps.map((step, index) => [`${id}-policy-${index + 1}`, ruleOfStep(id, slo, step, index + 1)] as const),
];
