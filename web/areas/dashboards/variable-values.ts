/** Values of variables: in the URL, in requests, and in texts */
import { readAllParams } from '../../frame/address.ts';
import type { DashboardContext } from './board.ts';
import type { Variable } from './calls.ts';

/** Value of a variable if All is selected */
export const allValues = '$__all';

/** Returns the URL parameter of a variable. */
export const getUrlParameter = (variable: Pick<Variable, 'name'>): string => `var-${variable.name}`;

/** Returns the selection in the URL, in the form of requests. */
export const readSelectionFromUrl = (variables: readonly Variable[]): Readonly<Record<string, string[]>> =>
  Object.fromEntries(
    variables.flatMap((variable) => {
      const values = readAllParams(getUrlParameter(variable));
      return values.length === 0 ? [] : [[variable.name, [...values]]];
    }),
  );

/** Returns a text with variables replaced by their selected values. */
export const interpolateVariables = (
  text: string,
  head: DashboardContext | undefined,
  repeat: Readonly<Record<string, string>>,
): string => {
  const formatSelection = (name: string): string | undefined => {
    const variable = head?.variables.find((variable) => variable.name === name);
    const selectedValues = repeat[name] === undefined ? (variable?.selected ?? []) : [repeat[name]];
    if (variable === undefined) return repeat[name];
    if (selectedValues[0] === allValues) return 'All';
    return selectedValues
      .map((value) => variable.options.find((option) => option.value === value)?.title ?? value)
      .join(' + ');
  };
  return text.replace(
    /\$\{(\w{1,64})(?::\w{1,16})?\}|\$(\w{1,64})|\[\[(\w{1,64})\]\]/g,
    (match, one?: string, other?: string, third?: string) => formatSelection(one ?? other ?? third ?? '') ?? match,
  );
};
