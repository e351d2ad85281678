/**
 * Decides the notifications of a group at a time: Alertmanager's rules for each target, except that every alert that
 * fired is notified.
 */

import type { Notification } from '../../schemas/notifications.ts';
import type { CompiledRoute } from '../../subjects/alerts/routing/tree.ts';
import { getSeverityRank } from '../../subjects/alerts/rule.ts';
import type { Group, NotificationState, NotifiedAs, NotifiedByTarget, TrackedAlert } from './state.ts';

/** An alert of a group, and the last state that each target was notified of. */
export interface GroupAlert {
  readonly id: string;
  readonly alert: TrackedAlert;
  readonly notified: NotifiedByTarget;
}

/** Notification of a group for one target. */
export interface GroupNotification {
  readonly target: string;
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
  /** Returns the current targets of the group, for a notification about these alerts. */
  readonly findTargets: (alerts: readonly GroupAlert[]) => readonly string[];
}

/**
 * Returns how much higher the severity is than the notified one: 0 if it is equal, or if nothing or no severity was
 * notified.
 */
const getSeverityIncrease = ({ severity }: Pick<TrackedAlert, 'severity'>, notifiedAs: NotifiedAs): number =>
  notifiedAs === 'nothing' || notifiedAs === 'firing' || severity === undefined
    ? 0
    : getSeverityRank(severity) - getSeverityRank(notifiedAs);

/** Returns whether the severity of an alert is higher than one of the targets was notified of. */
export const hasRisen = (
  alert: Pick<TrackedAlert, 'severity'>,
  notified: NotifiedByTarget,
  targets: readonly string[],
): boolean => targets.some((target) => getSeverityIncrease(alert, notified[target] ?? 'nothing') > 0);

/** Returns the alerts whose end a target needs to know: it was notified of them, or nobody was. */
const selectResolved = (
  resolved: readonly GroupAlert[],
  target: string,
  { sendResolved }: Pick<FlushInput, 'sendResolved'>,
): readonly GroupAlert[] => {
  const selected = resolved.filter(({ notified }) =>
    notified[target] === undefined ? Object.keys(notified).length === 0 : sendResolved,
  );
  return selected.length === resolved.length ? resolved : selected;
};

const findReason = (
  notifiedAtMs: number | undefined,
  { target, firing, resolved }: Omit<GroupNotification, 'reason'>,
  { nowMs, route, sendResolved, isAcknowledged }: FlushInput,
): Notification['reason'] | undefined => {
  const hasUnnotified = firing.some(({ notified }) => notified[target] === undefined);
  const hasUnnotifiedEnd = resolved.length > 0;
  if (route === undefined) return hasUnnotifiedEnd && sendResolved ? 'resolved' : undefined;
  if (notifiedAtMs === undefined) return hasUnnotified || hasUnnotifiedEnd ? 'first' : undefined;
  const increases = firing.map(({ alert, notified }) => getSeverityIncrease(alert, notified[target] ?? 'nothing'));
  if (increases.some((increase) => increase > 0)) return 'escalated';
  if (hasUnnotified) return 'firing';
  if (hasUnnotifiedEnd) return 'resolved';
  if (increases.some((increase) => increase < 0)) return 'deescalated';
  const isDue = notifiedAtMs + route.repeatIntervalMs <= nowMs;
  return isDue && firing.some(({ id, alert }) => !isAcknowledged(id, alert)) ? 'repeated' : undefined;
};

/** Records the states of firing alerts that targets were notified of. Alerts with equal states share one object. */
const noteNotified = (group: Group, firing: readonly GroupAlert[], targets: readonly string[]): void => {
  const shared = new Map<string, NotifiedByTarget>();
  for (const { id, alert, notified } of firing) {
    const after: Record<string, NotifiedAs> = { ...notified };
    for (const target of targets) after[target] = alert.severity ?? 'firing';
    const text = JSON.stringify(after);
    if (!shared.has(text)) shared.set(text, after);
    group.members.set(id, shared.get(text) ?? after);
  }
};

/**
 * Decides the notifications of a group, and removes alerts that need no more. A notified alert that resolves while
 * muted stays, and its resolution is notified after the mute ends. An alert that resolved before anybody was notified
 * of it is notified as resolved, unless it is muted.
 */
export const flushGroup = (state: NotificationState, group: Group, input: FlushInput): readonly GroupNotification[] => {
  const members = [...group.members].flatMap(([id, notified]): GroupAlert[] => {
    const alert = state.alerts.get(id);
    return alert === undefined ? [] : [{ id, alert, notified }];
  });
  for (const [id, departed] of group.departed) members.push({ id, ...departed });
  const isMuted = ({ alert }: GroupAlert): boolean => input.isMutedByTime || input.isAlertMuted(alert);
  const muted = new Set(members.filter(isMuted));
  const unmuted = members.filter((member) => !muted.has(member));
  const isRoutedHere = ({ id, alert }: GroupAlert): boolean => alert.status === 'firing' && !group.rerouted.has(id);
  const firing = input.route === undefined ? [] : unmuted.filter(isRoutedHere);
  const resolved = unmuted.filter(({ alert }) => alert.status === 'resolved');
  const notifications = input.findTargets([...firing, ...resolved]).flatMap((target): GroupNotification[] => {
    const content = { target, firing, resolved: selectResolved(resolved, target, input) };
    const reason = findReason(group.notifiedAtMs[target], content, input);
    return reason === undefined ? [] : [{ ...content, reason }];
  });
  for (const member of members)
    if (member.alert.status === 'resolved' && !(muted.has(member) && Object.keys(member.notified).length > 0))
      if (state.removeDeparted(group, member.id) === undefined) state.removeMember(group, member.id);
  if (notifications.length === 0) return [];
  for (const { target } of notifications) group.notifiedAtMs[target] = input.nowMs;
  noteNotified(
    group,
    firing,
    notifications.map(({ target }) => target),
  );
  return notifications;
};
