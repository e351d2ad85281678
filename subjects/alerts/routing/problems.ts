/** Validation of routing documents beyond their schema, including references to missing objects. */
import type { AlertRouting, Matcher, Route } from '../../../schemas/resources/alert-routing.ts';
import { findMatcherProblem } from './matchers.ts';

export interface RoutingProblem {
  /** Dotted path of the field, such as `route.receiver`. */
  readonly path: string;
  readonly message: string;
}

/** Maximum number of routes in a document: each is evaluated for each alert. */
const maxRoutes = 2000;

const findDuplicates = (names: readonly string[]): string[] => [
  ...new Set(names.filter((name, index) => names.indexOf(name) !== index)),
];

const findMatcherProblems = (matchers: readonly Matcher[], path: string): RoutingProblem[] =>
  matchers.flatMap((matcher, index) => {
    const message = findMatcherProblem(matcher);
    return message === undefined ? [] : [{ path: `${path}.${index}.value`, message }];
  });

const findIntervalProblems = (route: Route, path: string, intervals: ReadonlySet<string>): RoutingProblem[] =>
  (['muteTimeIntervals', 'activeTimeIntervals'] as const).flatMap((field) =>
    route[field]
      .filter((name) => !intervals.has(name))
      .map((name) => ({
        path: `${path}.${field}`,
        message: `names ${name}, which is not a defined time interval`,
      })),
  );

const findRouteProblems = (
  route: Route,
  path: string,
  definedNames: { readonly receivers: ReadonlySet<string>; readonly intervals: ReadonlySet<string> },
): RoutingProblem[] => {
  const problems = findMatcherProblems(route.matchers, `${path}.matchers`);
  if (route.receiver !== undefined && !definedNames.receivers.has(route.receiver))
    problems.push({ path: `${path}.receiver`, message: `names ${route.receiver}, which is not a defined receiver` });
  problems.push(...findIntervalProblems(route, path, definedNames.intervals));
  if (route.groupBy?.includes('...') === true && route.groupBy.length > 1)
    problems.push({ path: `${path}.groupBy`, message: 'contains ... and other labels: ... already means all labels' });
  for (const name of findDuplicates(route.groupBy ?? []))
    problems.push({ path: `${path}.groupBy`, message: `names ${name} twice` });
  for (const field of ['groupInterval', 'repeatInterval'] as const)
    if (/^[0wdhms]+$/.test(route[field] ?? 'none'))
      problems.push({ path: `${path}.${field}`, message: 'must be longer than 0' });
  return [
    ...problems,
    ...route.routes.flatMap((child, index) => findRouteProblems(child, `${path}.routes.${index}`, definedNames)),
  ];
};

const countRoutes = ({ routes }: Route): number => routes.reduce((sum, route) => sum + countRoutes(route), 1);

/** Returns all problems of a document with a valid schema, except for channels. */
export const findRoutingProblems = ({
  route,
  receivers,
  inhibitRules,
  timeIntervals,
}: AlertRouting): RoutingProblem[] => {
  const problems: RoutingProblem[] = [];
  const addProblem = (path: string, message: string): void => void problems.push({ path, message });
  if (route.receiver === undefined) addProblem('route.receiver', 'is missing: the root needs a receiver');
  if (route.matchers.length > 0) addProblem('route.matchers', 'must be empty: the root matches every alert');
  if (route.continue) addProblem('route.continue', 'must be false: the root has no sibling routes');
  for (const field of ['muteTimeIntervals', 'activeTimeIntervals'] as const)
    if (route[field].length > 0) addProblem(`route.${field}`, 'must be empty at the root: set them on child routes');
  if (countRoutes(route) > maxRoutes)
    addProblem('route', `has ${countRoutes(route)} routes; the maximum is ${maxRoutes}`);
  const names = receivers.map(({ name }) => name);
  for (const name of findDuplicates(names)) addProblem('receivers', `holds ${name} twice`);
  const intervals = timeIntervals.map(({ name }) => name);
  for (const name of findDuplicates(intervals)) addProblem('timeIntervals', `holds ${name} twice`);
  const definedNames = { receivers: new Set(names), intervals: new Set(intervals) };
  problems.push(...findRouteProblems(route, 'route', definedNames));
  for (const [index, { sourceMatchers, targetMatchers }] of inhibitRules.entries()) {
    problems.push(...findMatcherProblems(sourceMatchers, `inhibitRules.${index}.sourceMatchers`));
    problems.push(...findMatcherProblems(targetMatchers, `inhibitRules.${index}.targetMatchers`));
  }
  return problems;
};
