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

/** Returns a URL with variables and the time range replaced. Values are encoded. */
export const interpolateUrl = (
  url: string,
  head: DashboardContext | undefined,
  repeat: Readonly<Record<string, string>>,
): string => {
  const selectValues = (name: string): readonly string[] | undefined => {
    const selected = head?.variables.find((variable) => variable.name === name)?.selected;
    return repeat[name] === undefined ? selected : [repeat[name]];
  };
  const toParameters = (name: string): string =>
    (selectValues(name) ?? []).map((value) => `var-${name}=${encodeURIComponent(value)}`).join('&');
  const timeRange = head === undefined ? '' : `from=${encodeURIComponent(head.from)}&to=${encodeURIComponent(head.to)}`;
  return url.replace(
    /\$\{(\w{1,64})(?::(\w{1,16}))?\}|\$(\w{1,64})|\[\[(\w{1,64})\]\]/g,
    (match, braced?: string, format?: string, plain?: string, bracketed?: string) => {
      const name = braced ?? plain ?? bracketed ?? '';
      if (name === '__url_time_range') return timeRange;
      if (name === '__all_variables')
        return (head?.variables ?? []).map((variable) => toParameters(variable.name)).join('&');
      const values = selectValues(name);
      if (values === undefined) return match;
      return format === 'queryparam' ? toParameters(name) : encodeURIComponent(values.join(','));
    },
  );
};

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
