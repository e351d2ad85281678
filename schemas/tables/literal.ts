/** Text as SQL. With parameters (`schemas/ports/columns.ts`) it is seldom needed: statements that take none, and adapters. */

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '\0': '\\0' };

/** A string literal. NUL is escaped because statements pass through C strings. */
export const quote = (text: string): string => `'${text.replace(/[\\'\0]/g, (character) => escapes[character] ?? '')}'`;

/** SQL of the first of these attributes of a row that is there, empty for none. */
export const firstAttribute = (keys: readonly string[]): string =>
  `coalesce(${keys.map((key) => `nullIf(attributes[${quote(key)}], '')`).join(', ')}, '')`;
