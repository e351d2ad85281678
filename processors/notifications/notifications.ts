import type { AlertTransition } from '../../schemas/alerts.ts';
import { itemSource } from '../../schemas/records/values.ts';
import { alertRoutingId, alertRoutings } from '../../schemas/resources/alert-routing.ts';
import { type AlertAcknowledgement, alertAcknowledgements, alertRules } from '../../schemas/resources/alert-rule.ts';
import { maintenanceWindows } from '../../schemas/resources/maintenance-window.ts';
import { silences } from '../../schemas/resources/silence.ts';
import { topics } from '../../schemas/topics.ts';
import type { CompiledRoute } from '../../subjects/alerts/routing/tree.ts';
import { createGroupKey, findRoutes, selectGroupLabels } from '../../subjects/alerts/routing/tree.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { flushGroup, severityIncrease } from './flush.ts';
import { createNotifications } from './notification-messages.ts';
import { type Group, maxAlerts, type NotificationState, notificationState, type TrackedAlert } from './state.ts';

type NotificationContext = Context<
  { readonly notifications: typeof topics.notifications },
  {
    readonly routing: typeof alertRoutings;
    readonly silences: typeof silences;
    readonly windows: typeof maintenanceWindows;
    readonly acknowledgements: typeof alertAcknowledgements;
    readonly rules: typeof alertRules;
  },
  NotificationState
>;

/** Interval of groups whose route no longer exists. */
const retiredIntervalMs = 300_000;

/** Returns whether an alert state must be notified. */
const isNotifiable = ({ to }: AlertTransition): boolean => to === 'firing' || to === 'recovering' || to === 'unknown';

/** Returns the key of an alert. Tests have keys distinct from the alerts they represent. */
const alertKey = ({ alertId, isTest }: AlertTransition): string => (isTest === true ? `test/${alertId}` : alertId);

const toTrackedAlert = (
  transition: AlertTransition,
  known: TrackedAlert | undefined,
  { follows }: Pick<NotificationContext, 'follows'>,
): TrackedAlert => {
  const { ruleId, annotations, held, severity, reason, atMs, startedAtMs, endedAtMs, isTest } = transition;
  const isOfRule = follows.rules.has(ruleId);
  const shared = {
    // A resolution has the labels of its notification.
    labels: (isNotifiable(transition) ? undefined : known?.labels) ?? transition.labels,
    ruleId,
    annotations,
    value: held === undefined ? transition.value : held.value,
    severity,
    reason,
    ...(held !== undefined && { held }),
    ...(isTest === true && { isTest }),
    ...(transition.projectId !== undefined && { projectId: transition.projectId }),
    ...(isOfRule && { isOfRule }),
  };
  if (isNotifiable(transition))
    return { ...shared, status: 'firing', startsAtMs: startedAtMs ?? known?.startsAtMs ?? atMs };
  const startsAtMs = startedAtMs ?? known?.startsAtMs ?? atMs;
  return { ...shared, status: 'resolved', startsAtMs, endsAtMs: endedAtMs ?? atMs };
};

/** Returns the group of an alert at a route. */
const findGroupPlace = (route: CompiledRoute, alert: Pick<TrackedAlert, 'labels' | 'isTest'>) => {
  const isTest = alert.isTest === true;
  const labels = selectGroupLabels(route, alert.labels);
  const key = createGroupKey(route, labels);
  return { isTest, labels, key, id: `${isTest ? 'test/' : ''}${route.receiver}/${route.id}/${key}` };
};

/** Adds an alert to its group at a route. */
const joinGroup = (here: NotificationContext, route: CompiledRoute, id: string, alert: TrackedAlert): Group => {
  const { state, clockMs } = here;
  const { isTest, labels, key, id: groupId } = findGroupPlace(route, alert);
  const known = state.groups.get(groupId);
  const { receiver } = route;
  const group =
    known ??
    state.open({
      id: groupId,
      key,
      receiver,
      routeId: route.id,
      labels,
      isTest,
      toldMs: undefined,
      members: new Map(),
      departed: new Map(),
    });
  state.addMember(group, id, state.removeDeparted(group, id) ?? group.members.get(id));
  // An alert that has been firing for longer has already waited.
  const waited = isTest || alert.startsAtMs + route.groupWaitMs < clockMs;
  if (known === undefined) here.setTimer('clock', waited ? clockMs : clockMs + route.groupWaitMs, groupId);
  else if (waited && known.toldMs === undefined) here.setTimer('clock', clockMs, groupId);
  return group;
};

const closeEmpty = (state: NotificationState, group: Group): boolean => {
  if (group.members.size > 0 || group.departed.size > 0) return false;
  state.close(group);
  return true;
};

/**
 * Applies the current routing document: alerts join the groups of their labels, and leave other groups unless they were
 * notified there.
 */
const applyRouting = (here: NotificationContext): void => {
  const { state, follows } = here;
  if (!state.rules.update(follows.routing.get(alertRoutingId), state.alerts)) return;
  const currentKeys = new Set<string>();
  for (const [id, alert] of state.alerts) {
    if (alert.status !== 'firing') continue;
    for (const route of findRoutes(state.rules.root, alert.labels))
      currentKeys.add(`${joinGroup(here, route, id, alert).id} ${id}`);
  }
  for (const group of [...state.groups.values()]) {
    for (const [id, notifiedAs] of [...group.members])
      if (
        notifiedAs === 'nothing' &&
        state.alerts.get(id)?.status === 'firing' &&
        !currentKeys.has(`${group.id} ${id}`)
      )
        state.leave(group, id);
    closeEmpty(state, group);
  }
};

