import type { AlertTransition } from '../../schemas/alerts.ts';
import { createItemSource } from '../../schemas/records/values.ts';
import { alertRoutingId, alertRoutings } from '../../schemas/resources/alert-routing.ts';
import { type AlertAcknowledgement, alertAcknowledgements, alertRules } from '../../schemas/resources/alert-rule.ts';
import { maintenanceWindows } from '../../schemas/resources/maintenance-window.ts';
import { silences } from '../../schemas/resources/silence.ts';
import { topics } from '../../schemas/topics.ts';
import type { CompiledRoute } from '../../subjects/alerts/routing/tree.ts';
import { createGroupKey, findRoutes, selectGroupLabels } from '../../subjects/alerts/routing/tree.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { flushGroup, hasRisen } from './flush.ts';
import { createNotifications, selectTargets } from './notification-messages.ts';
import {
  createGroupId,
  type Group,
  maxAlerts,
  type NotificationState,
  notificationState,
  type TrackedAlert,
} from './state.ts';

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
/** How often the document is compared while alerts fire, so that a change does not wait for a group. */
const routingCheckMs = 30_000;
/** Key of the timer for it; ids of groups contain a slash. */
const routingTimer = 'routing';

/** Returns whether an alert state must be notified. */
const isNotifiable = ({ to }: AlertTransition): boolean => to === 'firing' || to === 'recovering' || to === 'unknown';

/** Returns the key of an alert. Tests have keys distinct from the alerts they represent. */
const alertKey = ({ alertId, isTest }: AlertTransition): string => (isTest === true ? `test/${alertId}` : alertId);

