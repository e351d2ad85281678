/** Builds the notifications of a group: one for each channel, small enough for a message of the bus. */
import { createHash } from 'node:crypto';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import type { AlertRouting } from '../../schemas/resources/alert-routing.ts';
import { failingChannelLabel } from '../../subjects/alerts/platform-alerts.ts';
import type { GroupNotification } from './flush.ts';
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
  if (workingChannels.length > 0 || failing.size === 0) return [...new Set(workingChannels)];
  return [...new Set(receivers.flatMap(({ channelIds }) => channelIds).filter(isWorking))];
};

/** Destination of a notification, and the suffix of its id. */
interface NotificationTarget extends Pick<Notification, 'channelId' | 'escalationPolicyId'> {
  readonly id: string;
}

/**
 * Returns one notification for each channel, and one that opens an incident if the receiver has an escalation policy.
 * Ids derive from the group, the time and the channel.
 */
export const createNotifications = (
  group: Group,
  { reason, firing, resolved }: GroupNotification,
  { tenantId, nowMs, routing }: { readonly tenantId: string; readonly nowMs: number; readonly routing: AlertRouting },
): Notification[] => {
  const allAlerts: NotifiedAlert[] = [...firing, ...resolved].map(
    ({ id, alert: { isOfRule: _, severity: _severity, projectId: _projectId, ...alert } }) => ({
      ...alert,
      alertId: id,
    }),
  );
  const alerts = limitAlerts(allAlerts);
  const failing = new Set(allAlerts.flatMap(({ labels }) => labels[failingChannelLabel] ?? []));
  const groupId = createHash('sha256').update(group.id).digest('hex').slice(0, 24);
  const channelIds = selectChannels(routing, group.receiver, failing);
  const { escalationPolicyId } = routing.receivers.find(({ name }) => name === group.receiver) ?? {};
  const opensIncident = escalationPolicyId !== undefined && firing.length > 0 && !group.isTest;
  const targets: readonly NotificationTarget[] = [
    ...channelIds.map((channelId) => ({ channelId, id: channelId })),
    ...(opensIncident ? [{ channelId: '', id: 'incident', escalationPolicyId }] : []),
  ];
  return targets.map(({ id, ...destination }) => ({
    tenantId,
    ...destination,
    id: `${groupId}-${nowMs.toString(36)}-${id}`,
    receiver: group.receiver,
    groupKey: group.key,
    groupLabels: { ...group.labels },
    reason,
    atMs: nowMs,
    commonLabels: { ...findCommonEntries(allAlerts.map(({ labels }) => labels)) },
    commonAnnotations: { ...findCommonEntries(allAlerts.map(({ annotations }) => annotations)) },
    status: firing.length > 0 ? 'firing' : 'resolved',
    alerts: [...alerts],
    firing: firing.length,
    resolved: resolved.length,
    truncatedAlerts: allAlerts.length - alerts.length,
    ...(group.isTest && { isTest: true }),
  }));
};
