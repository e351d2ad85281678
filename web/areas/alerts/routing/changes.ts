/** Changes of the routing document, as functions that return a changed copy */
import type { AlertRouting, Matcher, Route, TimeInterval } from '../../../../schemas/resources/alert-routing.ts';

export type { AlertRouting, Route, TimeInterval };
export type Receiver = AlertRouting['receivers'][number];
export type NamedTimeIntervals = AlertRouting['timeIntervals'][number];

/** Position of a route in the tree, as in the API: `0` is the root, `0/2` its third child route. */
export type RouteId = string;
export const rootId: RouteId = '0';

const toIndexes = (id: RouteId): readonly number[] => id.split('/').slice(1).map(Number);

export const findRoute = ({ route }: AlertRouting, id: RouteId): Route | undefined =>
  toIndexes(id).reduce<Route | undefined>((parent, index) => parent?.routes[index], route);

const changeRouteAt = (
  route: Route,
  [index, ...indexes]: readonly number[],
  change: (route: Route) => Route,
): Route => {
  if (index === undefined) return change(route);
  const child = route.routes[index];
  return child === undefined
    ? route
    : { ...route, routes: route.routes.with(index, changeRouteAt(child, indexes, change)) };
};

const changeRoute = (routing: AlertRouting, id: RouteId, change: (route: Route) => Route): AlertRouting => ({
  ...routing,
  route: changeRouteAt(routing.route, toIndexes(id), change),
});

export const replaceRoute = (routing: AlertRouting, id: RouteId, route: Route): AlertRouting =>
  changeRoute(routing, id, () => route);

/** Adds a route as the last child of another one. */
export const addRoute = (routing: AlertRouting, parentId: RouteId, route: Route): AlertRouting =>
  changeRoute(routing, parentId, (parent) => ({ ...parent, routes: [...parent.routes, route] }));

const splitId = (id: RouteId): [parentId: RouteId, index: number] => {
  const separator = id.lastIndexOf('/');
  return [id.slice(0, separator), Number(id.slice(separator + 1))];
};

/** Deletes a route with its child routes. The root cannot be deleted. */
export const deleteRoute = (routing: AlertRouting, id: RouteId): AlertRouting => {
  if (id === rootId) return routing;
  const [parentId, index] = splitId(id);
  return changeRoute(routing, parentId, (parent) => ({ ...parent, routes: parent.routes.toSpliced(index, 1) }));
};

/** Exchanges a route with the sibling before it: the first matching sibling decides. */
export const moveRouteUp = (routing: AlertRouting, id: RouteId): AlertRouting => {
  const [parentId, index] = splitId(id);
  if (id === rootId || index === 0) return routing;
  return changeRoute(routing, parentId, (parent) => {
    const [previous, moved] = [parent.routes[index - 1], parent.routes[index]];
    if (previous === undefined || moved === undefined) return parent;
    return { ...parent, routes: parent.routes.with(index - 1, moved).with(index, previous) };
  });
};

const mapRoutes = (route: Route, change: (route: Route) => Route): Route => ({
  ...change(route),
  routes: route.routes.map((child) => mapRoutes(child, change)),
});

/** Stores a receiver. A changed name also changes in the routes. */
export const putReceiver = (
  routing: AlertRouting,
  receiver: Receiver,
  previousName: string | undefined,
): AlertRouting => {
  if (previousName === undefined) return { ...routing, receivers: [...routing.receivers, receiver] };
  return {
    ...routing,
    receivers: routing.receivers.map((other) => (other.name === previousName ? receiver : other)),
    route: mapRoutes(routing.route, (route) =>
      route.receiver === previousName ? { ...route, receiver: receiver.name } : route,
    ),
  };
};

export const deleteReceiver = (routing: AlertRouting, name: string): AlertRouting => ({
  ...routing,
  receivers: routing.receivers.filter((receiver) => receiver.name !== name),
});

/** Stores a named list of time intervals. A changed name also changes in the routes. */
export const putTimeIntervals = (
  routing: AlertRouting,
  intervals: NamedTimeIntervals,
  previousName: string | undefined,
): AlertRouting => {
  if (previousName === undefined) return { ...routing, timeIntervals: [...routing.timeIntervals, intervals] };
  const rename = (names: readonly string[]): string[] =>
    names.map((name) => (name === previousName ? intervals.name : name));
  return {
    ...routing,
    timeIntervals: routing.timeIntervals.map((other) => (other.name === previousName ? intervals : other)),
    route: mapRoutes(routing.route, (route) => ({
      ...route,
      muteTimeIntervals: rename(route.muteTimeIntervals),
      activeTimeIntervals: rename(route.activeTimeIntervals),
    })),
  };
};

export const deleteTimeIntervals = (routing: AlertRouting, name: string): AlertRouting => ({
  ...routing,
  timeIntervals: routing.timeIntervals.filter((intervals) => intervals.name !== name),
});

/** A route with the receiver that it has or inherits */
export interface EffectiveRoute {
  readonly id: RouteId;
  readonly route: Route;
  readonly receiver: string;
}

export const listRoutes = ({ route }: AlertRouting): readonly EffectiveRoute[] => {
  const listFrom = (current: Route, id: RouteId, inherited: string): readonly EffectiveRoute[] => {
    const receiver = current.receiver ?? inherited;
    return [
      { id, route: current, receiver },
      ...current.routes.flatMap((child, index) => listFrom(child, `${id}/${index}`, receiver)),
    ];
  };
  return listFrom(route, rootId, '');
};