const toTrackedAlert = (
  transition: AlertTransition,
  previous: TrackedAlert | undefined,
  { follows }: Pick<NotificationContext, 'follows'>,
): TrackedAlert => {
  const { ruleId, annotations, held, severity, reason, atMs, startedAtMs, endedAtMs, isTest } = transition;
  const isOfRule = follows.rules.has(ruleId);
  const sharedFields = {
    // A resolution has the labels of its notification.
    labels: (isNotifiable(transition) ? undefined : previous?.labels) ?? transition.labels,
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
    return { ...sharedFields, status: 'firing', startsAtMs: startedAtMs ?? previous?.startsAtMs ?? atMs };
  const startsAtMs = startedAtMs ?? previous?.startsAtMs ?? atMs;
  return { ...sharedFields, status: 'resolved', startsAtMs, endsAtMs: endedAtMs ?? atMs };
};

/** Returns the group of an alert at a route. */
const identifyGroup = (route: CompiledRoute, alert: Pick<TrackedAlert, 'labels' | 'isTest'>) => {
  const isTest = alert.isTest === true;
  const labels = selectGroupLabels(route, alert.labels);
  const key = createGroupKey(route, labels);
  return { isTest, labels, key, id: createGroupId({ isTest, receiver: route.receiver, key }) };
};

const setGroupTimer = ({ setTimer }: Pick<NotificationContext, 'setTimer'>, group: Group, dueMs: number): void => {
  group.dueMs = dueMs;
  setTimer('clock', dueMs, group.id);
};

const hasNotified = ({ notifiedAtMs }: Group): boolean => Object.keys(notifiedAtMs).length > 0;

/** Adds an alert to its group at a route. */
const addToGroup = (context: NotificationContext, route: CompiledRoute, id: string, alert: TrackedAlert): Group => {
  const { state, clockMs } = context;
  const { isTest, labels, key, id: groupId } = identifyGroup(route, alert);
  const previous = state.groups.get(groupId);
  const { receiver } = route;
  const group =
    previous ??
    state.addGroup({
      id: groupId,
      key,
      receiver,
      routeId: route.id,
      labels,
      isTest,
      dueMs: undefined,
      notifiedAtMs: {},
      members: new Map(),
      rerouted: new Set(),
      departed: new Map(),
    });
  group.routeId = route.id;
  state.addMember(group, id, state.removeDeparted(group, id) ?? group.members.get(id));
  // An alert that has been firing for longer has already waited.
  const hasWaited = isTest || alert.startsAtMs + route.groupWaitMs < clockMs;
  if (previous === undefined) setGroupTimer(context, group, hasWaited ? clockMs : clockMs + route.groupWaitMs);
  else if (hasWaited && !hasNotified(previous)) setGroupTimer(context, group, clockMs);
  if (state.groups.size === 1) context.setTimer('clock', clockMs + routingCheckMs, routingTimer);
  return group;
};

const closeIfEmpty = ({ state, setTimer }: Pick<NotificationContext, 'state' | 'setTimer'>, group: Group): boolean => {
  if (group.members.size > 0 || group.departed.size > 0) return false;
  state.removeGroup(group);
  if (state.groups.size === 0) setTimer('clock', Number.POSITIVE_INFINITY, routingTimer);
  return true;
};

/** Adds timers to groups of an earlier version, and copies the notified states to each current target. */
const resumeEarlierGroups = (context: NotificationContext): void => {
  const { state, clockMs } = context;
  for (const group of state.takeEarlierGroups()) {
    const alerts = [...group.members.keys()].flatMap((id) => state.alerts.get(id) ?? []);
    const targets = selectTargets(
      state.rules.routing,
      group,
      alerts.map((alert) => ({ alert })),
    );
    state.assignTargets(group, targets);
    setGroupTimer(context, group, clockMs + (state.rules.findRoute(group)?.groupWaitMs ?? 0));
    context.setTimer('clock', clockMs + routingCheckMs, routingTimer);
  }
};

/**
 * Applies a changed document to a group: alerts that it routes elsewhere leave, except those whose end is to be
 * notified here, and a shorter interval does not wait for the former one.
 */
const updateGroup = (context: NotificationContext, group: Group, currentKeys: ReadonlySet<string>): void => {
  const { state, clockMs } = context;
  for (const [id, notified] of [...group.members]) {
    if (state.alerts.get(id)?.status !== 'firing' || currentKeys.has(`${group.id} ${id}`)) continue;
    if (Object.keys(notified).length === 0) state.removeMember(group, id);
    else group.rerouted.add(id);
  }
  if (closeIfEmpty(context, group)) return;
  const route = state.rules.findRoute(group);
  if (route !== undefined && (group.dueMs ?? 0) > clockMs + route.groupIntervalMs)
    setGroupTimer(context, group, clockMs + route.groupIntervalMs);
};

/**
 * Applies the current routing document: alerts join the groups of their labels, and leave other groups unless they were
 * notified there.
 */
const applyRouting = (context: NotificationContext): void => {
  const { state, follows } = context;
  const hasChanged = state.rules.update(follows.routing.get(alertRoutingId), state.alerts);
  resumeEarlierGroups(context);
  if (!hasChanged) return;
  const currentKeys = new Set<string>();
  for (const [id, alert] of state.alerts) {
    if (alert.status !== 'firing') continue;
    for (const route of findRoutes(state.rules.root, alert.labels))
      currentKeys.add(`${addToGroup(context, route, id, alert).id} ${id}`);
  }
  for (const group of [...state.groups.values()]) updateGroup(context, group, currentKeys);
};

const handleTransition = (transition: AlertTransition, context: NotificationContext): void => {
  const { state } = context;
  applyRouting(context);
  const id = alertKey(transition);
  const previous = state.alerts.get(id);
  const alert = toTrackedAlert(transition, previous, context);
  if (alert.status === 'resolved') {
    if (previous === undefined) return;
    state.rules.removeFiring(id, previous);
    state.setAlert(id, alert);
    return;
  }
  if (previous === undefined && state.alerts.size >= maxAlerts) {
    context.drop('too-many-alerts');
    return;
  }
  // Labels belong to the alert; its muting depends on them.
  if (previous !== undefined) state.rules.removeFiring(id, previous);
  state.setAlert(id, alert);
  state.rules.addFiring(id, alert);
  const groups = new Set(
    findRoutes(state.rules.root, alert.labels).map((route) => addToGroup(context, route, id, alert)),
  );
  if (previous !== undefined) leaveFormerGroups(context, id, previous, groups);
  for (const group of groups)
    if (hasRisen(alert, group.members.get(id) ?? {}, selectTargets(state.rules.routing, group, [{ alert }])))
      notifyGroup(group, context);
};

/**
 * Removes an alert with changed labels from its former groups. Groups where its resolution is still to be notified
 * retain it.
 */
const leaveFormerGroups = (
  context: NotificationContext,
  id: string,
  previous: TrackedAlert,
  groups: ReadonlySet<Group>,
): void => {
  const { state, clockMs } = context;
  const resolvedAlert: TrackedAlert = { ...previous, status: 'resolved', endsAtMs: previous.endsAtMs ?? clockMs };
  for (const route of findRoutes(state.rules.root, previous.labels)) {
    const group = state.groups.get(identifyGroup(route, previous).id);
    if (group === undefined || groups.has(group)) continue;
    state.moveOut(group, id, resolvedAlert);
    closeIfEmpty(context, group);
  }
};

/** Returns whether an acknowledgment applies to the current firing of an alert. */
const appliesToFiring = (acknowledgement: AlertAcknowledgement | undefined, { startsAtMs }: TrackedAlert): boolean =>
  acknowledgement !== undefined && (acknowledgement.startedAtMs === 0 || acknowledgement.startedAtMs === startsAtMs);

/** Resolves alerts whose rule was deleted or disabled, because nothing evaluates them anymore. */
const resolveOrphans = (group: Group, { state, follows, clockMs }: NotificationContext): void => {
  for (const id of group.members.keys()) {
    const alert = state.alerts.get(id);
    if (alert?.status !== 'firing' || alert.isOfRule !== true || alert.isTest === true) continue;
    if (follows.rules.get(alert.ruleId)?.enabled === true) continue;
    state.rules.removeFiring(id, alert);
    state.setAlert(id, { ...alert, status: 'resolved', endsAtMs: clockMs });
  }
};

/** Emits the notifications of a group. Returns its route, if it still has one. */
const notifyGroup = (group: Group, context: NotificationContext): CompiledRoute | undefined => {
  const { state, tenantId, clockMs: nowMs, follows } = context;
  resolveOrphans(group, context);
  const { rules } = state;
  const route = rules.findRoute(group);
  const receiver = rules.routing.receivers.find(({ name }) => name === group.receiver);
  const groupNotifications = flushGroup(state, group, {
    nowMs,
    route,
    sendResolved: receiver?.sendResolved ?? false,
    isAlertMuted: rules.createMutePredicate(follows, nowMs),
    isMutedByTime: route !== undefined && rules.mutedByTime(route, nowMs) !== undefined,
    isAcknowledged: (id, alert) => appliesToFiring(follows.acknowledgements.get(id), alert),
    findTargets: (alerts) => selectTargets(rules.routing, group, alerts),
  });
  for (const notification of createNotifications(group, groupNotifications, { tenantId, nowMs }))
    context.emit.notifications(notification);
  return route;
};

const handleTimer = (groupId: string, context: NotificationContext): void => {
  const { state, clockMs } = context;
  applyRouting(context);
  if (groupId === routingTimer && state.groups.size > 0)
    context.setTimer('clock', clockMs + routingCheckMs, routingTimer);
  const group = state.groups.get(groupId);
  if (group === undefined) return;
  const route = notifyGroup(group, context);
  // A test is notified once.
  if (group.isTest) for (const id of [...group.members.keys()]) state.removeMember(group, id);
  if (!closeIfEmpty(context, group))
    setGroupTimer(context, group, clockMs + (route?.groupIntervalMs ?? retiredIntervalMs));
};

/** Groups alerts by the routing document, and notifies channels when their waits are over. */
export const notifications = defineProcessor({
  name: 'notifications',
  summary: 'Groups alerts by route, and decides when to notify which channel.',
  reads: createItemSource(topics.alertTransitions),
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
  timer: ({ key }, context) => handleTimer(key, context),
});
