/** Which variables use which, and in what order they are resolved. */
import type { Variable } from '../../schemas/dashboards/variables.ts';
import { invalid } from '../errors.ts';
import { namesUsed } from './references.ts';

/** Texts of a variable that may name others. */
const textsOf = (variable: Variable): readonly string[] => {
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

/** Names of the variables that one uses, of those that there are. */
export const usesOf = (variable: Variable, names: Pick<ReadonlySet<string>, 'has'>): readonly string[] =>
  [...new Set(textsOf(variable).flatMap(namesUsed))].filter((name) => names.has(name));

/** Those asked for and what they use, each behind what it uses. Throws a `QueryError` where they use each other in a circle. */
export const inOrderOfUse = (variables: readonly Variable[], only?: readonly string[]): readonly Variable[] => {
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  const ordered = new Set<Variable>();
  const add = (variable: Variable, path: readonly string[]): void => {
    if (ordered.has(variable)) return;
    const { name } = variable;
    if (path.includes(name))
      throw invalid(`variables.${name}`, `uses itself: ${[...path.slice(path.indexOf(name)), name].join(' → ')}`);
    for (const used of usesOf(variable, byName)) add(byName.get(used) as Variable, [...path, name]);
    ordered.add(variable);
  };
  for (const variable of variables) if (only === undefined || only.includes(variable.name)) add(variable, []);
  return [...ordered];
};
