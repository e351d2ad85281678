/** The alert rule of a check: the one evaluator evaluates it like all others. */
import { aloneValue, stateValues } from '../../queries/checks/run-check.ts';
import { type AlertSeverity, alertSeverities } from '../../schemas/alerts.ts';
import { plain } from '../alerts/plain.ts';
import { AlertRuleFields } from '../alerts/rule.ts';
import { type CheckFields, votingLocations } from './check.ts';
import { alertLabelsOf } from './downtimes.ts';

/**
 * Rules come due every five seconds, between two judgements, of which the last one has landed by then: so a failure is told 7.5 seconds
 * after its result has landed, at most.
 */
const interval = '5s';
const delay = '2s';
/** A location that left the check, or whose results stay away: its alert ends. */
const forgetAfter = '15m';

/** What is less than down: a warning, or what is one below. */
const lowerThan = (severity: AlertSeverity): AlertSeverity =>
  alertSeverities[Math.max(0, Math.min(alertSeverities.indexOf(severity), 2) - 1)] ?? 'info';

const plainTexts = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, plain(text)]));

/** Where runs of a check are read. */
export const runsPath = (checkId: string): string => `/api/synthetics/checks/${encodeURIComponent(checkId)}/runs`;

/** The alert rule of a check: of its state, and of locations that go on failing below the consensus. */
export const alertRuleOf = (id: string, check: CheckFields): AlertRuleFields => {
  const { severity, enabled } = check.alerting;
  const name = plain(check.name);
  return AlertRuleFields.parse({
    // Names of rules are unique, and those of checks may be as long.
    name: `${check.name.slice(0, 180)}: synthetic check (${id})`,
    alertName: `${check.name.slice(0, 200)} fails`,
    description: 'Made by a synthetic check, and changed through it alone.',
    projectId: check.projectId,
    enabled: check.enabled && enabled && votingLocations(check).length > 0,
    condition: {
      kind: 'threshold',
      query: { kind: 'check', checkId: id },
      window: '1m',
      thresholds: [
        { severity, operator: 'at-least', value: stateValues.down },
        { severity: lowerThan(severity), operator: 'at-least', value: stateValues.degraded },
        { severity: lowerThan(severity), operator: 'at-least', value: aloneValue },
      ],
    },
    interval,
    delay,
    forgetAfter,
    labels: plainTexts(alertLabelsOf({ id, ...check })),
    annotations: {
      summary: `${name} {{ if $labels.location }}fails at one location{{ else if ge $value ${stateValues.down}.0 }}is down{{ else }}is degraded{{ end }}`,
      runs: runsPath(id),
    },
  });
};
