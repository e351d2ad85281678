/** Formats search conditions */

/** Returns a quoted text. */
export const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** Returns a field name in search syntax. */
export const spelled = (name: string): string => (/^[A-Za-z_@$][\w.@$/-]*$/.test(name) ? name : quoted(name));

/** Returns a condition that a field has a value. */
export const conditionOf = (name: string, value: string): string => `${spelled(name)}:${quoted(value)}`;
