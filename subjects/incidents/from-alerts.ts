/**
 * Determines how an incident changes when its group of alerts sends a notification. Pure, so a repeated notification
 * changes nothing.
 */
import { hashOf } from '../../runtime/hash-of.ts';
import { type AlertSeverity, alertSeverities } from '../../schemas/alerts.ts';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { EscalationPolicy } from '../../schemas/resources/escalation-policy.ts';
import { type Incident, IncidentFields } from '../../schemas/resources/incident.ts';
import { moved, untouched } from './state.ts';

const maxAlerts = 1000;
const maxServices = 100;
const maxRules = 100;

/** Returns the group of a notification. */
export const groupIdOf = ({ receiver, groupKey }: Pick<Notification, 'receiver' | 'groupKey'>): string =>
  hashOf(receiver, groupKey);

const firingOf = ({ alerts }: Notification): readonly NotifiedAlert[] =>
  alerts.filter(({ status, isTest }) => status === 'firing' && isTest !== true);

const firstMs = (alerts: readonly NotifiedAlert[]): number =>
  alerts.reduce((first, { startsAtMs }) => Math.min(first, startsAtMs), Number.POSITIVE_INFINITY);

const rankOf = (severity: string | undefined): number => alertSeverities.indexOf(severity as AlertSeverity);

/** Returns the highest severity of the alerts, at least `minSeverity`. */
const severest = (alerts: readonly NotifiedAlert[], minSeverity: AlertSeverity): AlertSeverity =>
  alerts.reduce<AlertSeverity>((highest, { labels: { severity } }) => {
    const rank = rankOf(severity);
    return rank > rankOf(highest) ? (alertSeverities[rank] ?? highest) : highest;
  }, minSeverity);

const serviceOf = ({ labels }: NotifiedAlert): string =>
  (labels['service'] ?? labels['service.name'] ?? labels['service_name'] ?? '').slice(0, 256);

/** Returns the incident with the new alerts added; unchanged if it has all of them. */
const withAlerts = (incident: Incident, alerts: readonly NotifiedAlert[]): Incident => {
  const known = new Set(incident.alertIds);
  const others = alerts.filter(({ alertId }) => !known.has(alertId));
  if (others.length === 0) return incident;
  const services = new Set([...incident.services, ...others.map(serviceOf).filter((name) => name !== '')]);
  return {
    ...incident,
    alertIds: [...incident.alertIds, ...others.map(({ alertId }) => alertId)].slice(0, maxAlerts),
    services: [...services].slice(0, maxServices),
    ruleIds: [...new Set([...(incident.ruleIds ?? []), ...others.map(({ ruleId }) => ruleId)])].slice(0, maxRules),
    severity: severest(others, incident.severity),
  };
};

const titleOf = ({ commonLabels, groupLabels }: Notification): string => {
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
const opened = (
  notification: Notification,
  openers: readonly NotifiedAlert[],
  before?: string,
): Incident & { readonly id: string } => {
  const id = hashOf(groupIdOf(notification), firstMs(openers), before);
  const alerts = firingOf(notification);
  const fields = IncidentFields.parse({ title: titleOf(notification), severity: 'info' });
  const openedAt = new Date(notification.atMs).toISOString();
  const { escalationPolicyId = null } = notification;
  const made = withAlerts(
    {
      ...fields,
      ...untouched,
      openedBy: '',
      openedAt,
      groupId: groupIdOf(notification),
      escalationPolicyId,
      escalatesAt: escalationPolicyId === null ? null : openedAt,
      severity: severest(alerts, alerts.some(({ labels }) => rankOf(labels['severity']) >= 0) ? 'info' : 'error'),
    },
    alerts,
  );
  return { ...made, id };
};

/**
 * Returns the incident to write, or nothing. The incident is new, or is the last one of its group with more alerts or
 * reopened. Alerts that began to fire before the incident was resolved do not reopen it. The policy specifies the
 * period for reopening.
 */
export const planIncidentChange = (
  latest: (Incident & Stored) | undefined,
  notification: Notification,
  { reopenWithinMinutes }: Pick<EscalationPolicy, 'reopenWithinMinutes'>,
): { readonly opens: Incident & { readonly id: string } } | { readonly becomes: Incident } | undefined => {
  const firing = firingOf(notification);
  if (firing.length === 0) return undefined;
  if (latest === undefined) return { opens: opened(notification, firing) };
  // A redelivered notification that is older than the incident.
  if (notification.atMs < Date.parse(latest.openedAt)) return undefined;
  const { resolvedAt } = latest;
  if (resolvedAt === null) {
    const becomes = withAlerts(latest, firing);
    return becomes === latest ? undefined : { becomes };
  }
  const known = new Set(latest.alertIds);
  const later = firing.filter(({ alertId, startsAtMs }) => startsAtMs > Date.parse(resolvedAt) || !known.has(alertId));
  if (later.length === 0) return undefined;
  if (notification.atMs - Date.parse(resolvedAt) > reopenWithinMinutes * 60_000)
    return { opens: opened(notification, later, latest.id) };
  const again = moved<Incident>(latest, 'open', { by: '', at: new Date(notification.atMs).toISOString() });
  return again === undefined ? undefined : { becomes: withAlerts(again, firing) };
};
