/** Variables in plain texts: titles, field names, addresses. */
import { formatted } from './formats.ts';
import { type Reference, referencesIn } from './references.ts';
import type { Scope, VariableValue } from './scope.ts';

const replaced = (text: string, scope: Scope, write: (value: VariableValue, use: Reference) => string): string => {
  let written = '';
  let from = 0;
  for (const use of referencesIn(text, scope)) {
    written += text.slice(from, use.start) + write(scope.get(use.name) as VariableValue, use);
    from = use.end;
  }
  return written + text.slice(from);
};

/** Returns a text with its variables replaced: `{a,b}` for several values, unless another format is given. */
export const inText = (text: string, scope: Scope): string =>
  replaced(text, scope, (value, { name, format }) => formatted(value, name, format));

/** Returns a title with the display titles of selected values. */
export const inTitle = (text: string, scope: Scope): string =>
  replaced(text, scope, (value, { name, format = 'text' }) => formatted(value, name, format));

/** Returns an address with escaped values, so that they cannot change its structure. */
export const inAddress = (text: string, scope: Scope): string =>
  replaced(text, scope, (value, { name, format = 'percentencode' }) =>
    ['queryparam', 'percentencode', 'uriencode'].includes(format)
      ? formatted(value, name, format)
      : encodeURIComponent(formatted(value, name, format).toWellFormed()),
  );

/** Returns a list of names; an item that is only a variable expands to each of its values. */
export const inNames = (names: readonly string[], scope: Scope): string[] => [
  ...new Set(
    names.flatMap((name) => {
      const [use] = referencesIn(name, scope);
      const isAlone = use?.start === 0 && use.end === name.length && use.format === undefined;
      return isAlone ? (scope.get(use.name) as VariableValue).values : [inText(name, scope)];
    }),
  ),
];
