/** What a group is told at a time: Alertmanager's rules, but that nothing which fired goes untold. */

import type { Notification } from '../../schemas/notifications.ts';
import type { CompiledRoute } from '../../subjects/alerts/routing/tree.ts';
import { severityRank } from '../../subjects/alerts/rule.ts';
import type { Group, KeptAlert, NotificationState, Told } from './state.ts';

interface Member {
  readonly id: string;
  readonly alert: KeptAlert;
  readonly told: Told;
}

/** What is told of a group. */
export interface Telling {
  readonly reason: Notification['reason'];
  readonly firing: readonly Member[];
  readonly resolved: readonly Member[];
}

export interface FlushInput {
  readonly nowMs: number;
  /** Undefined where the routing document has the group's route no more: then only ends are told. */
  readonly route: CompiledRoute | undefined;
  readonly sendResolved: boolean;
  readonly mutes: (alert: KeptAlert) => boolean;
  readonly isMutedByTime: boolean;
  /** Somebody sees to it already: then it is not repeated. */
  readonly isAcknowledged: (id: string, alert: KeptAlert) => boolean;
}

/** How much higher the severity is than the one that was told: 0 where it is the same, or nothing or none was told. */
export const riseOf = ({ severity }: Pick<KeptAlert, 'severity'>, told: Told): number =>
  told === 'nothing' || told === 'firing' || severity === undefined ? 0 : severityRank(severity) - severityRank(told);

const reasonOf = (
  group: Group,
  { firing, resolved }: { readonly firing: readonly Member[]; readonly resolved: readonly Member[] },
  { nowMs, route, sendResolved, isAcknowledged }: FlushInput,
): Notification['reason'] | undefined => {
  const untold = firing.some(({ told }) => told === 'nothing');
  const ended = resolved.some(({ told }) => told === 'nothing' || sendResolved);
  if (route === undefined) return ended && sendResolved ? 'resolved' : undefined;
  if (group.toldMs === undefined) return untold || ended ? 'first' : undefined;
  const rises = firing.map(({ alert, told }) => riseOf(alert, told));
  if (rises.some((rise) => rise > 0)) return 'escalated';
  if (untold) return 'firing';
  if (ended) return 'resolved';
  if (rises.some((rise) => rise < 0)) return 'deescalated';
  const isDue = group.toldMs + route.repeatIntervalMs <= nowMs;
  return isDue && firing.some(({ id, alert }) => !isAcknowledged(id, alert)) ? 'repeated' : undefined;
};

/**
 * Decides what a group is told now, and takes what needs no more telling out of it. An alert that was told and has ended while it is
 * muted stays, and its end is told when it no longer is; one that ended before it was ever told of is told as ended, unless it is muted.
 */
export const flushGroup = (state: NotificationState, group: Group, input: FlushInput): Telling | undefined => {
  const members = [...group.members].flatMap(([id, told]): Member[] => {
    const alert = state.alerts.get(id);
    return alert === undefined ? [] : [{ id, alert, told }];
  });
  for (const [id, alert] of group.departed) members.push({ id, alert, told: alert.severity ?? 'firing' });
  const isMuted = ({ alert }: Member): boolean => input.isMutedByTime || input.mutes(alert);
  const muted = new Set(members.filter(isMuted));
  const heard = members.filter((member) => !muted.has(member));
  const told = {
    firing: input.route === undefined ? [] : heard.filter(({ alert }) => alert.status === 'firing'),
    resolved: heard.filter(({ alert }) => alert.status === 'resolved'),
  };
  const reason = reasonOf(group, told, input);
  for (const member of members)
    if (member.alert.status === 'resolved' && !(muted.has(member) && member.told !== 'nothing'))
      if (state.settle(group, member.id) === undefined) state.leave(group, member.id);
  if (reason === undefined) return undefined;
  for (const { id, alert } of told.firing) group.members.set(id, alert.severity ?? 'firing');
  group.toldMs = input.nowMs;
  const resolved = told.resolved.filter((member) => member.told === 'nothing' || input.sendResolved);
  return { reason, firing: told.firing, resolved };
};
