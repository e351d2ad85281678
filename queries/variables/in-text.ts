/** Variables in plain texts: titles, field names, addresses. */
import { formatValue } from './formats.ts';
import { findReferences, type Reference } from './references.ts';
import type { Scope, VariableValue } from './scope.ts';

const replaceVariables = (
  text: string,
  scope: Scope,
  write: (value: VariableValue, reference: Reference) => string,
): string => {
  let result = '';
  let from = 0;
  for (const reference of findReferences(text, scope)) {
    result += text.slice(from, reference.start) + write(scope.get(reference.name) as VariableValue, reference);
    from = reference.end;
  }
  return result + text.slice(from);
};

/** Returns a text with its variables replaced: `{a,b}` for several values, unless another format is given. */
export const replaceInText = (text: string, scope: Scope): string =>
  replaceVariables(text, scope, (value, { name, format }) => formatValue(value, name, format));

/** Returns a title with the display titles of selected values. */
export const replaceInTitle = (text: string, scope: Scope): string =>
  replaceVariables(text, scope, (value, { name, format = 'text' }) => formatValue(value, name, format));

/** Returns an address with escaped values, so that they cannot change its structure. */
export const replaceInAddress = (text: string, scope: Scope): string =>
  replaceVariables(text, scope, (value, { name, format = 'percentencode' }) =>
    ['queryparam', 'percentencode', 'uriencode'].includes(format)
      ? formatValue(value, name, format)
      : encodeURIComponent(formatValue(value, name, format).toWellFormed()),
  );

/** Returns a list of names; an item that is only a variable expands to each of its values. */
export const replaceInNames = (names: readonly string[], scope: Scope): string[] => [
  ...new Set(
    names.flatMap((name) => {
      const [reference] = findReferences(name, scope);
      const isAlone = reference?.start === 0 && reference.end === name.length && reference.format === undefined;
      return isAlone ? (scope.get(reference.name) as VariableValue).values : [replaceInText(name, scope)];
    }),
  ),
];