const handleTransition = (transition: AlertTransition, here: NotificationContext): void => {
  const { state } = here;
  applyRouting(here);
  const id = alertKey(transition);
  const known = state.alerts.get(id);
  const alert = toTrackedAlert(transition, known, here);
  if (alert.status === 'resolved') {
    if (known === undefined) return;
    state.rules.removeFiring(id, known);
    state.setAlert(id, alert);
    return;
  }
  if (known === undefined && state.alerts.size >= maxAlerts) {
    here.drop('too-many-alerts');
    return;
  }
  // Labels belong to the alert; its muting depends on them.
  if (known !== undefined) state.rules.removeFiring(id, known);
  state.setAlert(id, alert);
  state.rules.addFiring(id, alert);
  const groups = new Set(findRoutes(state.rules.root, alert.labels).map((route) => joinGroup(here, route, id, alert)));
  if (known !== undefined) leaveFormerGroups(here, id, known, groups);
  for (const group of groups)
    if (group.toldMs !== undefined && severityIncrease(alert, group.members.get(id) ?? 'nothing') > 0)
      notifyGroup(group, here);
};

/**
 * Removes an alert with changed labels from its former groups. Groups where its resolution is still to be notified
 * retain it.
 */
const leaveFormerGroups = (
  { state, clockMs }: NotificationContext,
  id: string,
  known: TrackedAlert,
  groups: ReadonlySet<Group>,
): void => {
  const resolvedAlert: TrackedAlert = { ...known, status: 'resolved', endsAtMs: known.endsAtMs ?? clockMs };
  for (const route of findRoutes(state.rules.root, known.labels)) {
    const group = state.groups.get(findGroupPlace(route, known).id);
    if (group === undefined || groups.has(group)) continue;
    state.moveOut(group, id, resolvedAlert);
    closeEmpty(state, group);
  }
};

/** Returns whether an acknowledgment applies to the current firing of an alert. */
const appliesToFiring = (mark: AlertAcknowledgement | undefined, { startsAtMs }: TrackedAlert): boolean =>
  mark !== undefined && (mark.startedAtMs === 0 || mark.startedAtMs === startsAtMs);

/** Resolves alerts whose rule was deleted or disabled, because nothing evaluates them anymore. */
const endOrphans = (group: Group, { state, follows, clockMs }: NotificationContext): void => {
  for (const id of group.members.keys()) {
    const alert = state.alerts.get(id);
    if (alert?.status !== 'firing' || alert.isOfRule !== true || alert.isTest === true) continue;
    if (follows.rules.get(alert.ruleId)?.enabled === true) continue;
    state.rules.removeFiring(id, alert);
    state.setAlert(id, { ...alert, status: 'resolved', endsAtMs: clockMs });
  }
};

/** Emits the notifications of a group. Returns its route, if it still has one. */
const notifyGroup = (group: Group, here: NotificationContext): CompiledRoute | undefined => {
  const { state, tenantId, clockMs: nowMs, follows } = here;
  endOrphans(group, here);
  const { rules } = state;
  const storedRoute = rules.route(group.routeId);
  const route =
    storedRoute?.receiver === group.receiver && createGroupKey(storedRoute, group.labels) === group.key
      ? storedRoute
      : undefined;
  const receiver = rules.routing.receivers.find(({ name }) => name === group.receiver);
  const groupNotification = flushGroup(state, group, {
    nowMs,
    route,
    sendResolved: receiver?.sendResolved ?? false,
    mutes: rules.createMutePredicate(follows, nowMs),
    isMutedByTime: route !== undefined && rules.mutedByTime(route, nowMs) !== undefined,
    isAcknowledged: (id, alert) => appliesToFiring(follows.acknowledgements.get(id), alert),
  });
  if (groupNotification !== undefined)
    for (const notification of createNotifications(group, groupNotification, {
      tenantId,
      nowMs,
      routing: rules.routing,
    }))
      here.emit.notifications(notification);
  return route;
};

const flush = (groupId: string, here: NotificationContext): void => {
  const { state, clockMs } = here;
  applyRouting(here);
  const group = state.groups.get(groupId);
  if (group === undefined) return;
  const route = notifyGroup(group, here);
  // A test is notified once.
  if (group.isTest) for (const id of [...group.members.keys()]) state.leave(group, id);
  if (!closeEmpty(state, group))
    here.setTimer('clock', clockMs + (route?.groupIntervalMs ?? retiredIntervalMs), groupId);
};

/** Groups alerts by the routing document, and notifies channels when their waits are over. */
export const notifications = defineProcessor({
  name: 'notifications',
  summary: 'Groups alerts by route, and decides when to notify which channel.',
  reads: itemSource(topics.alertTransitions),
  emits: { notifications: topics.notifications },
  follows: {
    routing: alertRoutings,
    silences,
    windows: maintenanceWindows,
    acknowledgements: alertAcknowledgements,
    rules: alertRules,
  },
  state: notificationState,
  limits: { stateBytes: 512 * 1024 * 1024 },
  step: handleTransition,
  timer: ({ key }, here) => flush(key, here),
});
