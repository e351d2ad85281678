/** Formats search conditions */

/** Returns a quoted string in search syntax. */
export const quote = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** Returns a field name in search syntax. */
export const quoteFieldName = (name: string): string => (/^[A-Za-z_@$][\w.@$/-]*$/.test(name) ? name : quote(name));

/** Returns the condition that a field has a value. */
export const toCondition = (name: string, value: string): string => `${quoteFieldName(name)}:${quote(value)}`;
