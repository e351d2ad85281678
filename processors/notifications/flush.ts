/** What a group is told at a time: Alertmanager's rules, but that nothing which fired goes untold. */

import type { Notification } from '../../schemas/notifications.ts';
import type { CompiledRoute } from '../../subjects/alerts/routing/tree.ts';
import { severityRank } from '../../subjects/alerts/rule.ts';
import type { Group, NotificationState, NotifiedAs, TrackedAlert } from './state.ts';

interface Member {
  readonly id: string;
  readonly alert: TrackedAlert;
  readonly told: NotifiedAs;
}

/** What is told of a group. */
export interface GroupNotification {
  readonly reason: Notification['reason'];
  readonly firing: readonly Member[];
  readonly resolved: readonly Member[];
}

export interface FlushInput {
  readonly nowMs: number;
  /** Undefined where the routing document has the group's route no more: then only ends are told. */
  readonly route: CompiledRoute | undefined;
  readonly sendResolved: boolean;
  readonly mutes: (alert: TrackedAlert) => boolean;
  readonly isMutedByTime: boolean;
  /** Somebody sees to it already: then it is not repeated. */
  readonly isAcknowledged: (id: string, alert: TrackedAlert) => boolean;
}

/** How much higher the severity is than the one that was told: 0 where it is the same, or nothing or none was told. */
export const riseOf = ({ severity }: Pick<TrackedAlert, 'severity'>, notifiedAs: NotifiedAs): number =>
  notifiedAs === 'nothing' || notifiedAs === 'firing' || severity === undefined
    ? 0
    : severityRank(severity) - severityRank(notifiedAs);

const reasonOf = (
  group: Group,
  { firing, resolved }: { readonly firing: readonly Member[]; readonly resolved: readonly Member[] },
  { nowMs, route, sendResolved, isAcknowledged }: FlushInput,
): Notification['reason'] | undefined => {
  const hasUnnotified = firing.some(({ told: notifiedAs }) => notifiedAs === 'nothing');
  const ended = resolved.some(({ told: notifiedAs }) => notifiedAs === 'nothing' || sendResolved);
  if (route === undefined) return ended && sendResolved ? 'resolved' : undefined;
  if (group.toldMs === undefined) return hasUnnotified || ended ? 'first' : undefined;
  const rises = firing.map(({ alert, told: notifiedAs }) => riseOf(alert, notifiedAs));
  if (rises.some((rise) => rise > 0)) return 'escalated';
  if (hasUnnotified) return 'firing';
  if (ended) return 'resolved';
  if (rises.some((rise) => rise < 0)) return 'deescalated';
  const isDue = group.toldMs + route.repeatIntervalMs <= nowMs;
  return isDue && firing.some(({ id, alert }) => !isAcknowledged(id, alert)) ? 'repeated' : undefined;
};

/**
 * Decides what a group is told now, and takes what needs no more telling out of it. An alert that was told and has ended while it is
 * muted stays, and its end is told when it no longer is; one that ended before it was ever told of is told as ended, unless it is muted.
 */
export const flushGroup = (
  state: NotificationState,
  group: Group,
  input: FlushInput,
): GroupNotification | undefined => {
  const members = [...group.members].flatMap(([id, notifiedAs]): Member[] => {
    const alert = state.alerts.get(id);
    return alert === undefined ? [] : [{ id, alert, told: notifiedAs }];
  });
  for (const [id, alert] of group.departed) members.push({ id, alert, told: alert.severity ?? 'firing' });
  const isMuted = ({ alert }: Member): boolean => input.isMutedByTime || input.mutes(alert);
  const muted = new Set(members.filter(isMuted));
  const unmuted = members.filter((member) => !muted.has(member));
  const byStatus = {
    firing: input.route === undefined ? [] : unmuted.filter(({ alert }) => alert.status === 'firing'),
    resolved: unmuted.filter(({ alert }) => alert.status === 'resolved'),
  };
  const reason = reasonOf(group, byStatus, input);
  for (const member of members)
    if (member.alert.status === 'resolved' && !(muted.has(member) && member.told !== 'nothing'))
      if (state.settle(group, member.id) === undefined) state.leave(group, member.id);
  if (reason === undefined) return undefined;
  for (const { id, alert } of byStatus.firing) group.members.set(id, alert.severity ?? 'firing');
  group.toldMs = input.nowMs;
  const resolved = byStatus.resolved.filter((member) => member.told === 'nothing' || input.sendResolved);
  return { reason, firing: byStatus.firing, resolved };
};
