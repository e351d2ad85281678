/** Variables in texts that are no language: titles, names of fields, addresses. */
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

/** A text with the values of its variables: `{a,b}` where there are several, unless it says another format. */
export const inText = (text: string, scope: Scope): string =>
  replaced(text, scope, (value, { name, format }) => formatted(value, name, format));

/** A title, which shows what people chose by its titles. */
export const inTitle = (text: string, scope: Scope): string =>
  replaced(text, scope, (value, { name, format = 'text' }) => formatted(value, name, format));

/** An address: values are escaped, so that they are no other part of it. */
export const inAddress = (text: string, scope: Scope): string =>
  replaced(text, scope, (value, { name, format = 'percentencode' }) =>
    ['queryparam', 'percentencode', 'uriencode'].includes(format)
      ? formatted(value, name, format)
      : encodeURIComponent(formatted(value, name, format).toWellFormed()),
  );

/** Names in a list, of which one that is no more than a variable is each of its values. */
export const inNames = (names: readonly string[], scope: Scope): string[] => [
  ...new Set(
    names.flatMap((name) => {
      const [use] = referencesIn(name, scope);
      const isAlone = use?.start === 0 && use.end === name.length && use.format === undefined;
      return isAlone ? (scope.get(use.name) as VariableValue).values : [inText(name, scope)];
    }),
  ),
];
