/** Alert rule of a check, evaluated by the same evaluator as all other rules */

import { type AlertSeverity, alertSeverities } from '../../schemas/alerts.ts';
import { escapeTemplate } from '../alerts/escape-template.ts';
import { AlertRuleFields } from '../alerts/rule.ts';
import { type CheckFields, getVotingLocations } from './check.ts';
import { createAlertLabels } from './downtimes.ts';
import { failsAloneValue, stateValues } from './run-check.ts';

/**
 * Evaluation interval. Rules are evaluated between two evaluations of the check state, when the last state is
 * already stored. A failure is reported at most 7.5 seconds after its result is stored.
 */
const evaluationInterval = '5s';
const evaluationDelay = '2s';
/** Time after which an alert ends if its location was removed from the check or sends no results */
const forgetAfter = '15m';

/** Returns a lower severity than that of a down check: warning, or one level below. */
const getLowerSeverity = (severity: AlertSeverity): AlertSeverity =>
  alertSeverities[Math.max(0, Math.min(alertSeverities.indexOf(severity), 2) - 1)] ?? 'info';

const escapeTemplates = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, escapeTemplate(text)]));

/** Returns the path of the runs of a check. */
export const createRunsPath = (checkId: string): string => `/api/synthetics/checks/${encodeURIComponent(checkId)}/runs`;

/** Returns the alert rule of a check: for its state, and for single locations that keep failing without a consensus. */
export const createAlertRule = (id: string, check: CheckFields): AlertRuleFields => {
  const { severity, enabled } = check.alerting;
  const name = escapeTemplate(check.name);
  return AlertRuleFields.parse({
    // Rule names are unique and limited in length, while check names may use the full length.
    name: `${check.name.slice(0, 180)}: synthetic check (${id})`,
    alertName: `${check.name.slice(0, 200)} fails`,
    description: 'Created by a synthetic check and managed through it.',
    projectId: check.projectId,
    enabled: check.enabled && enabled && getVotingLocations(check).length > 0,
    condition: {
      kind: 'threshold',
      query: { kind: 'check', checkId: id },
      window: '1m',
      thresholds: [
        { severity, operator: 'at-least', value: stateValues.down },
        { severity: getLowerSeverity(severity), operator: 'at-least', value: stateValues.degraded },
        { severity: getLowerSeverity(severity), operator: 'at-least', value: failsAloneValue },
      ],
    },
    interval: evaluationInterval,
    delay: evaluationDelay,
    forgetAfter,
    labels: escapeTemplates(createAlertLabels({ id, ...check })),
    annotations: {
      summary: `${name} {{ if $labels.location }}fails at one location{{ else if ge $value ${stateValues.down}.0 }}is down{{ else }}is degraded{{ end }}`,
      runs: createRunsPath(id),
    },
  });
};
