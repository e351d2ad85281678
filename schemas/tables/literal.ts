/**
 * SQL literals. Queries use parameters instead (`schemas/ports/columns.ts`); literals are only for statements
 * without parameters and for adapters.
 */

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '\0': '\\0' };

/** Returns a string literal. NUL is escaped because statements pass through C strings. */
export const quoteString = (text: string): string =>
  `'${text.replace(/[\\'\0]/g, (character) => escapes[character] ?? '')}'`;

/** Returns the SQL expression for the first present of these attributes of a row; empty without one. */
export const buildFirstAttributeSql = (keys: readonly string[]): string =>
  `coalesce(${keys.map((key) => `nullIf(attributes[${quoteString(key)}], '')`).join(', ')}, '')`;
