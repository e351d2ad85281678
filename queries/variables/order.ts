/** Dependencies of variables, and the order of their resolution. */
import type { Variable } from '../../schemas/dashboards/variables.ts';
import { listReferencedNames } from './references.ts';

/** Returns the texts of a variable that may reference others. */
const listReferencingTexts = (variable: Variable): readonly string[] => {
  switch (variable.kind) {
    case 'label-values':
      return [variable.label, variable.match ?? ''];
    case 'label-names':
    case 'metric-names':
      return [variable.match ?? ''];
    case 'field-values':
      return [variable.field, variable.search ?? ''];
    case 'promql':
      return [variable.expression];
    default:
      return [];
  }
};

/** Returns the existing variables that one references. */
const listUsedVariables = (variable: Variable, names: Pick<ReadonlySet<string>, 'has'>): readonly string[] =>
  [...new Set(listReferencingTexts(variable).flatMap(listReferencedNames))].filter((name) => names.has(name));

/** Returns the names of a cycle of dependencies that begins and ends with the variable; undefined if there is none. */
const findCycle = (
  { name }: Variable,
  listDependencies: (name: string) => readonly string[],
): readonly string[] | undefined => {
  const visitedNames = new Set<string>();
  const paths: (readonly string[])[] = [[name]];
  for (const path of paths)
    for (const dependency of listDependencies(path.at(-1) as string)) {
      if (dependency === name) return [...path, name];
      if (visitedNames.has(dependency)) continue;
      visitedNames.add(dependency);
      paths.push([...path, dependency]);
    }
  return undefined;
};

/** A variable with the dependencies that are resolved before it. */
export interface OrderedVariable {
  readonly variable: Variable;
  /** Names of existing variables; none for a variable in a cycle. */
  readonly dependencies: readonly string[];
  /** Reason why the variable cannot be queried, if it depends on itself: `uses itself: a → b → a`. */
  readonly cycleProblem?: string;
}

/** Returns the requested variables and their dependencies, each after its own dependencies. */
export const sortByDependency = (
  variables: readonly Variable[],
  requestedNames?: readonly string[],
): readonly OrderedVariable[] => {
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  const dependenciesByName = new Map(variables.map((variable) => [variable.name, listUsedVariables(variable, byName)]));
  const listDependencies = (name: string): readonly string[] => dependenciesByName.get(name) ?? [];
  const orderedVariables = new Map<string, OrderedVariable>();
  const add = (variable: Variable): void => {
    const { name } = variable;
    if (orderedVariables.has(name)) return;
    const cycle = findCycle(variable, listDependencies);
    if (cycle !== undefined) {
      orderedVariables.set(name, { variable, dependencies: [], cycleProblem: `uses itself: ${cycle.join(' → ')}` });
      return;
    }
    const dependencies = listDependencies(name);
    for (const dependency of dependencies) add(byName.get(dependency) as Variable);
    orderedVariables.set(name, { variable, dependencies });
  };
  for (const variable of variables)
    if (requestedNames === undefined || requestedNames.includes(variable.name)) add(variable);
  return [...orderedVariables.values()];
};
