/**
 * Decides the notification of a group at a time: Alertmanager's rules, except that every alert that fired is notified.
 */

import type { Notification } from '../../schemas/notifications.ts';
import type { CompiledRoute } from '../../subjects/alerts/routing/tree.ts';
import { getSeverityRank } from '../../subjects/alerts/rule.ts';
import type { Group, NotificationState, NotifiedAs, TrackedAlert } from './state.ts';

interface GroupAlert {
  readonly id: string;
  readonly alert: TrackedAlert;
  readonly notifiedAs: NotifiedAs;
}

/** Notification of a group. */
export interface GroupNotification {
  readonly reason: Notification['reason'];
  readonly firing: readonly GroupAlert[];
  readonly resolved: readonly GroupAlert[];
}

export interface FlushInput {
  readonly nowMs: number;
  /** Undefined if the routing document no longer has the group's route; only resolutions are then notified. */
  readonly route: CompiledRoute | undefined;
  readonly sendResolved: boolean;
  readonly isAlertMuted: (alert: TrackedAlert) => boolean;
  readonly isMutedByTime: boolean;
  /** Returns whether the alert is acknowledged; it is then not repeated. */
  readonly isAcknowledged: (id: string, alert: TrackedAlert) => boolean;
}

/**
 * Returns how much higher the severity is than the notified one: 0 if it is equal, or if nothing or no severity was
 * notified.
 */
export const getSeverityIncrease = ({ severity }: Pick<TrackedAlert, 'severity'>, notifiedAs: NotifiedAs): number =>
  notifiedAs === 'nothing' || notifiedAs === 'firing' || severity === undefined
    ? 0
    : getSeverityRank(severity) - getSeverityRank(notifiedAs);

const findReason = (
  group: Group,
  { firing, resolved }: { readonly firing: readonly GroupAlert[]; readonly resolved: readonly GroupAlert[] },
  { nowMs, route, sendResolved, isAcknowledged }: FlushInput,
): Notification['reason'] | undefined => {
  const hasUnnotified = firing.some(({ notifiedAs }) => notifiedAs === 'nothing');
  const hasUnnotifiedEnd = resolved.some(({ notifiedAs }) => notifiedAs === 'nothing' || sendResolved);
  if (route === undefined) return hasUnnotifiedEnd && sendResolved ? 'resolved' : undefined;
  if (group.toldMs === undefined) return hasUnnotified || hasUnnotifiedEnd ? 'first' : undefined;
  const increases = firing.map(({ alert, notifiedAs }) => getSeverityIncrease(alert, notifiedAs));
  if (increases.some((increase) => increase > 0)) return 'escalated';
  if (hasUnnotified) return 'firing';
  if (hasUnnotifiedEnd) return 'resolved';
  if (increases.some((increase) => increase < 0)) return 'deescalated';
  const isDue = group.toldMs + route.repeatIntervalMs <= nowMs;
  return isDue && firing.some(({ id, alert }) => !isAcknowledged(id, alert)) ? 'repeated' : undefined;
};

/**
 * Decides the notification of a group, and removes alerts that need no more. A notified alert that resolves while muted
 * stays, and its resolution is notified after the mute ends. An alert that resolved before its first notification is
 * notified as resolved, unless it is muted.
 */
export const flushGroup = (
  state: NotificationState,
  group: Group,
  input: FlushInput,
): GroupNotification | undefined => {
  const members = [...group.members].flatMap(([id, notifiedAs]): GroupAlert[] => {
    const alert = state.alerts.get(id);
    return alert === undefined ? [] : [{ id, alert, notifiedAs: notifiedAs }];
  });
  for (const [id, alert] of group.departed) members.push({ id, alert, notifiedAs: alert.severity ?? 'firing' });
  const isMuted = ({ alert }: GroupAlert): boolean => input.isMutedByTime || input.isAlertMuted(alert);
  const muted = new Set(members.filter(isMuted));
  const unmuted = members.filter((member) => !muted.has(member));
  const byStatus = {
    firing: input.route === undefined ? [] : unmuted.filter(({ alert }) => alert.status === 'firing'),
    resolved: unmuted.filter(({ alert }) => alert.status === 'resolved'),
  };
  const reason = findReason(group, byStatus, input);
  for (const member of members)
    if (member.alert.status === 'resolved' && !(muted.has(member) && member.notifiedAs !== 'nothing'))
      if (state.removeDeparted(group, member.id) === undefined) state.removeMember(group, member.id);
  if (reason === undefined) return undefined;
  for (const { id, alert } of byStatus.firing) group.members.set(id, alert.severity ?? 'firing');
  group.toldMs = input.nowMs;
  const resolved = byStatus.resolved.filter((member) => member.notifiedAs === 'nothing' || input.sendResolved);
  return { reason, firing: byStatus.firing, resolved };
};
