/** Values of variables: in the address, as they are asked, and in texts. */
import { allInAddress } from '../../frame/address.ts';
import type { Head } from './board.ts';
import type { Variable } from './calls.ts';

/** What a variable has as its value where All is chosen. */
export const allValues = '$__all';

/** The name of a variable's values in the address. */
export const addressName = (variable: Pick<Variable, 'name'>): string => `var-${variable.name}`;

/** What the address chooses, as it is asked. */
export const chosenInAddress = (variables: readonly Variable[]): Readonly<Record<string, string[]>> =>
  Object.fromEntries(
    variables.flatMap((variable) => {
      const values = allInAddress(addressName(variable));
      return values.length === 0 ? [] : [[variable.name, [...values]]];
    }),
  );

/** A text in which variables stand for what is chosen. */
export const withValues = (text: string, head: Head | undefined, repeat: Readonly<Record<string, string>>): string => {
  const selectedTextOf = (name: string): string | undefined => {
    const found = head?.variables.find((variable) => variable.name === name);
    const selected = repeat[name] === undefined ? (found?.selected ?? []) : [repeat[name]];
    if (found === undefined) return repeat[name];
    if (selected[0] === allValues) return 'All';
    return selected.map((value) => found.options.find((option) => option.value === value)?.title ?? value).join(' + ');
  };
  return text.replace(
    /\$\{(\w{1,64})(?::\w{1,16})?\}|\$(\w{1,64})|\[\[(\w{1,64})\]\]/g,
    (whole, one?: string, other?: string, third?: string) => selectedTextOf(one ?? other ?? third ?? '') ?? whole,
  );
};
