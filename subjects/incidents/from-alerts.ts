/**
 * Determines how an incident changes when its group of alerts sends a notification. Pure, so a repeated notification
 * changes nothing.
 */
import { computeHashId } from '../../runtime/hash-of.ts';
import { type AlertSeverity, alertSeverities } from '../../schemas/alerts.ts';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { EscalationPolicy } from '../../schemas/resources/escalation-policy.ts';
import { type Incident, IncidentFields } from '../../schemas/resources/incident.ts';
import { changeState, initialFields } from './state.ts';

const maxAlerts = 1000;
const maxServices = 100;
const maxRules = 100;

/** Returns the group of a notification. */
export const notificationGroupId = ({ receiver, groupKey }: Pick<Notification, 'receiver' | 'groupKey'>): string =>
  computeHashId(receiver, groupKey);

const firingAlerts = ({ alerts }: Notification): readonly NotifiedAlert[] =>
  alerts.filter(({ status, isTest }) => status === 'firing' && isTest !== true);

const earliestStartMs = (alerts: readonly NotifiedAlert[]): number =>
  alerts.reduce((first, { startsAtMs }) => Math.min(first, startsAtMs), Number.POSITIVE_INFINITY);

const severityRank = (severity: string | undefined): number => alertSeverities.indexOf(severity as AlertSeverity);

/** Returns the highest severity of the alerts, at least `minSeverity`. */
const highestSeverity = (alerts: readonly NotifiedAlert[], minSeverity: AlertSeverity): AlertSeverity =>
  alerts.reduce<AlertSeverity>((highest, { labels: { severity } }) => {
    const rank = severityRank(severity);
    return rank > severityRank(highest) ? (alertSeverities[rank] ?? highest) : highest;
  }, minSeverity);

const alertService = ({ labels }: NotifiedAlert): string =>
  (labels['service'] ?? labels['service.name'] ?? labels['service_name'] ?? '').slice(0, 256);

/** Returns the incident with the new alerts added; unchanged if it has all of them. */
const addAlerts = (incident: Incident, alerts: readonly NotifiedAlert[]): Incident => {
  const known = new Set(incident.alertIds);
  const others = alerts.filter(({ alertId }) => !known.has(alertId));
  if (others.length === 0) return incident;
  const services = new Set([...incident.services, ...others.map(alertService).filter((name) => name !== '')]);
  return {
    ...incident,
    alertIds: [...incident.alertIds, ...others.map(({ alertId }) => alertId)].slice(0, maxAlerts),
    services: [...services].slice(0, maxServices),
    ruleIds: [...new Set([...(incident.ruleIds ?? []), ...others.map(({ ruleId }) => ruleId)])].slice(0, maxRules),
    severity: highestSeverity(others, incident.severity),
  };
};

const createTitle = ({ commonLabels, groupLabels }: Notification): string => {
  const { alertname = 'Alerts' } = commonLabels;
  const others = Object.entries(groupLabels)
    .filter(([name, value]) => name !== 'alertname' && value !== '')
    .map(([name, value]) => `${name}=${value}`);
  return `${alertname}${others.length > 0 ? ` (${others.join(', ')})` : ''}`.slice(0, 256).toWellFormed();
};

/**
 * Returns a new incident with all firing alerts. Its id is derived from the group, the first alert that opens it, and
 * the group's previous incident, so a repeated notification opens no second incident.
 */
const openIncident = (
  notification: Notification,
  openers: readonly NotifiedAlert[],
  before?: string,
): Incident & { readonly id: string } => {
  const id = computeHashId(notificationGroupId(notification), earliestStartMs(openers), before);
  const alerts = firingAlerts(notification);
  const fields = IncidentFields.parse({ title: createTitle(notification), severity: 'info' });
  const openedAt = new Date(notification.atMs).toISOString();
  const { escalationPolicyId = null } = notification;
  const incident = addAlerts(
    {
      ...fields,
      ...initialFields,
      openedBy: '',
      openedAt,
      groupId: notificationGroupId(notification),
      escalationPolicyId,
      escalatesAt: escalationPolicyId === null ? null : openedAt,
      severity: highestSeverity(
        alerts,
        alerts.some(({ labels }) => severityRank(labels['severity']) >= 0) ? 'info' : 'error',
      ),
    },
    alerts,
  );
  return { ...incident, id };
};

/**
 * Returns the incident to write, or nothing. The incident is new, or is the last one of its group with more alerts or
 * reopened. Alerts that began to fire before the incident was resolved do not reopen it. The policy specifies the
 * period for reopening.
 */
export const planIncidentChange = (
  latest: (Incident & StoredMetadata) | undefined,
  notification: Notification,
  { reopenWithinMinutes }: Pick<EscalationPolicy, 'reopenWithinMinutes'>,
): { readonly opens: Incident & { readonly id: string } } | { readonly becomes: Incident } | undefined => {
  const firing = firingAlerts(notification);
  if (firing.length === 0) return undefined;
  if (latest === undefined) return { opens: openIncident(notification, firing) };
  // A redelivered notification that is older than the incident.
  if (notification.atMs < Date.parse(latest.openedAt)) return undefined;
  const { resolvedAt } = latest;
  if (resolvedAt === null) {
    const becomes = addAlerts(latest, firing);
    return becomes === latest ? undefined : { becomes };
  }
  const known = new Set(latest.alertIds);
  const later = firing.filter(({ alertId, startsAtMs }) => startsAtMs > Date.parse(resolvedAt) || !known.has(alertId));
  if (later.length === 0) return undefined;
  if (notification.atMs - Date.parse(resolvedAt) > reopenWithinMinutes * 60_000)
    return { opens: openIncident(notification, later, latest.id) };
  const reopened = changeState<Incident>(latest, 'open', { by: '', at: new Date(notification.atMs).toISOString() });
  return reopened === undefined ? undefined : { becomes: addAlerts(reopened, firing) };
};
