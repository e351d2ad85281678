/** Alert rules of an SLO, generated from its `alerting` and evaluated like all other rules */

import { formatDuration, parseDurationMs } from '../alerts/durations.ts';
import { escapeTemplate } from '../alerts/escape-template.ts';
import { AlertRuleFields } from '../alerts/rule.ts';
import { type BurnRule, createDefaultBurnRules, isReachable } from './burn-rules.ts';
import type { SloFields } from './document.ts';
import type { SloPolicyFields, SloPolicyStep } from './policy.ts';
import { createFraction, decimalToFraction, divide, fractionToNumber } from './slices/fraction.ts';
import { getObjective } from './status.ts';

const dayMs = 86_400_000;
/** Approximate length of calendar periods for the rules, in days */
const approximateDays = { day: 1, week: 7, month: 30, quarter: 90, year: 365 } as const;
/** Evaluation delay: slices of an SLO are measured within 12 seconds after they end, and stored a few seconds later */
const evaluationDelay = '20s';

const severities = { page: 'critical', ticket: 'warning' } as const;

/** Returns the burn rate rules of an SLO: its own, or the defaults. Rates that cannot be reached are omitted. */
const selectBurnRules = (slo: SloFields): BurnRule[] => {
  const { alerting, calendar } = slo.query;
  const windowDays = calendar === undefined ? slo.windowDays : approximateDays[calendar.period];
  const configuredRules = alerting.rules?.map(
    ({ severity, rate, long, short }): BurnRule => ({
      severity,
      rate: decimalToFraction(rate),
      longMs: parseDurationMs(long),
      shortMs: parseDurationMs(short),
    }),
  );
  return (configuredRules ?? createDefaultBurnRules(windowDays * dayMs)).filter((rule) =>
    isReachable(rule, getObjective(slo)),
  );
};

/** Routing labels must be valid label names of alerts. */
const toAlertLabels = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels)
      .filter(([name]) => name !== 'alertname')
      .map(([name, value]) => [name.replaceAll(/[^\w.]/g, '_'), value]),
  );

/** Returns labels of all alerts of an SLO. */
const createSloLabels = (id: string, slo: SloFields): Record<string, string> => ({
  slo: escapeTemplate(slo.name),
  slo_id: id,
  ...(slo.service !== '' && { service: escapeTemplate(slo.service) }),
  ...toAlertLabels(slo.query.alerting.labels),
});

const managedRuleDescription = 'Managed by an SLO. Change it in the SLO.';

/** Returns the burn rate rules. Windows are multiples of the slice, and at least one slice. */
const createBurnRateRules = (id: string, slo: SloFields): AlertRuleFields[] => {
  const { alerting, minimumEvents } = slo.query;
  const sliceMs = parseDurationMs(slo.query.slice);
  const roundToSlices = (ms: number): string => formatDuration(Math.ceil(ms / sliceMs) * sliceMs);
  return selectBurnRules(slo).map(({ severity, rate, longMs, shortMs }, index) => {
    const [long, short] = [roundToSlices(longMs), roundToSlices(shortMs)];
    const burnDescription = `burns at ${fractionToNumber(rate)} in ${long} and ${short}`;
    return AlertRuleFields.parse({
      // Rule names are unique and limited in length, while SLO names may use the full length.
      name: `${slo.name.slice(0, 120)}: ${burnDescription} (${id}, ${index + 1})`,
      alertName: `${slo.name.slice(0, 200)} burns its error budget`,
      description: managedRuleDescription,
      enabled: slo.enabled && alerting.enabled,
      condition: {
        kind: 'threshold',
        query: { kind: 'slo', sloId: id, figure: 'burn-rate', windows: [long, short] },
        window: long,
        thresholds: [{ severity: severities[severity], operator: 'at-least', value: fractionToNumber(rate) }],
      },
      delay: evaluationDelay,
      minimumEvents,
      labels: {
        burn: severity,
        ...createSloLabels(id, slo),
        ...toAlertLabels(alerting.severityLabels?.[severity] ?? {}),
      },
      annotations: {
        summary: `${escapeTemplate(slo.name)} consumes its error budget {{ $value | humanize }} times faster than allowed`,
        ...toAlertLabels(alerting.annotations),
      },
    });
  });
};

/**
 * Returns the rule of a policy step. It is used for routing and requires no minimum number of events, because a budget
 * covers all events.
 */
const createPolicyRule = (id: string, slo: SloFields, step: SloPolicyStep, stepNumber: number): AlertRuleFields => {
  const { name, severity, labels, budgetRemainingBelow, burnRate, window = '5m' } = step;
  const isBudgetStep = budgetRemainingBelow !== undefined;
  return AlertRuleFields.parse({
    name: `${slo.name.slice(0, 100)}: ${name} (${id}, policy ${stepNumber})`,
    alertName: `${slo.name.slice(0, 180)}: ${name}`,
    description: managedRuleDescription,
    enabled: slo.enabled,
    condition: {
      kind: 'threshold',
      query: isBudgetStep
        ? { kind: 'slo', sloId: id, figure: 'budget-left' }
        : { kind: 'slo', sloId: id, figure: 'burn-rate', windows: [window] },
      window,
      thresholds: [
        isBudgetStep
          ? {
              severity,
              operator: 'below',
              value: fractionToNumber(divide(decimalToFraction(budgetRemainingBelow), createFraction(100n))),
            }
          : { severity, operator: 'at-least', value: burnRate },
      ],
    },
    delay: evaluationDelay,
    minimumEvents: 1,
    labels: { policy_step: escapeTemplate(name), ...createSloLabels(id, slo), ...toAlertLabels(labels) },
    annotations: {
      summary: isBudgetStep
        ? `Less than ${budgetRemainingBelow} % of the error budget of ${escapeTemplate(slo.name)} is left`
        : `${escapeTemplate(slo.name)} burns its error budget {{ $value | humanize }} times faster than allowed`,
    },
  });
};

/** Returns the alert rules of an SLO and its policy, by id. */
export const createAlertRules = (
  id: string,
  slo: SloFields,
  policy: SloPolicyFields = { steps: [] },
): readonly (readonly [ruleId: string, AlertRuleFields])[] => [
  ...createBurnRateRules(id, slo).map((rule, index) => [`${id}-${index + 1}`, rule] as const),
  ...policy.steps.map(
    (step, index) => [`${id}-policy-${index + 1}`, createPolicyRule(id, slo, step, index + 1)] as const,
  ),
];
