/** The targets of a group's notifications, and one notification for each, small enough for a message of the bus. */
import { createHash } from 'node:crypto';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import type { AlertRouting } from '../../schemas/resources/alert-routing.ts';
import { failingChannelLabel } from '../../subjects/alerts/platform-alerts.ts';
import type { GroupAlert, GroupNotification } from './flush.ts';
import type { Group } from './state.ts';

type Texts = Readonly<Record<string, string>>;

/** Maximum number of alerts in a notification; omitted ones are counted. */
const maxAlerts = 1000;
const maxBytes = 600 * 1024;

const findCommonEntries = (texts: readonly Texts[]): Texts => {
  const [first = {}, ...others] = texts;
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((entries) => entries[name] === value)),
  );
};

const limitAlerts = (alerts: readonly NotifiedAlert[]): readonly NotifiedAlert[] => {
  let bytes = 0;
  const cutoff = alerts.findIndex((alert, index) => {
    bytes += Buffer.byteLength(JSON.stringify(alert));
    return index > 0 && (index >= maxAlerts || bytes > maxBytes);
  });
  return cutoff < 0 ? alerts : alerts.slice(0, cutoff);
};

/** Returns the working channels of the receiver; if all fail, all other channels in the document. */
const selectChannels = (
  { receivers }: Pick<AlertRouting, 'receivers'>,
  receiver: string,
  failing: ReadonlySet<string>,
): string[] => {
  const isWorking = (id: string): boolean => !failing.has(id);
  const workingChannels = (receivers.find(({ name }) => name === receiver)?.channelIds ?? []).filter(isWorking);
  if (workingChannels.length > 0 || failing.size === 0) return workingChannels;
  return receivers.flatMap(({ channelIds }) => channelIds).filter(isWorking);
};

const policyPrefix = 'escalation-policy/';

/**
 * Returns the targets of a notification of a group about these alerts: the ids of its channels, and
 * `escalation-policy/ID` if the receiver has an escalation policy, which opens an incident while alerts fire.
 */
export const selectTargets = (
  { receivers }: Pick<AlertRouting, 'receivers'>,
  { receiver, isTest }: Pick<Group, 'receiver' | 'isTest'>,
  alerts: readonly Pick<GroupAlert, 'alert'>[],
): readonly string[] => {
  const failing = new Set(alerts.flatMap(({ alert }) => alert.labels[failingChannelLabel] ?? []));
  const { escalationPolicyId } = receivers.find(({ name }) => name === receiver) ?? {};
  const hasFiring = alerts.some(({ alert }) => alert.status === 'firing');
  const opensIncident = escalationPolicyId !== undefined && hasFiring && !isTest;
  return [
    ...new Set(selectChannels({ receivers }, receiver, failing)),
    ...(opensIncident ? [`${policyPrefix}${escalationPolicyId}`] : []),
  ];
};

const toDestination = (target: string): Pick<Notification, 'channelId' | 'escalationPolicyId'> =>
  target.startsWith(policyPrefix)
    ? { channelId: '', escalationPolicyId: target.slice(policyPrefix.length) }
    : { channelId: target };

type NotificationContent = Pick<
  Notification,
  'commonLabels' | 'commonAnnotations' | 'status' | 'alerts' | 'firing' | 'resolved' | 'truncatedAlerts'
>;

const createContent = ({ firing, resolved }: GroupNotification): NotificationContent => {
  const allAlerts: NotifiedAlert[] = [...firing, ...resolved].map(
    ({ id, alert: { isOfRule: _, severity: _severity, projectId: _projectId, ...alert } }) => ({
      ...alert,
      alertId: id,
    }),
  );
  const alerts = limitAlerts(allAlerts);
  return {
    commonLabels: { ...findCommonEntries(allAlerts.map(({ labels }) => labels)) },
    commonAnnotations: { ...findCommonEntries(allAlerts.map(({ annotations }) => annotations)) },
    status: firing.length > 0 ? 'firing' : 'resolved',
    alerts: [...alerts],
    firing: firing.length,
    resolved: resolved.length,
    truncatedAlerts: allAlerts.length - alerts.length,
  };
};

/** Builds the notification of each target. Ids derive from the group, the time and the target. */
export const createNotifications = (
  group: Group,
  groupNotifications: readonly GroupNotification[],
  { tenantId, nowMs }: { readonly tenantId: string; readonly nowMs: number },
): Notification[] => {
  const groupId = createHash('sha256').update(group.id).digest('hex').slice(0, 24);
  // Targets nearly always get the same alerts.
  const contents = new Map<GroupNotification['resolved'], NotificationContent>();
  return groupNotifications.map((notification) => {
    const { target, reason, resolved } = notification;
    const content = contents.get(resolved) ?? createContent(notification);
    contents.set(resolved, content);
    return {
      tenantId,
      ...toDestination(target),
      id: `${groupId}-${nowMs.toString(36)}-${target}`,
      receiver: group.receiver,
      groupKey: group.key,
      groupLabels: { ...group.labels },
      reason,
      atMs: nowMs,
      ...content,
      ...(group.isTest && { isTest: true }),
    };
  });
};
