/**
 * Determines how an incident changes when its group of alerts sends a notification. Pure, so a repeated notification
 * changes nothing.
 */
import { computeHashId } from '../../runtime/hash-id.ts';
import { type AlertSeverity, alertSeverities } from '../../schemas/alerts.ts';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { EscalationPolicy } from '../../schemas/resources/escalation-policy.ts';
import { type Incident, IncidentFields } from '../../schemas/resources/incident.ts';
import { changeState, initialFields } from './state.ts';

const maxAlerts = 1000;
const maxServices = 100;
const maxRules = 100;
const maxNotifiedAlerts = 5;
const maxTextLength = 1000;

/** Returns the group of a notification. */
export const getNotificationGroupId = ({ receiver, groupKey }: Pick<Notification, 'receiver' | 'groupKey'>): string =>
  computeHashId(receiver, groupKey);

const selectFiringAlerts = ({ alerts }: Notification): readonly NotifiedAlert[] =>
  alerts.filter(({ status, isTest }) => status === 'firing' && isTest !== true);

const findEarliestStartMs = (alerts: readonly NotifiedAlert[]): number =>
  alerts.reduce((first, { startsAtMs }) => Math.min(first, startsAtMs), Number.POSITIVE_INFINITY);

const getSeverityRank = (severity: string | undefined): number => alertSeverities.indexOf(severity as AlertSeverity);

/** Returns the highest severity of the alerts, at least `minSeverity`. */
const findHighestSeverity = (alerts: readonly NotifiedAlert[], minSeverity: AlertSeverity): AlertSeverity =>
  alerts.reduce<AlertSeverity>((highest, { labels: { severity } }) => {
    const rank = getSeverityRank(severity);
    return rank > getSeverityRank(highest) ? (alertSeverities[rank] ?? highest) : highest;
  }, minSeverity);

const getAlertService = ({ labels }: NotifiedAlert): string =>
  (labels['service'] ?? labels['service.name'] ?? labels['service_name'] ?? '').slice(0, 256);

/** Annotations that pages contain */
const pageAnnotations = ['summary', 'description', 'runbook_url', 'runs'];

/** Returns an alert with what its pages contain. */
const toPagedAlert = ({ annotations, reason, ...alert }: NotifiedAlert): NotifiedAlert => ({
  ...alert,
  annotations: Object.fromEntries(
    pageAnnotations.flatMap((name) => {
      const text = annotations[name];
      return text === undefined ? [] : [[name, text.slice(0, maxTextLength).toWellFormed()]];
    }),
  ),
  ...(reason !== undefined && { reason: reason.slice(0, maxTextLength).toWellFormed() }),
});

/** Returns the incident with the new alerts added; unchanged if it has all of them. */
const addAlerts = (incident: Incident, alerts: readonly NotifiedAlert[]): Incident => {
  const knownAlertIds = new Set(incident.alertIds);
  const newAlerts = alerts.filter(({ alertId }) => !knownAlertIds.has(alertId));
  if (newAlerts.length === 0) return incident;
  const services = new Set([...incident.services, ...newAlerts.map(getAlertService).filter((name) => name !== '')]);
  return {
    ...incident,
    alertIds: [...incident.alertIds, ...newAlerts.map(({ alertId }) => alertId)].slice(0, maxAlerts),
    services: [...services].slice(0, maxServices),
    ruleIds: [...new Set([...(incident.ruleIds ?? []), ...newAlerts.map(({ ruleId }) => ruleId)])].slice(0, maxRules),
    notifiedAlerts: [...(incident.notifiedAlerts ?? []), ...newAlerts.map(toPagedAlert)].slice(0, maxNotifiedAlerts),
    severity: findHighestSeverity(newAlerts, incident.severity),
  };
};

const createTitle = ({ commonLabels, groupLabels }: Notification): string => {
  const { alertname = 'Alerts' } = commonLabels;
  const otherLabels = Object.entries(groupLabels)
    .filter(([name, value]) => name !== 'alertname' && value !== '')
    .map(([name, value]) => `${name}=${value}`);
  return `${alertname}${otherLabels.length > 0 ? ` (${otherLabels.join(', ')})` : ''}`.slice(0, 256).toWellFormed();
};

/**
 * Returns a new incident with all firing alerts. Its id is derived from the group, the first alert that opens it, and
 * the group's previous incident, so a repeated notification opens no second incident.
 */
const openIncident = (
  notification: Notification,
  openingAlerts: readonly NotifiedAlert[],
  previousIncidentId?: string,
): Incident & { readonly id: string } => {
  const id = computeHashId(
    getNotificationGroupId(notification),
    findEarliestStartMs(openingAlerts),
    previousIncidentId,
  );
  const alerts = selectFiringAlerts(notification);
  const fields = IncidentFields.parse({ title: createTitle(notification), severity: 'info' });
  const openedAt = new Date(notification.atMs).toISOString();
  const { escalationPolicyId = null } = notification;
  const incident = addAlerts(
    {
      ...fields,
      ...initialFields,
      openedBy: '',
      openedAt,
      groupId: getNotificationGroupId(notification),
      escalationPolicyId,
      escalatesAt: escalationPolicyId === null ? null : openedAt,
      severity: findHighestSeverity(
        alerts,
        alerts.some(({ labels }) => getSeverityRank(labels['severity']) >= 0) ? 'info' : 'error',
      ),
    },
    alerts,
  );
  return { ...incident, id };
};

/**
 * Returns the incident with the escalation policy that its receiver got while the alerts that opened it still fire. A
 * policy that a person chose for the incident stays: only the first notification with a policy counts.
 */
const replacePolicy = (
  incident: Incident,
  firing: readonly NotifiedAlert[],
  { reason, escalationPolicyId, atMs, ...group }: Notification,
): Incident => {
  const openedMs = Date.parse(incident.reopenedAt ?? incident.openedAt);
  const isLater = atMs > openedMs && firing.some(({ startsAtMs }) => startsAtMs <= openedMs);
  const isOfGroup = incident.groupId === getNotificationGroupId(group);
  const isReplaced = reason === 'first' && isLater && isOfGroup;
  if (!isReplaced || escalationPolicyId === undefined || incident.escalationPolicyId === escalationPolicyId)
    return incident;
  return { ...incident, escalationPolicyId, escalatesAt: new Date(atMs).toISOString() };
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
  const firing = selectFiringAlerts(notification);
  if (firing.length === 0) return undefined;
  if (latest === undefined) return { opens: openIncident(notification, firing) };
  // A redelivered notification that is older than the incident.
  if (notification.atMs < Date.parse(latest.openedAt)) return undefined;
  const { resolvedAt } = latest;
  if (resolvedAt === null) {
    const becomes = replacePolicy(addAlerts(latest, firing), firing, notification);
    return becomes === latest ? undefined : { becomes };
  }
  const knownAlertIds = new Set(latest.alertIds);
  const laterAlerts = firing.filter(
    ({ alertId, startsAtMs }) => startsAtMs > Date.parse(resolvedAt) || !knownAlertIds.has(alertId),
  );
  if (laterAlerts.length === 0) return undefined;
  if (notification.atMs - Date.parse(resolvedAt) > reopenWithinMinutes * 60_000)
    return { opens: openIncident(notification, laterAlerts, latest.id) };
  const reopened = changeState<Incident>(latest, 'open', { by: '', at: new Date(notification.atMs).toISOString() });
  return reopened === undefined ? undefined : { becomes: addAlerts(reopened, firing) };
};
