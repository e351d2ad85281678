/** Dependencies of variables, and the order of their resolution. */
import type { Variable } from '../../schemas/dashboards/variables.ts';
import { createValidationError } from '../errors.ts';
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
export const listUsedVariables = (variable: Variable, names: Pick<ReadonlySet<string>, 'has'>): readonly string[] =>
  [...new Set(listReferencingTexts(variable).flatMap(listReferencedNames))].filter((name) => names.has(name));

/**
 * Returns the requested variables and their dependencies, each after its own dependencies. Throws a `QueryError` for
 * circular dependencies.
 */
export const sortByDependency = (
  variables: readonly Variable[],
  requestedNames?: readonly string[],
): readonly Variable[] => {
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  const sortedVariables = new Set<Variable>();
  const add = (variable: Variable, path: readonly string[]): void => {
    if (sortedVariables.has(variable)) return;
    const { name } = variable;
    if (path.includes(name))
      throw createValidationError(
        `variables.${name}`,
        `uses itself: ${[...path.slice(path.indexOf(name)), name].join(' → ')}`,
      );
    for (const usedName of listUsedVariables(variable, byName)) add(byName.get(usedName) as Variable, [...path, name]);
    sortedVariables.add(variable);
  };
  for (const variable of variables)
    if (requestedNames === undefined || requestedNames.includes(variable.name)) add(variable, []);
  return [...sortedVariables];
};