/** Returns the routes whose receiver fulfils a condition. */
export const findRoutesTo = (
  routing: AlertRouting,
  isRequested: (receiver: Receiver) => boolean,
): readonly EffectiveRoute[] => {
  const names = new Set(routing.receivers.filter(isRequested).map(({ name }) => name));
  return listRoutes(routing).filter(({ receiver }) => names.has(receiver));
};

/** What is notified: contact points, and an escalation policy that pages */
export interface NotificationTargets {
  readonly channelIds: readonly string[];
  readonly escalationPolicyId?: string | undefined;
}

const isSameTargets = (left: NotificationTargets, right: NotificationTargets): boolean =>
  left.escalationPolicyId === right.escalationPolicyId &&
  left.channelIds.length === right.channelIds.length &&
  left.channelIds.every((id) => right.channelIds.includes(id));

export const toReceiver = (name: string, { channelIds, escalationPolicyId }: NotificationTargets): Receiver => ({
  name,
  channelIds: [...channelIds],
  sendResolved: true,
  ...(escalationPolicyId === undefined ? {} : { escalationPolicyId }),
});

/** Returns a name that no receiver has: the requested one, if necessary with a number. */
export const toFreeReceiverName = ({ receivers }: AlertRouting, requestedName: string): string => {
  const isTaken = (name: string): boolean => receivers.some((receiver) => receiver.name === name);
  const base = requestedName.slice(0, 200);
  let name = base;
  for (let count = 2; isTaken(name); count++) name = `${base} ${count}`;
  return name;
};

export const createRoute = (fields: Partial<Route>): Route => ({
  matchers: [],
  continue: false,
  muteTimeIntervals: [],
  activeTimeIntervals: [],
  routes: [],
  ...fields,
});

const isForAlertName = (matchers: readonly Matcher[], alertName: string): boolean =>
  matchers.length === 1 &&
  matchers[0]?.name === 'alertname' &&
  matchers[0].operator === '=' &&
  matchers[0].value === alertName;

/** Returns the route for the alerts of one rule only, with its receiver; `undefined` if there is none. */
export const findRuleRoute = (routing: AlertRouting, alertName: string): EffectiveRoute | undefined =>
  listRoutes(routing).find(({ id, route }) => id.split('/').length === 2 && isForAlertName(route.matchers, alertName));

export const findRuleTargets = (routing: AlertRouting, alertName: string): NotificationTargets | undefined => {
  const ruleRoute = findRuleRoute(routing, alertName);
  return routing.receivers.find(({ name }) => name === ruleRoute?.receiver);
};

/** Deletes receivers that only the deleted route of a rule used. */
const deleteUnusedReceiver = (routing: AlertRouting, name: string): AlertRouting =>
  listRoutes(routing).some(({ receiver }) => receiver === name) ? routing : deleteReceiver(routing, name);

/**
 * Sends the alerts of one rule to targets of its own, by a first route that matches its name; without targets, other
 * routes decide again.
 */
export const setRuleTargets = (
  routing: AlertRouting,
  alertName: string,
  targets: NotificationTargets | undefined,
  receiverName: string,
): AlertRouting => {
  const previous = findRuleRoute(routing, alertName);
  const isEmpty = targets === undefined || (targets.channelIds.length === 0 && !targets.escalationPolicyId);
  if (isEmpty)
    return previous === undefined
      ? routing
      : deleteUnusedReceiver(deleteRoute(routing, previous.id), previous.receiver);
  const known = routing.receivers.find((receiver) => receiver.sendResolved && isSameTargets(receiver, targets));
  const receiver = known ?? toReceiver(toFreeReceiverName(routing, receiverName), targets);
  const withReceiver = known === undefined ? putReceiver(routing, receiver, undefined) : routing;
  if (previous !== undefined) {
    const route = { ...previous.route, receiver: receiver.name };
    return previous.receiver === receiver.name
      ? withReceiver
      : deleteUnusedReceiver(replaceRoute(withReceiver, previous.id, route), previous.receiver);
  }
  const route = createRoute({
    receiver: receiver.name,
    matchers: [{ name: 'alertname', operator: '=', value: alertName }],
  });
  return changeRoute(withReceiver, rootId, (root) => ({ ...root, routes: [route, ...root.routes] }));
};

/** Makes the route of a rule follow a new name of its alerts. */
export const renameRuleRoute = (routing: AlertRouting, previousName: string, alertName: string): AlertRouting => {
  const ruleRoute = findRuleRoute(routing, previousName);
  if (ruleRoute === undefined) return routing;
  const matchers: Matcher[] = [{ name: 'alertname', operator: '=', value: alertName }];
  return replaceRoute(routing, ruleRoute.id, { ...ruleRoute.route, matchers });
};

/** Adds targets to the receiver of the root route, which gets the alerts that no other route matches. */
export const addDefaultTargets = (routing: AlertRouting, targets: NotificationTargets): AlertRouting => ({
  ...routing,
  receivers: routing.receivers.map((receiver) =>
    receiver.name === routing.route.receiver
      ? {
          ...receiver,
          channelIds: [...new Set([...receiver.channelIds, ...targets.channelIds])],
          ...(targets.escalationPolicyId === undefined ? {} : { escalationPolicyId: targets.escalationPolicyId }),
        }
      : receiver,
  ),
});
