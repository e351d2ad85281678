/** The route tree: which routes a set of labels reaches, and why. */
import {
  type AlertRouting,
  type Matcher,
  parseRoutingDurationMs,
  type Route,
} from '../../../schemas/resources/alert-routing.ts';
import { type CompiledMatchers, compileMatchers, formatMatchers, type Labels } from './matchers.ts';

/** A route with all inherited settings. */
export interface CompiledRoute {
  /** Path in the tree, `0` for the root, `0/2` for its third child. */
  readonly id: string;
  /** Matchers of the route and its ancestors, in Alertmanager's format: the first part of a group's key. */
  readonly key: string;
  readonly receiver: string;
  readonly matchers: readonly Matcher[];
  readonly matching: CompiledMatchers;
  readonly canContinue: boolean;
  /** Undefined if all labels form the group. */
  readonly groupBy: readonly string[] | undefined;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly repeatIntervalMs: number;
  readonly muteTimeIntervals: readonly string[];
  readonly activeTimeIntervals: readonly string[];
  readonly routes: readonly CompiledRoute[];
}

type InheritedSettings = Pick<
  CompiledRoute,
  'receiver' | 'groupBy' | 'groupWaitMs' | 'groupIntervalMs' | 'repeatIntervalMs'
>;

const defaultSettings: InheritedSettings = {
  receiver: '',
  groupBy: [],
  groupWaitMs: 30_000,
  groupIntervalMs: 300_000,
  repeatIntervalMs: 14_400_000,
};

const parseDurationOr = (text: string | undefined, inherited: number): number =>
  text === undefined ? inherited : (parseRoutingDurationMs(text) ?? inherited);

const resolveGroupBy = (labels: readonly string[] | undefined, inherited: readonly string[] | undefined) => {
  if (labels === undefined) return inherited;
  return labels.includes('...') ? undefined : labels.toSorted();
};

const compileRoute = (route: Route, inherited: InheritedSettings, id: string, parentKey: string): CompiledRoute => {
  const settings: InheritedSettings = {
    receiver: route.receiver ?? inherited.receiver,
    groupBy: resolveGroupBy(route.groupBy, inherited.groupBy),
    groupWaitMs: parseDurationOr(route.groupWait, inherited.groupWaitMs),
    groupIntervalMs: parseDurationOr(route.groupInterval, inherited.groupIntervalMs),
    repeatIntervalMs: parseDurationOr(route.repeatInterval, inherited.repeatIntervalMs),
  };
  const key = `${parentKey}${formatMatchers(route.matchers)}`;
  return {
    ...settings,
    id,
    key,
    matchers: route.matchers,
    matching: compileMatchers(route.matchers),
    canContinue: route.continue,
    muteTimeIntervals: route.muteTimeIntervals,
    activeTimeIntervals: route.activeTimeIntervals,
    routes: route.routes.map((child, index) => compileRoute(child, settings, `${id}/${index}`, `${key}/`)),
  };
};

/** Compiles the tree of a document. */
export const compileRoutes = ({ route }: Pick<AlertRouting, 'route'>): CompiledRoute =>
  compileRoute(route, defaultSettings, '0', '');

/**
 * Returns the routes that receive an alert with these labels, in order: the matching child routes of a matching route,
 * or the route itself if no child route matches.
 */
export const findRoutes = (route: CompiledRoute, labels: Labels): CompiledRoute[] => {
  if (!route.matching.matches(labels)) return [];
  const finalRoutes: CompiledRoute[] = [];
  for (const child of route.routes) {
    const reachedRoutes = findRoutes(child, labels);
    finalRoutes.push(...reachedRoutes);
    if (reachedRoutes.length > 0 && !child.canContinue) break;
  }
  return finalRoutes.length > 0 ? finalRoutes : [route];
};

/** Result of one route for a set of labels. */
export interface RouteStep {
  readonly id: string;
  readonly receiver: string;
  readonly matchers: string;
  readonly outcome: 'reached' | 'passed on' | 'not matched' | 'not tried';
  /** Reason, as a sentence for people. */
  readonly reason: string;
}

/** Returns every evaluated route with its result, starting at the root. */
export const explainRoutes = (route: CompiledRoute, labels: Labels): RouteStep[] => {
  const step = (outcome: RouteStep['outcome'], reason: string): RouteStep => ({
    id: route.id,
    receiver: route.receiver,
    matchers: formatMatchers(route.matchers),
    outcome,
    reason,
  });
  const unmatched = route.matching.findUnmatched(labels);
  if (unmatched !== undefined) {
    const labelText = Object.hasOwn(labels, unmatched.name)
      ? `is ${JSON.stringify(labels[unmatched.name])}`
      : 'is not set';
    return [step('not matched', `${formatMatchers([unmatched])} does not hold: the label ${labelText}`)];
  }
  const childSteps: RouteStep[] = [];
  let reachedChild: CompiledRoute | undefined;
  let isStopped = false;
  for (const child of route.routes) {
    if (isStopped) {
      const reason = `the sibling route ${reachedChild?.id} matched and does not continue`;
      childSteps.push({ ...toRouteStepFields(child), outcome: 'not tried', reason });
      continue;
    }
    childSteps.push(...explainRoutes(child, labels));
    if (findRoutes(child, labels).length === 0) continue;
    reachedChild = child;
    isStopped = !child.canContinue;
  }
  if (reachedChild !== undefined)
    return [step('passed on', 'its matchers match, and so do those of a child route'), ...childSteps];
  const reason = route.matchers.length === 0 ? 'it matches every alert' : 'its matchers match';
  return [step('reached', route.routes.length === 0 ? reason : `${reason}, and no child route matches`), ...childSteps];
};

const toRouteStepFields = ({ id, receiver, matchers }: CompiledRoute) => ({
  id,
  receiver,
  matchers: formatMatchers(matchers),
});

/** Returns the labels that form an alert's group at a route. */
export const selectGroupLabels = ({ groupBy }: Pick<CompiledRoute, 'groupBy'>, labels: Labels): Labels => {
  const names = groupBy ?? Object.keys(labels).sort();
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(labels, name)).map((name) => [name, labels[name] ?? '']),
  );
};

/** Returns labels in Alertmanager's format. */
export const formatLabels = (labels: Labels): string =>
  `{${Object.keys(labels)
    .sort()
    .map((name) => `${name}=${JSON.stringify(labels[name])}`)
    .join(', ')}}`;

/**
 * Returns the key of a group. It is equal for equal labels at routes with equal matchers, regardless of other changes
 * of the document.
 */
export const createGroupKey = ({ key }: Pick<CompiledRoute, 'key'>, groupLabels: Labels): string =>
  `${key}:${formatLabels(groupLabels)}`;

/** Returns the key of the route in the key of a group. */
export const getRouteKey = (groupKey: string, groupLabels: Labels): string =>
  groupKey.slice(0, -formatLabels(groupLabels).length - 1);
