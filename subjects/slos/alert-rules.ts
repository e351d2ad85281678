/** Alert rules of an objective: those that its `alerting` says, as they are evaluated like all others. */
import { asNumber, decimal } from '../../queries/slos/fraction.ts';
import { durationText, msOf } from '../alerts/durations.ts';
import { AlertRuleFields } from '../alerts/rule.ts';
import { type BurnRule, isReachable, usualBurnRules } from './burn-rules.ts';
import type { SloFields } from './document.ts';
import { objectiveOf } from './status.ts';

const dayMs = 86_400_000;
/** How long a period of a calendar is for the rules: about. */
const daysOf = { day: 1, week: 7, month: 30, quarter: 90, year: 365 } as const;
/** Slices of an objective are measured within 12 s after they ended, and land seconds later. */
const delay = '20s';

const severities = { page: 'critical', ticket: 'warning' } as const;

/** The rules of burn rates that an objective has: its own, or the usual ones. What can never burn so fast is left out. */
const burnRulesOf = (slo: SloFields): BurnRule[] => {
  const { alerting, calendar } = slo.query;
  const windowDays = calendar === undefined ? slo.windowDays : daysOf[calendar.period];
  const own = alerting.rules?.map(
    ({ severity, rate, long, short }): BurnRule => ({
      ...{ severity, rate: decimal(rate) },
      ...{ longMs: msOf(long), shortMs: msOf(short) },
    }),
  );
  return (own ?? usualBurnRules(windowDays * dayMs)).filter((rule) => isReachable(rule, objectiveOf(slo)));
};

/** Labels and annotations are templates: a name is none. */
const plain = (text: string): string => text.replaceAll('{{', '{{ "{{" }}');

/** Labels of routing have names of alerts. */
const labelsOf = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels)
      .filter(([name]) => name !== 'alertname')
      .map(([name, value]) => [name.replaceAll(/[^\w.]/g, '_'), value]),
  );

/** The alert rules of an objective. Windows are whole slices, and so no shorter than one. */
export const alertRulesOf = (id: string, slo: SloFields): AlertRuleFields[] => {
  const { alerting, minimumEvents } = slo.query;
  const sliceMs = msOf(slo.query.slice);
  const inSlices = (ms: number): string => durationText(Math.ceil(ms / sliceMs) * sliceMs);
  return burnRulesOf(slo).map(({ severity, rate, longMs, shortMs }, index) => {
    const [long, short] = [inSlices(longMs), inSlices(shortMs)];
    const burns = `burns at ${asNumber(rate)} in ${long} and ${short}`;
    return AlertRuleFields.parse({
      // Names of rules are unique, and those of objectives may be as long.
      name: `${slo.name.slice(0, 120)}: ${burns} (${id}, ${index + 1})`,
      alertName: `${slo.name.slice(0, 200)} burns its error budget`,
      description: 'Made by a service level objective, and changed through it alone.',
      enabled: slo.enabled && alerting.enabled,
      condition: {
        kind: 'threshold',
        query: { kind: 'slo', sloId: id, figure: 'burn-rate', windows: [long, short] },
        window: long,
        thresholds: [{ severity: severities[severity], operator: 'at-least', value: asNumber(rate) }],
      },
      delay,
      minimumEvents,
      labels: {
        ...{ slo: plain(slo.name), slo_id: id, burn: severity },
        ...(slo.service !== '' && { service: plain(slo.service) }),
        ...labelsOf(alerting.labels),
      },
      annotations: {
        summary: `${plain(slo.name)} spends its error budget {{ $value | humanize }} times faster than it may`,
        ...labelsOf(alerting.annotations),
      },
    });
  });
};
