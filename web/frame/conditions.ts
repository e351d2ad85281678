/** Conditions of searches, as the API reads them. */

/** A text in quotes. */
export const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** A name of a field as searches spell it. */
export const spelled = (name: string): string => (/^[A-Za-z_@$][\w.@$/-]*$/.test(name) ? name : quoted(name));

/** That a field has a value. */
export const conditionOf = (name: string, value: string): string => `${spelled(name)}:${quoted(value)}`;
